import Foundation
import SluiceHTTP

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// The engine of Apple's platforms, over Foundation's `URLSession`; it works on Linux too, within limits.
///
/// There is nothing to shut down: the session ends with the transport and the last transfer that uses it.
///
/// What `URLSession` does not tell or do is the same everywhere:
/// - Header fields pass through a dictionary: they have no order, and repeated ones are joined by a comma, all but
///   `Set-Cookie` of a response.
/// - A GET has no body; one with a body fails with ``SluiceError/Code/unsupported``.
/// - Of ``ConnectionOptions`` only the defaults are there, proxies being those of the system; a request with others fails with
///   ``SluiceError/Code/unsupported``. ``ConnectionOptions/hosts`` is not the transport's concern.
/// - The moment of the connection is not told. ``Timeouts/connect`` has no effect; ``Timeouts/idle`` counts from the
///   start.
///
/// Foundation on Linux has further limits:
/// - A response's body is taken from the network as fast as it comes, read or not, and is kept in memory until it is
///   read. A server that sends without end holds up all sessions of the process.
/// - A request's body that is a stream, or a form with files, is read whole, up to 64 MiB, before it is sent; send a
///   file where it may be longer.
/// - A response with trailers, or one that ends within its head, stops the process.
/// - Metrics do not tell of the connection.
/// - A request with a cookie jar fails with ``SluiceError/Code/unsupported``, and so does one with credentials for anything but Basic
///   alone.
public struct URLSessionTransport: Transport {
    private let session: Session

    /// Makes a transport that keeps nothing: no cache, no cookies, no credentials, 128 connections to a host.
    public init() {
        self.init(configuration: .transport)
    }

    /// Makes a transport with a session of its own.
    ///
    /// - Parameter configuration: Copied. Its cache, cookies and credentials are used as they are set, and its time-outs
    ///   are replaced by those of each transfer.
    public init(configuration: URLSessionConfiguration) {
        session = Session(configuration: configuration)
    }

    /// Sends a request and returns as soon as the head of the response is known.
    ///
    /// - Parameters:
    ///   - request: What to send.
    ///   - context: Time-outs and limits of this one transfer.
    /// - Returns: The head and a body that may still be arriving.
    /// - Throws: A ``SluiceError`` of the step ``SluiceError/Step/transport``.
    public func send(
        _ request: HTTPRequest,
        context: TransferContext
    ) async throws(SluiceError) -> TransportResponse {
        let started = ContinuousClock.now
        do {
            try context.connection.checkSupport(for: request.origin)
        } catch {
            throw error.with(request: request)
        }
        var message = try URLRequest(request, networkAccess: context.networkAccess)
        try await context.cookies?.prepare(within: context.timeouts.total)
        let cookies = try CookieStore.store(of: context.cookies, for: request)
        cookies?.add(to: &message)
        let body = try await UploadBody.open(request, within: context.timeouts.total)
        message.setFraming(of: body)
        let credentials = try message.setCredentials(context, for: request)
        let exchange = Exchange(
            request: request,
            message: message,
            body: body,
            context: context,
            credentials: credentials,
            session: session,
            started: started
        )
        let response = try await exchange.run().get()
        if let cookies, response.head.headers.contains(.setCookie) {
            cookies.keep(response.head, from: message.url)
            context.cookies?.noteChange()
        }
        return response
    }
}

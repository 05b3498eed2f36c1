import Foundation
import SluiceHTTP

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// A transport that uses Foundation's `URLSession`. It is made for Apple's platforms and works on Linux with
/// limitations.
///
/// The transport needs no shutdown: its session ends with it and the last transfer that uses it.
///
/// `URLSession` has these limitations on all platforms:
/// - Header fields have no order, and repeated ones are joined by a comma, except `Set-Cookie` of a response.
/// - A GET with a body fails with ``SluiceError/Code/unsupported``.
/// - Only default ``ConnectionOptions`` are supported, with the system's proxies. A request with other options fails
///   with ``SluiceError/Code/unsupported``, and the error says what to do instead. ``ConnectionOptions/hosts`` is
///   checked by the client.
/// - ``Timeouts/connect`` has no effect, since the time of connecting is not reported. ``Timeouts/idle`` counts from
///   the start.
///
/// Foundation on Linux has further limitations:
/// - A response's body is received without back-pressure and kept in memory until it is read. A server that sends
///   without end blocks all sessions of the process.
/// - A request's body from a stream, or a form with files, is read completely before it is sent, up to 64 MiB. Send a
///   file if the body may be longer.
/// - A response with trailers, or one that ends within its head, crashes the process.
/// - Metrics do not cover the connection.
/// - A request with a cookie jar fails with ``SluiceError/Code/unsupported``, as does one with credentials
///   unless Basic is their only method.
public struct URLSessionTransport: Transport {
    private let session: Session

    /// Creates a transport without cache, cookies or stored credentials, with at most 128 connections to a host.
    public init() {
        self.init(configuration: .transport)
    }

    /// Creates a transport with its own session.
    ///
    /// - Parameter configuration: The session's configuration, which is copied. Its cache, cookie and credential
    ///   settings apply. The time-outs of each transfer replace its own.
    public init(configuration: URLSessionConfiguration) {
        session = Session(configuration: configuration)
    }

    /// Sends a request and returns as soon as the head of the response is known.
    ///
    /// - Parameters:
    ///   - request: The request.
    ///   - context: The time-outs and limits of this transfer.
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
        let transfer = SessionTransfer(
            request: request,
            message: message,
            body: body,
            context: context,
            credentials: credentials,
            session: session,
            started: started
        )
        let response = try await transfer.run().get()
        if let cookies, response.head.headers.contains(.setCookie) {
            cookies.store(response.head, from: message.url)
            context.cookies?.scheduleSave()
        }
        return response
    }
}

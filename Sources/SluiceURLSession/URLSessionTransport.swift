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
///   the start. ``Timeouts/continueWait`` has no effect.
/// - ``ResponseLimits/decompressionRatio`` has no effect, since the session decompresses bodies itself.
/// - Informational responses are not reported, and a response has no trailers.
/// - The version in a response's head is always HTTP/1.1. The metrics have the real one on Apple's platforms.
///
/// On Apple's platforms, the session holds back the head and the first 512 bytes of a response without `Content-Type` or of the type
/// `text/plain`, to find out its type. A stream of such a response needs `X-Content-Type-Options: nosniff`. A response of the type
/// `multipart/x-mixed-replace` fails with ``SluiceError/Code/unsupported``, because the session removes the boundaries of its parts.
///
/// Foundation on Linux has further limitations:
/// - A response's body is received without back-pressure and kept in memory until it is read. A server that sends
///   without end blocks all sessions of the process.
/// - A request's body from a stream, or a form with files, is read completely before it is sent, up to 64 MiB. Send a
///   file if the body may be longer.
/// - A response with trailers, or one that ends within its head, crashes the process.
/// - If the server closes a kept connection just when a request with a body begins, the repeated request has no body,
///   and fails with its idle time-out.
/// - A redirect without a usable `Location` loses its body.
/// - Metrics do not cover the connection. ``TransferMetrics/bytesReceived`` counts decompressed bytes.
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
    /// - Parameter configuration: The session's configuration, which is copied. The transport does not use its cache,
    ///   cookies and stored credentials, and the time-outs of each transfer replace its own. With a background configuration, requests
    ///   fail with ``SluiceError/Code/unsupported``.
    public init(configuration: URLSessionConfiguration) {
        let own = configuration.copy() as? URLSessionConfiguration ?? configuration
        own.urlCache = nil
        own.urlCredentialStorage = nil
        own.httpCookieStorage = nil
        // A shorter one would end transfers whose own time-outs are longer.
        own.timeoutIntervalForResource = max(own.timeoutIntervalForResource, URLSessionTransport.resourceTimeout)
        session = Session(configuration: own)
    }

    /// A week, in seconds.
    private static let resourceTimeout: TimeInterval = 7 * 24 * 60 * 60

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
        #if !canImport(FoundationNetworking)
        // Such a session follows redirects itself, and raises an exception for a body in memory.
        if session.isBackground {
            let text = "A background session is not supported. Use another configuration."
            throw SluiceError(.unsupported, text).with(request: request)
        }
        #endif
        do {
            try context.connection.checkSupport(for: request.origin)
        } catch {
            throw error.with(request: request)
        }
        var message = try URLRequest(request, networkAccess: context.networkAccess)
        do {
            try await context.cookies?.prepare(within: context.timeouts.total)
        } catch {
            throw error.with(request: request)
        }
        let cookies = try CookieStore.store(of: context.cookies, for: request)
        cookies?.add(to: &message)
        let left = context.timeouts.total.map { max(.zero, $0 - started.duration(to: .now)) }
        let body = try await UploadBody.open(request, within: left)
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

// MARK: - Connection support

/// A connection option that `URLSession` would ignore.
enum UnsupportedOption: String, CaseIterable, Sendable {
    case pins = "pinned keys"
    case trust = "custom TLS trust"
    case clientCertificate = "a client certificate"
    case minimumTLSVersion = "a minimum TLS version"
    case unixSocket = "a unix-domain socket"
    case proxies = "proxies"
    case hostAddresses = "addresses for hosts"
    case httpVersion = "an HTTP version"
    case addressPolicy = "an address policy"

    /// True where `SocketTransport` exists, which supports all options.
    static var hasSocketTransport: Bool {
        #if os(Linux)
        true
        #else
        false
        #endif
    }

    /// The way to the same effect.
    ///
    /// - Parameter hasSocketTransport: True if the program can use `SocketTransport`.
    /// - Returns: A sentence.
    func advice(hasSocketTransport: Bool = UnsupportedOption.hasSocketTransport) -> String {
        if hasSocketTransport { return "Use SocketTransport." }
        return switch self {
        case .pins: "List the keys under NSAppTransportSecurity, NSPinnedDomains, in the app's Info.plist."
        case .trust:
            "Install the authority on the device, with a profile or in the keychain, or list its key under NSAppTransportSecurity, NSPinnedDomains, in the app's Info.plist."
        case .clientCertificate:
            "Send such requests by a Transport of your own on a URLSession whose delegate presents the certificate."
        case .minimumTLSVersion:
            "Pass URLSessionTransport a URLSessionConfiguration with tlsMinimumSupportedProtocolVersion."
        case .proxies: "Pass URLSessionTransport a URLSessionConfiguration with connectionProxyDictionary."
        case .httpVersion: "Leave httpVersion at .automatic: URLSession uses HTTP/2 or HTTP/3 where the server has it."
        case .unixSocket, .hostAddresses, .addressPolicy:
            "Only SocketTransport on Linux has this option. Leave it out on this platform."
        }
    }
}

extension ConnectionOptions {
    /// Rejects options that `URLSession` would ignore.
    ///
    /// - Throws: ``SluiceError/Code/unsupported``, or the errors of computing the connection plan.
    func checkSupport(for origin: HTTPOrigin) throws(SluiceError) {
        let plan = try plan(for: origin)
        guard plan !== ConnectionPlan.standard, let option = unsupportedOption(of: plan) else { return }
        throw SluiceError(.unsupported, "URLSession cannot be configured with \(option.rawValue). \(option.advice())")
    }

    private func unsupportedOption(of plan: ConnectionPlan) -> UnsupportedOption? {
        if plan.tls.pins != nil { return .pins }
        if plan.tls.trust != .system { return .trust }
        if plan.tls.clientCertificate != nil { return .clientCertificate }
        if plan.tls.minimumVersion != .tls12 { return .minimumTLSVersion }
        if plan.unixSocket != nil { return .unixSocket }
        // `URLSession` applies the system's proxy settings in place of the environment's.
        if !proxy.isProcessEnvironment { return .proxies }
        if !plan.hostAddresses.isEmpty { return .hostAddresses }
        if plan.httpVersion != .automatic { return .httpVersion }
        if plan.addresses != .any { return .addressPolicy }
        return nil
    }
}

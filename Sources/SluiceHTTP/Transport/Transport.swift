/// An engine that sends one request to its server and returns the response.
///
/// Redirects, retries, caching and validation are handled by the client. A transport checks only what it needs to send.
/// It must enforce the limits and time-outs of the context, stop the transfer when the calling task is cancelled or the
/// response's body is released unread, and read from the network no faster than the body is consumed.
public protocol Transport: Sendable {
    /// Sends a request and returns as soon as the head of the final response is known.
    ///
    /// - Parameters:
    ///   - request: The request. Its header fields and method have been checked.
    ///   - context: The time-outs and limits of this transfer.
    /// - Returns: The head and a body that may still be arriving.
    /// - Throws: A ``SluiceError`` of the step ``SluiceError/Step/transport``.
    func send(_ request: HTTPRequest, context: TransferContext) async throws(SluiceError) -> TransportResponse
}

/// A transport that can run a transfer without a task, which is most of the cost of a small request.
package protocol CallbackTransport: Transport {
    /// Starts a transfer on the calling thread and returns without waiting.
    ///
    /// - Parameters:
    ///   - request: The request. Its body must need no preparation.
    ///   - context: The time-outs and limits.
    ///   - completion: Called exactly once, on any thread, with the result or error of ``Transport/send(_:context:)``.
    ///     It must not block.
    /// - Returns: A closure that cancels the transfer; `completion` is then called with a cancellation error.
    func begin(
        _ request: HTTPRequest,
        context: TransferContext,
        completion: @escaping @Sendable (Result<TransportResponse, SluiceError>) -> Void
    ) -> @Sendable () -> Void
}

/// The response of a transport: a head, and a body that may still be arriving.
public struct TransportResponse: Sendable {
    /// The status, headers and version.
    public var head: HTTPResponse
    /// The body. Reading it drives the transfer.
    public var body: ResponseBody

    /// Creates a response.
    public init(head: HTTPResponse, body: ResponseBody) {
        self.head = head
        self.body = body
    }
}

/// The timings and byte counts of a transfer. Those of a response are of its last transfer, without gates, redirects
/// and earlier attempts.
///
/// Times are offsets from the start of the transfer in the engine. Each includes the earlier ones, except ``queued``,
/// which precedes them all.
public struct TransferMetrics: Sendable, Hashable {
    /// The time in the engine's queue before the start. The other times do not include it.
    public var queued: Duration = .zero
    /// The time until the name was resolved; zero on a reused connection.
    public var nameLookup: Duration = .zero
    /// The time until the connection to the host or proxy was established; zero on a reused connection.
    public var connect: Duration = .zero
    /// The time until the TLS handshake was complete; zero without TLS.
    public var tls: Duration = .zero
    /// The time until the first byte of the response.
    public var firstByte: Duration = .zero
    /// The time until the last byte of the response.
    public var total: Duration = .zero
    /// The number of body bytes sent.
    public var bytesSent: Int64 = 0
    /// The number of body bytes received, before decompression. `URLSessionTransport` on Linux counts them after
    /// decompression.
    public var bytesReceived: Int64 = 0
    /// The HTTP version in use.
    public var version: HTTPVersion = .http1_1
    /// The address and port of the peer, such as `127.0.0.1:8080`, if known. With a proxy, the proxy's; with a
    /// unix-domain socket, its path.
    public var remoteAddress: String?
    /// True if the connection was reused.
    public var isConnectionReused = false

    /// The request as it was sent, if ``TransferContext/recordsRequest`` asked for it and the transport knows it.
    package var sentRequest: SentRequest?

    /// Creates metrics with zero times and counts.
    public init() {}
}

/// The head of a request as a transport sent it, and the time at which the request was complete.
///
/// A class, because few transfers have one.
package final class SentRequest: Sendable, Hashable {
    /// The header fields, with those that the transport added. The authority of HTTP/2 is the field `Host`.
    package let headers: HTTPHeaders
    /// The length of the head in bytes, with the request line and the empty line; nil if it was compressed.
    package let headLength: Int?
    /// The time from the start of the transfer until the last byte was written; nil if the response ended first.
    package let end: Duration?

    package init(headers: HTTPHeaders, headLength: Int?, end: Duration?) {
        self.headers = headers
        self.headLength = headLength
        self.end = end
    }

    package static func == (one: SentRequest, other: SentRequest) -> Bool {
        one.headers == other.headers && one.headLength == other.headLength && one.end == other.end
    }

    package func hash(into hasher: inout Hasher) {
        hasher.combine(headers)
        hasher.combine(headLength)
        hasher.combine(end)
    }
}

// MARK: - Validation of requests

extension HTTPRequest {
    /// Checks the parts that a transport sends unchanged.
    package func validate() throws(SluiceError) {
        if scheme != "http" && scheme != "https" {
            throw SluiceError(
                .unsupportedScheme,
                "The scheme “\(scheme)” is not supported; use http or https.",
                request: self
            )
        }
        // An interceptor may have changed the path, so that the parts form another URL than they show.
        if path.utf8.first != UInt8(ascii: "/") || path.containsByte(where: \.isOutsidePath) {
            throw SluiceError(
                .invalidURL,
                """
                The path must begin with a slash, and must not contain spaces, control characters, a number sign or \
                characters outside ASCII. Percent-encode them.
                """,
                request: self
            )
        }
        if let problem = Authority.problem(in: authority) {
            throw SluiceError(.invalidURL, "The URL is not valid: \(problem).", request: self)
        }
        if !method.rawValue.utf8.isToken {
            throw SluiceError(
                .invalidMethod,
                "The method “\(method.rawValue.printable)” is not a valid token.",
                request: self
            )
        }
        if method == .head && !body.isNone {
            // Such a body has no meaning, and servers may reject it (RFC 9110 §9.3.2).
            throw SluiceError(.unsupported, "A HEAD request cannot have a body.", request: self)
        }
        if let field = headers.firstInvalidField {
            throw SluiceError(
                .invalidHeader,
                "The header “\(field.name.rawValue.printable)” cannot be sent: its name must be a token, and its value must not contain control characters.",
                request: self
            )
        }
    }
}

extension UInt8 {
    /// True for a byte that no path or query of a request contains (RFC 3986 §3.3, RFC 9112 §3.2).
    fileprivate var isOutsidePath: Bool { self <= 0x20 || self >= 0x7F || self == UInt8(ascii: "#") }
}

extension String {
    /// The first 64 characters with control characters replaced, for use in a one-line message.
    package var printable: String {
        String(String.UnicodeScalarView(unicodeScalars.prefix(64))).withoutControls
    }

    /// The text with question marks in place of controls, line separators and invisible characters, which could forge a
    /// line of a log or control a terminal.
    package var withoutControls: String {
        if !containsByte(where: { $0 < 0x20 || $0 >= 0x7F }) { return self }
        let scalars = unicodeScalars.map { scalar -> Unicode.Scalar in
            switch scalar.properties.generalCategory {
            case .control, .format, .lineSeparator, .paragraphSeparator: "?"
            default: scalar
            }
        }
        return String(String.UnicodeScalarView(scalars))
    }
}

// MARK: - Pooled transport

/// A transport whose connections can be inspected and prepared.
package protocol PooledTransport: Transport {
    /// The connections, and the requests that wait for one.
    var connections: ConnectionSnapshot { get }

    /// Opens connections for later requests.
    ///
    /// - Parameters:
    ///   - request: A request to the origin. It is not sent.
    ///   - count: The number of connections that are to be open. One of HTTP/2 suffices.
    ///   - context: The connection options and the connect time-out.
    /// - Returns: The number of open connections to the origin.
    /// - Throws: The error of the first attempt that failed, if no connection is open.
    func connect(to request: HTTPRequest, count: Int, context: TransferContext) async throws(SluiceError) -> Int

    /// Reads the files of TLS options again. Connections with other contents take no further requests.
    ///
    /// - Parameter options: The options.
    /// - Throws: ``SluiceError/Code/tlsFailed`` if files cannot be used. The contents in use then stay.
    func reloadCertificates(of options: ConnectionOptions) async throws(SluiceError)

    /// Closes the idle connections, and the others as soon as their requests end.
    func retireConnections()
}

/// An engine that carries one request to its server and brings back the response.
///
/// Redirects, retries, caching and validation are not its concern. It must check nothing but what it needs to send,
/// honour the limits and time-outs in the context, stop the transfer when the calling task is cancelled or when the
/// response's body is dropped unread, and read no faster from the network than the body is consumed.
public protocol Transport: Sendable {
    /// Sends a request and returns as soon as the head of the final response is known.
    ///
    /// - Parameters:
    ///   - request: What to send; its header fields and method have been checked.
    ///   - context: Time-outs and limits of this one transfer.
    /// - Returns: The head and a body that may still be arriving.
    /// - Throws: A ``SluiceError`` of the step ``SluiceError/Step/transport``.
    func send(_ request: HTTPRequest, context: TransferContext) async throws(SluiceError) -> TransportResponse
}

/// What a transport brings back: a head, and a body that may still be arriving.
public struct TransportResponse: Sendable {
    /// Status, headers and version.
    public var head: HTTPResponse
    /// The body; reading it drives the transfer on.
    public var body: ResponseBody

    /// Makes a response.
    public init(head: HTTPResponse, body: ResponseBody) {
        self.head = head
        self.body = body
    }
}

/// The time-outs and limits of one transfer.
public struct TransferContext: Sendable {
    /// Time-outs.
    public var timeouts: Timeouts
    /// Limits on what the server may send.
    public var limits: ResponseLimits
    /// Which networks may carry it, on systems that tell them apart.
    public var networkAccess: NetworkAccess
    /// Whose cookies it sends, and where it keeps those it gets; nil for none.
    public var cookies: CookieJar?
    /// What to answer a challenge of its server with; nil for nothing. They have an origin, and go to no other: a transport
    /// asks ``credentials(for:)``.
    public var credentials: ChallengeCredentials?
    /// How the server is reached: TLS, proxies, addresses.
    public var connection: ConnectionOptions
    /// Who goes first where transfers wait for each other.
    public var priority: RequestPriority
    /// Where the transport tells how far it is; nil where nobody can ask.
    public var meter: TransferMeter?
    /// Is given each informational response but 101 (RFC 9110 §15.2) as it comes, before the final one: 100, 103 (RFC 8297). The
    /// transport calls it in order, one call at a time, on a thread which it must not hold up; nil, the default, where nobody asks.
    public var onInformational: (@Sendable (HTTPResponse) -> Void)?

    /// Makes a context.
    public init(
        timeouts: Timeouts = Timeouts(),
        limits: ResponseLimits = ResponseLimits(),
        networkAccess: NetworkAccess = .all,
        cookies: CookieJar? = nil,
        credentials: ChallengeCredentials? = nil,
        connection: ConnectionOptions = ConnectionOptions(),
        priority: RequestPriority = .normal,
        meter: TransferMeter? = nil,
        onInformational: (@Sendable (HTTPResponse) -> Void)? = nil
    ) {
        self.onInformational = onInformational
        self.connection = connection
        self.priority = priority
        self.meter = meter
        self.cookies = cookies
        self.credentials = credentials
        self.timeouts = timeouts
        self.limits = limits
        self.networkAccess = networkAccess
    }
}

/// How long a transfer may take.
public struct Timeouts: Sendable, Hashable {
    /// From leaving the queue to a usable connection, TLS included; 10 seconds by default.
    public var connect: Duration?
    /// Without a byte in either direction, once connected; 60 seconds by default. Time during which the caller reads
    /// nothing does not count.
    public var idle: Duration?
    /// From the call to the last byte, time in the queue included; none by default. Where a client sends, gates, all attempts and the
    /// pauses between them are included too, and each transfer gets what is left.
    public var total: Duration?
    /// How long a body is held back for the server's word that it may come, where a request asks for that with
    /// `Expect: 100-continue`; 1 second by default. After that it is sent all the same (RFC 9110 §10.1.1).
    public var continueWait: Duration

    /// Makes time-outs; nil stands for none.
    public init(
        connect: Duration? = .seconds(10),
        idle: Duration? = .seconds(60),
        total: Duration? = nil,
        continueWait: Duration = .seconds(1)
    ) {
        self.continueWait = continueWait
        self.connect = connect
        self.idle = idle
        self.total = total
    }
}

/// How much a server may send.
public struct ResponseLimits: Sendable, Hashable {
    /// The response's head in bytes; 64 KiB by default.
    public var headers: Int
    /// The response's body in bytes after decompression, nil for no limit, which is the default of a transport.
    public var body: Int64?
    /// How many times longer a body may become by decompression, nil for no limit; 200 times by default. It is judged of what
    /// has come so far, once that is over a mebibyte: short texts of one letter may become more.
    public var decompressionRatio: Int?

    /// Makes limits.
    public init(headers: Int = 64 << 10, body: Int64? = nil, decompressionRatio: Int? = 200) {
        self.headers = headers
        self.body = body
        self.decompressionRatio = decompressionRatio
    }

    /// Whether a body that is compressed has become too long.
    package func isTooDense(_ decompressed: Int64, of compressed: Int64) -> Bool {
        guard let decompressionRatio, decompressed > 1 << 20 else { return false }
        return decompressed / Int64(max(1, decompressionRatio)) > compressed
    }
}

/// The settings of one transfer.
public struct TransferContext: Sendable {
    /// The time-outs.
    public var timeouts: Timeouts
    /// The limits on the response.
    public var limits: ResponseLimits
    /// The networks that may carry the transfer, on systems that distinguish them.
    public var networkAccess: NetworkAccess
    /// The jar that provides and stores cookies; nil for none.
    public var cookies: CookieJar?
    /// The credentials for challenges of the server; nil for none. They are restricted to one origin: a transport reads
    /// them with ``credentials(for:)``.
    public var credentials: ChallengeCredentials?
    /// The connection options: TLS, proxies, addresses.
    public var connection: ConnectionOptions
    /// The priority among waiting transfers.
    public var priority: RequestPriority
    /// The meter that the transport reports progress to; nil for none.
    public var meter: TransferMeter?
    /// Called for each informational response except 101 (RFC 9110 §15.2), such as 100 or 103 (RFC 8297), before the
    /// final response. Calls are in order and never concurrent. The closure runs on the transport's thread and must not
    /// block. Nil by default.
    public var onInformational: (@Sendable (HTTPResponse) -> Void)?
    /// True to record the request as it is sent: ``TransferMetrics/sentRequest``.
    @usableFromInline package var recordsRequest = false
    /// False if the request must not be sent again although its method is idempotent.
    @usableFromInline package var isRepeatable = true
    /// False if the body of a redirect need not be decoded, because the caller follows every ``HTTPResponse/isRedirect``.
    @usableFromInline package var decodesRedirects = true

    // Inlined, because an initializer of another module copies such a large value when it returns.
    /// Creates a context.
    @inlinable
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

extension TransferContext {
    /// Returns the credentials for challenges to a request; nil if they are for another origin, or if the request has
    /// its own `Authorization` header.
    ///
    /// - Parameter request: The request to send.
    /// - Returns: Validated credentials.
    /// - Throws: ``SluiceError/Code/invalidHeader`` for credentials that cannot be sent,
    ///   ``SluiceError/Code/unsupported`` for credentials without an origin.
    public func credentials(for request: HTTPRequest) throws(SluiceError) -> ChallengeCredentials? {
        guard let credentials, !request.headers.contains(.authorization) else { return nil }
        do throws(SluiceError) {
            guard let origin = credentials.origin else { throw SluiceError.noOrigin }
            guard origin == request.origin else { return nil }
            try credentials.validate()
        } catch {
            throw error.with(request: request)
        }
        return credentials
    }
}

extension SluiceError {
    fileprivate static var noOrigin: SluiceError {
        SluiceError(
            .unsupported,
            "The client has no base URL, so the origin of its credentials is unknown. Set the origin of the credentials."
        )
    }
}

// MARK: - Limits and priorities

/// The time-outs of a transfer.
public struct Timeouts: Sendable, Hashable {
    /// The maximum time from leaving the queue to a usable connection, including TLS; 10 seconds by default. No effect
    /// with URLSession.
    public var connect: Duration?
    /// The maximum time without a byte in either direction after the connection is established; 60 seconds by default.
    /// Time during which the caller does not read is not counted.
    public var idle: Duration?
    /// The maximum time from the call to the last byte, including time in the queue; none by default. For a client's
    /// request it also covers gates, all attempts and the pauses between them; each transfer receives the remaining
    /// time. The total of a client does not apply to its streams, nor to its downloads unless `limitsDownloadTime` is
    /// true.
    public var total: Duration?
    /// The time that a request with `Expect: 100-continue` waits for the server's 100 response before it sends the body
    /// anyway; 1 second by default (RFC 9110 §10.1.1).
    public var continueWait: Duration

    /// Creates time-outs; nil means no time-out.
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

extension Timeouts {
    /// Returns the time-outs with those that a request sets.
    package func changed(by request: HTTPRequest) -> Timeouts {
        if request.timeoutChanges.isEmpty { return self }
        var timeouts = self
        for change in request.timeoutChanges {
            switch change {
            case .total(let total): timeouts.total = total
            case .connect(let connect): timeouts.connect = connect
            case .idle(let idle): timeouts.idle = idle
            }
        }
        return timeouts
    }
}

/// The limits on the size of a response.
public struct ResponseLimits: Sendable, Hashable {
    /// The maximum size of the response's head in bytes; 64 KiB by default.
    public var headers: Int
    /// The maximum size of the response's body in bytes after decompression. Nil, the default of a transport, means no
    /// limit.
    public var body: Int64?
    /// The maximum ratio of decompressed to compressed size, nil for no limit; 200 by default. It applies to the bytes
    /// received so far, once the decompressed size exceeds 1 MiB, since short repetitive texts may exceed the ratio. For a
    /// body with two codings, it also applies to the size between them. `URLSessionTransport` does not enforce it.
    public var decompressionRatio: Int?

    /// Creates limits.
    public init(headers: Int = 64 << 10, body: Int64? = nil, decompressionRatio: Int? = 200) {
        self.headers = headers
        self.body = body
        self.decompressionRatio = decompressionRatio
    }

    /// Returns true if a body exceeds the maximum ratio of decompressed to compressed size.
    package func exceedsDecompressionRatio(_ decompressed: Int64, of compressed: Int64) -> Bool {
        guard let decompressionRatio, decompressed > 1 << 20 else { return false }
        return decompressed / Int64(max(1, decompressionRatio)) > compressed
    }
}

/// The networks that may carry a request.
///
/// Apple's platforms enforce the setting. Linux does not distinguish networks and ignores it.
public struct NetworkAccess: OptionSet, Sendable, Hashable {
    /// The set as bits.
    public let rawValue: UInt8

    /// Creates a set from bits.
    public init(rawValue: UInt8) {
        self.rawValue = rawValue
    }

    /// Cellular networks.
    public static let cellular = NetworkAccess(rawValue: 1)
    /// Networks that the system considers expensive, such as a personal hotspot.
    public static let expensive = NetworkAccess(rawValue: 2)
    /// Networks in Low Data Mode.
    public static let constrained = NetworkAccess(rawValue: 4)
    /// All networks: the default.
    public static let all: NetworkAccess = [.cellular, .expensive, .constrained]
}

/// The priority of a request among those that wait.
///
/// ```swift
/// let preview = client.image.get("films/7/preview").priority(.low)
/// ```
///
/// The priority has no effect on a request that need not wait. A waiting request does not start while another one with
/// a higher priority waits and could start. It may therefore wait for as long as such requests keep arriving.
public enum RequestPriority: Int8, Sendable, Hashable, CaseIterable, Comparable {
    /// For background work, such as prefetching and synchronization.
    case low
    /// The default.
    case normal
    /// For responses that the user is waiting for.
    case high

    /// Returns true if the left priority is lower than the right one.
    public static func < (lhs: Self, rhs: Self) -> Bool { lhs.rawValue < rhs.rawValue }
}

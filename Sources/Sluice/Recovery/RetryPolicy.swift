import SluiceHTTP

/// The policy for retries: the requests that are sent again, how often, and when.
///
/// ```swift
/// let client = APIClient(baseURL: url) { $0.retry = .standard }
/// let order = try await client.post("orders", as: Order.self).json(cart).idempotent().sender().value
/// ```
///
/// Idempotent requests are retried: GET, HEAD, OPTIONS, PUT, DELETE and TRACE (RFC 9110 §9.2.2), and requests that are sent
/// with an `Idempotency-Key`, such as that of ``IdempotencyKey``. With `SocketTransport` and stubs, other requests are
/// retried if they were not sent, because the server's name could not be resolved or no connection to it was established.
/// ``ModifiableRequest/idempotent(_:)`` overrides these rules. The body must be replayable. Every attempt passes the gates
/// and the interceptors again.
public struct RetryPolicy: Sendable {
    /// The maximum number of attempts, including the first; 3 by default. For ``none`` it is 1, and becomes 3 when another rule
    /// than `attemptTimeout` is set first.
    public var maximumAttempts: Int {
        didSet { isNone = false }
    }
    /// The time after the start of a request in which it may be retried, 60 seconds by default; nil for no limit but
    /// its total time-out. For a download it counts from the last bytes received that no earlier attempt had received.
    public var maximumElapsedTime: Duration? = .seconds(60) {
        didSet { allowRetries() }
    }
    /// The delays between attempts, unless the server requests another one; ``Backoff/exponential`` by default.
    public var backoff = Backoff.exponential {
        didSet { allowRetries() }
    }
    /// The longest `Retry-After` (RFC 9110 §10.2.3) that is accepted; 30 seconds by default. A longer one ends the
    /// request with the response. A back-off with jitter adds a random time of up to a quarter of it, and at most the
    /// ``Backoff/limit``, so that clients that were told the same time do not return all at once.
    public var maximumRetryAfter = Duration.seconds(30) {
        didSet { allowRetries() }
    }
    /// The statuses to retry; ``transientStatuses`` by default.
    public var statuses: Set<HTTPStatus> {
        get { ownStatuses ?? Self.transientStatuses }
        set {
            ownStatuses = newValue
            allowRetries()
        }
    }
    /// The error codes to retry; ``transientCodes`` by default.
    public var codes: Set<SluiceError.Code> {
        get { ownCodes ?? Self.transientCodes }
        set {
            ownCodes = newValue
            allowRetries()
        }
    }
    /// The time limit of each attempt after its gates and interceptors, connecting included, and for streams and downloads up to the head of
    /// the response; nil, the default, for no limit but the total.
    public var attemptTimeout: Duration?
    /// Returns true if an outcome should be retried; nil, the default, applies the other rules. Called for the outcome of each attempt
    /// but the last of ``maximumAttempts``, except for cancellations, responses from the cache, and requests whose body can be sent only
    /// once or whose total time is up. It is called for requests that must not be sent twice as well, but these are retried only if they
    /// were not sent.
    public var shouldRetry: (@Sendable (RetryProposal) -> Bool)? {
        didSet { if shouldRetry != nil { allowRetries() } }
    }

    /// Nil for the transient ones. Their sets need not be created for a client without retries.
    private var ownStatuses: Set<HTTPStatus>?
    private var ownCodes: Set<SluiceError.Code>?
    /// True for ``none`` until the number of attempts is set.
    private var isNone = false

    /// Creates a policy.
    ///
    /// - Parameters:
    ///   - maximumAttempts: The maximum number of attempts, including the first.
    ///   - maximumElapsedTime: The time after the start of a request in which it may be retried; nil for no limit.
    ///   - backoff: The delays between attempts.
    ///   - maximumRetryAfter: The longest `Retry-After` that is accepted.
    ///   - statuses: The statuses to retry.
    ///   - codes: The error codes to retry.
    ///   - attemptTimeout: The time limit of each attempt, without its gates and interceptors; nil for no limit.
    ///   - shouldRetry: Returns true if an outcome should be retried; nil for the other rules.
    public init(
        maximumAttempts: Int = 3,
        maximumElapsedTime: Duration? = .seconds(60),
        backoff: Backoff = .exponential,
        maximumRetryAfter: Duration = .seconds(30),
        statuses: Set<HTTPStatus> = RetryPolicy.transientStatuses,
        codes: Set<SluiceError.Code> = RetryPolicy.transientCodes,
        attemptTimeout: Duration? = nil,
        shouldRetry: (@Sendable (RetryProposal) -> Bool)? = nil
    ) {
        self.maximumAttempts = maximumAttempts
        self.maximumElapsedTime = maximumElapsedTime
        self.backoff = backoff
        self.maximumRetryAfter = maximumRetryAfter
        ownStatuses = statuses
        ownCodes = codes
        self.attemptTimeout = attemptTimeout
        self.shouldRetry = shouldRetry
    }

    private init(isNone: Bool) {
        maximumAttempts = 1
        self.isNone = isNone
    }

    /// Rules for retries have no effect without retries, so that setting one allows them.
    private mutating func allowRetries() {
        if isNone { maximumAttempts = 3 }
    }

    /// No retries.
    public static let none = RetryPolicy(isNone: true)
    /// Up to two retries within a minute, after at most half a second and one second, unless the server requests
    /// a longer or shorter delay, which is extended by up to a quarter.
    public static let standard = RetryPolicy()

    /// 408, 429, 500, 502, 503 and 504.
    public static let transientStatuses: Set<HTTPStatus> = [
        .requestTimeout, .tooManyRequests, .internalServerError, .badGateway, .serviceUnavailable, .gatewayTimeout,
    ]
    /// Failures to reach the server or to receive the whole response, and time-outs of an attempt.
    public static let transientCodes: Set<SluiceError.Code> = [
        .cannotResolveHost, .cannotConnect, .proxyFailed, .connectTimedOut, .connectionLost, .truncatedBody,
        .idleTimedOut, .timedOut,
    ]

    var isActive: Bool { maximumAttempts > 1 || attemptTimeout != nil }
}

/// The outcome of an attempt, and the decision that the policy's rules would make.
public struct RetryProposal: Sendable {
    /// The outcome of the attempt.
    public let outcome: TransportOutcome
    /// The number of the attempt, starting at 1.
    public let attempt: Int
    /// True if the policy's statuses or codes include the outcome. False for the failures of gates, and for those that
    /// another attempt would repeat.
    public let isRetried: Bool
}

/// The delays before retries.
public struct Backoff: Sendable, Hashable {
    /// The maximum delay before the first retry.
    public var base: Duration
    /// The factor by which the maximum delay grows with each further retry.
    public var factor: Double
    /// The upper limit of the delay.
    public var limit: Duration
    /// True to choose the delay at random between zero and the maximum ("full jitter"), so that clients that failed
    /// together do not retry together. A `Retry-After` then gets a random addition, too.
    public var hasJitter: Bool

    /// Creates a back-off. Negative values count as zero.
    public init(base: Duration, factor: Double = 2, limit: Duration = .seconds(30), hasJitter: Bool = true) {
        self.base = base
        self.factor = factor
        self.limit = limit
        self.hasJitter = hasJitter
    }

    /// At most half a second, doubled with each retry up to 30 seconds, with full jitter.
    public static let exponential = Backoff(base: .milliseconds(500))

    /// The same delay for each retry, without jitter.
    public static func constant(_ duration: Duration) -> Backoff {
        Backoff(base: duration, factor: 1, limit: duration, hasJitter: false)
    }

    /// Returns the delay before a retry.
    ///
    /// - Parameters:
    ///   - retry: The number of the retry, starting at 1.
    ///   - random: 64 random bits.
    /// - Returns: The delay.
    package func delay(before retry: Int, random: UInt64) -> Duration {
        let limit = max(0, limit.bounded / .seconds(1))
        var longest = max(0, base / .seconds(1))
        // The product of zero and an infinite factor is not a number.
        for _ in 1..<max(2, min(retry, 64)) where retry > 1 && longest > 0 && longest < limit {
            longest *= max(0, factor)
        }
        longest = min(longest, limit)
        guard hasJitter else { return .seconds(longest) }
        return .seconds(longest * Self.fraction(random))
    }

    /// Returns the longest time that jitter adds to a delay that the server requests.
    func spread(after requested: Duration) -> Duration {
        hasJitter ? min(max(.zero, requested) / 4, max(.zero, limit)) : .zero
    }

    /// Returns a number of at least 0 and less than 1.
    ///
    /// - Parameter random: 64 random bits.
    /// - Returns: The number.
    static func fraction(_ random: UInt64) -> Double { Double(random >> 11) / 0x1p53 }
}

// MARK: - Retry budget

/// The number of retries that a client may send, in proportion to its requests.
///
/// When a server is overloaded, every retry adds to the overload. Retries, and extra attempts of hedged requests, are
/// therefore limited to a share of the requests of the last ten seconds, plus a reserve, so that a client with few
/// requests can retry at all. When the budget is used up, a request ends with the outcome of its last attempt.
public struct RetryBudget: Sendable, Hashable {
    /// The number of retries per request; 0.2 by default.
    public var ratio: Double
    /// The number of retries per second that are always allowed; 10 by default. They are counted over ten seconds, so
    /// that ten times as many may be sent at once.
    public var reserve: Double

    /// Creates a budget.
    public init(ratio: Double = 0.2, reserve: Double = 10) {
        self.ratio = ratio
        self.reserve = reserve
    }

    /// A budget without a limit.
    public static let unlimited = RetryBudget(ratio: .infinity, reserve: .infinity)
}

/// The use of a budget in the last seconds.
struct RetryBalance {
    /// The length of the measured period, in seconds.
    static let window = 10

    private struct Second {
        var number = Int64.min
        var requests = 0
        var retries = 0
    }

    private let budget: RetryBudget
    private var seconds = [Second](repeating: Second(), count: RetryBalance.window)

    init(_ budget: RetryBudget) {
        self.budget = budget
    }

    mutating func deposit(at now: ContinuousClock.Instant) {
        count(now) { $0.requests += 1 }
    }

    /// Counts a retry. Returns false if the budget is used up.
    mutating func withdraw(at now: ContinuousClock.Instant) -> Bool {
        let first = Self.number(of: now) - Int64(Self.window)
        let recent = seconds.filter { $0.number > first }
        let requests = recent.reduce(0) { $0 + $1.requests }
        let retries = recent.reduce(0) { $0 + $1.retries }
        let allowed = Double(requests) * max(0, budget.ratio) + Double(Self.window) * max(0, budget.reserve)
        guard !(Double(retries) + 1 > allowed) else { return false }
        count(now) { $0.retries += 1 }
        return true
    }

    private mutating func count(_ now: ContinuousClock.Instant, _ change: (inout Second) -> Void) {
        let number = Self.number(of: now)
        let index = Int(number % Int64(Self.window) + Int64(Self.window)) % Self.window
        if seconds[index].number != number { seconds[index] = Second(number: number) }
        change(&seconds[index])
    }

    /// Returns the number of seconds since a fixed instant in the process.
    private static func number(of instant: ContinuousClock.Instant) -> Int64 {
        epoch.duration(to: instant).components.seconds
    }

    private static let epoch = ContinuousClock.now
}

// MARK: - Hedging policy

/// The policy by which a slow request is sent again in parallel. The first response is used, and the other attempts are
/// cancelled. After a failure, or a response with one of the ``RetryPolicy/statuses``, the other attempts continue.
///
/// Only safe methods are hedged: GET, HEAD, OPTIONS and TRACE (RFC 9110 §9.2.1). Streams, downloads, requests with a body
/// that cannot be sent again, and those marked with `idempotent(false)` are never hedged. Each extra attempt passes the
/// gates again and is taken from the client's ``RetryBudget``.
public struct HedgingPolicy: Sendable, Hashable {
    /// The time to wait for a response before each extra attempt; usually about the 95th percentile of response times. It
    /// starts when the last attempt has passed the gates and request interceptors.
    public var delay: Duration
    /// The maximum number of extra attempts; 0 for none.
    public var maximumExtra: Int

    /// No extra attempts.
    public static let none = HedgingPolicy(delay: .zero, maximumExtra: 0)

    /// Extra attempts, each after a delay.
    public static func after(_ delay: Duration, maximumExtra: Int = 1) -> HedgingPolicy {
        HedgingPolicy(delay: delay, maximumExtra: maximumExtra)
    }
}

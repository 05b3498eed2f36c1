import SluiceHTTP

/// The policy for retries: the requests that are sent again, how often, and when.
///
/// ```swift
/// let client = APIClient(baseURL: url) { $0.retry = .standard }
/// let order = try await client.codable.post("orders").json(cart).idempotent().sender().value
/// ```
///
/// Only idempotent requests are retried: GET, HEAD, OPTIONS, PUT, DELETE and TRACE (RFC 9110 §9.2.2), requests with an
/// `Idempotency-Key`, and requests marked with ``ModifiableRequest/idempotent(_:)``. Their body must be replayable.
/// Every attempt passes the gates and the interceptors again.
public struct RetryPolicy: Sendable {
    /// The maximum number of attempts, including the first.
    public var maximumAttempts: Int
    /// The time after the start of a request in which it may be retried; nil for no limit but its total time-out. For a
    /// download it counts from the last bytes received.
    public var maximumElapsedTime: Duration?
    /// The delays between attempts, unless the server requests another one.
    public var backoff: Backoff
    /// The longest `Retry-After` (RFC 9110 §10.2.3) that is accepted. A longer one ends the request with the response.
    public var longestRetryAfter: Duration
    /// The statuses to retry.
    public var statuses: Set<HTTPStatus>
    /// The error codes to retry.
    public var codes: Set<SluiceError.Code>
    /// The time limit of each attempt; nil for no limit but the total.
    public var attemptTimeout: Duration?
    /// Called to make the final decision about each outcome; nil, the default, applies the other rules.
    public var decides: (@Sendable (RetryProposal) -> Bool)?

    /// Creates a policy.
    public init(
        maximumAttempts: Int = 3,
        maximumElapsedTime: Duration? = .seconds(60),
        backoff: Backoff = .exponential,
        longestRetryAfter: Duration = .seconds(30),
        statuses: Set<HTTPStatus> = RetryPolicy.passingStatuses,
        codes: Set<SluiceError.Code> = RetryPolicy.passingCodes,
        attemptTimeout: Duration? = nil,
        decides: (@Sendable (RetryProposal) -> Bool)? = nil
    ) {
        self.maximumAttempts = maximumAttempts
        self.maximumElapsedTime = maximumElapsedTime
        self.backoff = backoff
        self.longestRetryAfter = longestRetryAfter
        self.statuses = statuses
        self.codes = codes
        self.attemptTimeout = attemptTimeout
        self.decides = decides
    }

    /// No retries.
    public static let none = RetryPolicy(maximumAttempts: 1)
    /// Up to two retries within a minute, after at most half a second and one second, unless the server requests
    /// another delay.
    public static let standard = RetryPolicy()

    /// 408, 429, 500, 502, 503 and 504.
    public static let passingStatuses: Set<HTTPStatus> = [
        .requestTimeout, .tooManyRequests, .internalServerError, .badGateway, .serviceUnavailable, .gatewayTimeout,
    ]
    /// Failures to reach the server or to receive the whole response, and time-outs of an attempt.
    public static let passingCodes: Set<SluiceError.Code> = [
        .cannotResolveHost, .cannotConnect, .connectTimedOut, .connectionLost, .truncatedBody, .idleTimedOut, .timedOut,
    ]

    var isActive: Bool { maximumAttempts > 1 || attemptTimeout != nil }
}

/// The outcome of an attempt, and the decision that the policy's rules would make.
public struct RetryProposal: Sendable {
    /// The outcome of the attempt.
    public let outcome: TransportOutcome
    /// The number of the attempt, starting at 1.
    public let attempt: Int
    /// True if the policy's statuses or codes include the outcome.
    public let isRetried: Bool
}

import SluiceHTTP

/// Which failed requests are sent again, how often, and when.
///
/// ```swift
/// let client = APIClient(baseURL: url) { $0.retry = .standard }
/// let order = try await client.codable.post("orders").json(cart).idempotent().sender().value
/// ```
///
/// Only what is idempotent is sent again: GET, HEAD, OPTIONS, PUT, DELETE and TRACE (RFC 9110 §9.2.2), a request with an
/// `Idempotency-Key`, and one that says so with ``ModifiableRequest/idempotent(_:)``; and only if its body can be. Every attempt
/// asks the gates and the interceptors anew.
public struct RetryPolicy: Sendable {
    /// How often a request is sent at most, the first time included.
    public var maximumAttempts: Int
    /// How long after its beginning a request may still be sent again; nil for as long as its total time-out allows.
    public var maximumElapsedTime: Duration?
    /// How long to wait where the server does not say.
    public var backoff: Backoff
    /// The longest `Retry-After` (RFC 9110 §10.2.3) that is waited for; a longer one ends the request with the response at hand.
    public var longestRetryAfter: Duration
    /// The statuses that may pass.
    public var statuses: Set<HTTPStatus>
    /// The failures that may pass.
    public var codes: Set<SluiceError.Code>
    /// How long each attempt may take; nil for no limit but the total.
    public var attemptTimeout: Duration?
    /// Has the last word on outcomes the rest would send again or not; nil, the default, leaves it to the rest.
    public var decides: (@Sendable (RetryProposal) -> Bool)?

    /// Makes a policy.
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

    /// Nothing is sent again.
    public static let none = RetryPolicy(maximumAttempts: 1)
    /// Up to two retries within a minute, after half a second and a second at most unless the server says otherwise.
    public static let standard = RetryPolicy()

    /// 408, 429, 500, 502, 503 and 504.
    public static let passingStatuses: Set<HTTPStatus> = [
        .requestTimeout, .tooManyRequests, .internalServerError, .badGateway, .serviceUnavailable, .gatewayTimeout,
    ]
    /// Failures to reach the server or to hear it out, and time-outs of an attempt.
    public static let passingCodes: Set<SluiceError.Code> = [
        .cannotResolveHost, .cannotConnect, .connectTimedOut, .connectionLost, .truncatedBody, .idleTimedOut, .timedOut,
    ]

    var isActive: Bool { maximumAttempts > 1 || attemptTimeout != nil }
}

/// What a policy is asked about: an outcome, and what its rules would do.
public struct RetryProposal: Sendable {
    /// What the attempt ended with.
    public let outcome: TransportOutcome
    /// Which attempt it was, from 1.
    public let attempt: Int
    /// Whether the statuses and codes of the policy are for it.
    public let isRetried: Bool
}

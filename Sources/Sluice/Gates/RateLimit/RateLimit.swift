import SluiceHTTP

/// Limits the rate of requests, with an initial burst, and pauses when the server asks for it.
///
/// ```swift
/// let client = APIClient(baseURL: url) { $0.gates = [RateLimit(10, every: .seconds(1), burst: 20)] }
/// ```
///
/// The limit is a token bucket. Each request takes a token, tokens are added at the rate, and at most `burst` tokens
/// are stored. In any span of time, the number of requests that the gate admits is at most the burst, plus the number
/// that the rate allows, plus the number of tokens that are put back in that span. Requests that wait at a later gate
/// are sent when that gate admits them, so list this one after it. Requests without a token wait in a first-in,
/// first-out queue. A cancelled request leaves the queue. A request that would wait longer than `maximumWait` fails at
/// once with ``SluiceError/Code/rateLimited``. If the queue is full, it fails with ``SluiceError/Code/queueFull``.
///
/// When a server answers 403, 429 or 503 with `Retry-After`, no requests of the same key are admitted before that time.
/// The same holds when the server says that its quota is exhausted: no requests are admitted before the quota is reset.
/// The headers are `RateLimit`, or `RateLimit-Remaining` and `-Reset` (draft-ietf-httpapi-ratelimit-headers), or
/// the same with an `X-` prefix. A request whose total time-out or ``Deadline`` ends before the pause fails at once
/// with ``SluiceError/Code/rateLimited``. After the pause, requests are sent at the rate. Tokens that would have been
/// added during the pause are missing from the burst. A limit without a rate, as
/// ``fromServer(per:maximumWaiting:maximumWait:maximumPause:named:)`` returns, sends all requests that wait.
///
/// The token of a request that certainly did not reach the server is put back. This is the case if a later gate or an
/// interceptor failed or was cancelled, or if no connection was made. A server that redirects has been reached. Clients
/// that are given the same limit share it.
public final class RateLimit: ImmediateGate {
    /// The name by which requests opt out of the gate.
    public let name: String
    private let scope: GateScope
    private let queue: TokenQueue
    private let maximumPause: Duration?

    /// Creates a limit.
    ///
    /// - Parameters:
    ///   - count: The number of requests per period, at least 1.
    ///   - period: The period. With zero, only the server's limit applies.
    ///   - burst: The number of requests that can be sent at once after a time without requests, at
    ///     least 1. Nil, the default, for `count`.
    ///   - scope: The requests that share the limit; those to one host by default.
    ///   - maximumWaiting: The number of requests of one host or key that may wait before
    ///     others fail; 1,000 by default.
    ///   - maximumWait: The longest time a request may wait; nil, the default, for no maximum.
    ///   - maximumPause: The longest pause that the server's headers can cause; an hour by default.
    ///     Nil ignores the headers.
    ///   - name: The name, `RateLimit` by default. A request that opts out of a name opts out of all gates with it.
    public init(
        _ count: Int,
        every period: Duration,
        burst: Int? = nil,
        per scope: GateScope = .host,
        maximumWaiting: Int = 1000,
        maximumWait: Duration? = nil,
        maximumPause: Duration? = .seconds(3600),
        named name: String = "RateLimit"
    ) {
        self.name = name
        self.scope = scope
        // Bounded so that adding the pause to a time does not overflow.
        self.maximumPause = maximumPause.map { min($0, RetryAfter.longest) }
        let rate = TokenBucket.Rate(count, every: period, burst: burst)
        queue = TokenQueue(name, rate, maximumWaiting: maximumWaiting, maximumWait: maximumWait)
    }

    /// Creates a limit without a rate. Requests wait only while the server asks for a pause, and are sent together after it.
    ///
    /// - Parameters:
    ///   - scope: The requests that share the server's limit; those to one host by default.
    ///   - maximumWaiting: The number of requests of one host or key that may wait before
    ///     others fail; 1,000 by default.
    ///   - maximumWait: The longest time a request may wait; nil, the default, for no maximum.
    ///   - maximumPause: The longest pause that the server's headers can cause; an hour by default.
    ///   - name: The name, `RateLimit` by default. A request that opts out of a name opts out of all gates with it.
    /// - Returns: A gate that only follows the server's limit.
    public static func fromServer(
        per scope: GateScope = .host,
        maximumWaiting: Int = 1000,
        maximumWait: Duration? = nil,
        maximumPause: Duration = .seconds(3600),
        named name: String = "RateLimit"
    ) -> RateLimit {
        RateLimit(
            1,
            every: .zero,
            per: scope,
            maximumWaiting: maximumWaiting,
            maximumWait: maximumWait,
            maximumPause: maximumPause,
            named: name
        )
    }

    /// The number of requests that wait.
    public var waiting: Int { queue.waiting }

    /// Takes a token if one is available.
    public func admitImmediately(_ request: RequestContext) -> Permit? {
        guard let key = scope.key(for: request) else { return Permit() }
        let clock = request.client.pipeline.clock
        return queue.take(key, now: clock.now) ? permit(key, request) : nil
    }

    /// Takes a token. Waits if none is available.
    public func admit(_ request: RequestContext) async throws(SluiceError) -> Permit {
        guard let key = scope.key(for: request) else { return Permit() }
        try await queue.wait(key, deadline: request.deadline, request.client.pipeline.clock)
        return permit(key, request)
    }

    private func permit(_ key: String, _ request: RequestContext) -> Permit {
        let taken = request.client.pipeline.clock.now
        return Permit(onOutcome: { [self] outcome in
            handle(outcome, key, request, taken)
            return .settled
        })
    }

    private func handle(
        _ outcome: TransportOutcome,
        _ key: String,
        _ request: RequestContext,
        _ taken: ContinuousClock.Instant
    ) {
        let clock = request.client.pipeline.clock
        switch QuotaEffect(of: outcome, on: key, of: request, in: scope, atMost: maximumPause, now: clock.date) {
        case .none: break
        case .unused: queue.putBack(key, taken: taken, clock)
        case .pause(let key, let pause): queue.pause(key, for: pause, clock)
        }
    }
}

extension SluiceError {
    /// True if the server certainly has not seen the request.
    ///
    /// A request that was cancelled during its transfer may have been seen. A request that was cancelled at a gate or
    /// in an interceptor has not been seen. The error's step tells the two apart.
    package var isBeforeSending: Bool {
        if response != nil || isAfterRedirect { return false }
        switch step {
        case .building, .gate, .requestInterceptor, .cache: return true
        case .transport: return code.isBeforeSending
        case .recovery, .responseInterceptor, .validation, .file, .serialization: return false
        }
    }
}

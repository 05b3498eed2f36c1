import SluiceHTTP

/// Keeps requests to a rate: so many in a time, with a burst at the beginning, and none while the server wants none.
///
/// ```swift
/// let client = APIClient(baseURL: url) { $0.gates = [RateLimit(10, every: .seconds(1), burst: 20)] }
/// ```
///
/// It is a token bucket: a request takes a token, tokens come at the rate, and as many as the burst are kept while nobody
/// asks for them. In any span of time there are no more requests than the burst and those the rate allows for the span.
/// Requests without a token wait, first come, first served; one that is cancelled gives up its place. Those that would have to
/// wait for longer than they may fail at once with ``SluiceError/Code/rateLimited``, and where too many wait
/// already, the next fails with ``SluiceError/Code/queueFull``.
///
/// A server that answers 429 or 503 with `Retry-After` gets no requests of the key before then, nor does one before its quota
/// is reset that says it has nothing left of it: with `RateLimit` or `RateLimit-Remaining` and `-Reset`
/// (draft-ietf-httpapi-ratelimit-headers), or the same with `X-` in front.
///
/// The token of a request that certainly never reached the server is put back: a later gate or an interceptor failed
/// it, it was cancelled there, or no connection came about. The clients that are given the same limit share it.
public final class RateLimit: ImmediateGate {
    /// By what requests opt out of it.
    public let name: String
    private let scope: GateScope
    private let line: TokenLine
    private let maximumPause: Duration?

    /// Makes a limit.
    ///
    /// - Parameters:
    ///   - count: How many requests may be sent in the time, at least 1.
    ///   - period: The time; with none there is no limit but the server's.
    ///   - burst: How many may be sent at once after a rest, at least 1; nil, the default, for as many as `count`.
    ///   - scope: What they are counted by; their host by default.
    ///   - maximumWaiting: How many of one host or key may wait before others fail; 1,000 by default.
    ///   - maximumWait: How long a request may wait; nil, the default, for as long as it takes.
    ///   - maximumPause: How long to heed what the server says of its limits at the most; an hour by default, nil to not heed
    ///     it at all.
    ///   - name: Its name, `RateLimit` by default; of two gates that share it requests opt out together.
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
        // Time and pause together are still a time.
        self.maximumPause = maximumPause.map { min($0, .seconds(1 << 31)) }
        let rate = TokenBucket.Rate(count, every: period, burst: burst)
        line = TokenLine(name, rate, maximumWaiting: maximumWaiting, maximumWait: maximumWait)
    }

    /// Makes a limit that is the server's alone: requests wait only while it wants none.
    ///
    /// - Parameters:
    ///   - scope: What the server counts them by; their host by default.
    ///   - maximumWaiting: How many of one host or key may wait before others fail; 1,000 by default.
    ///   - maximumWait: How long a request may wait; nil, the default, for as long as it takes.
    ///   - maximumPause: How long to heed the server at the most; an hour by default.
    ///   - name: Its name, `RateLimit` by default; of two gates that share it requests opt out together.
    public convenience init(
        ofServerPer scope: GateScope = .host,
        maximumWaiting: Int = 1000,
        maximumWait: Duration? = nil,
        maximumPause: Duration = .seconds(3600),
        named name: String = "RateLimit"
    ) {
        self.init(
            1,
            every: .zero,
            per: scope,
            maximumWaiting: maximumWaiting,
            maximumWait: maximumWait,
            maximumPause: maximumPause,
            named: name
        )
    }

    /// How many requests wait.
    public var waiting: Int { line.waiting }

    /// Takes a token if there is one.
    public func admitImmediately(_ request: RequestContext) -> Pass? {
        guard let key = scope.key(for: request) else { return Pass() }
        let time = request.client.pipeline.time
        return line.take(key, now: time.now) ? pass(key, time) : nil
    }

    /// Takes a token as soon as there is one.
    public func admit(_ request: RequestContext) async throws(SluiceError) -> Pass {
        guard let key = scope.key(for: request) else { return Pass() }
        let time = request.client.pipeline.time
        try await line.wait(key, time)
        return pass(key, time)
    }

    private func pass(_ key: String, _ time: any TimeSource) -> Pass {
        Pass(judging: { [self] outcome in
            settle(outcome, key, time)
            return .settled
        })
    }

    private func settle(_ outcome: TransportOutcome, _ key: String, _ time: any TimeSource) {
        switch outcome {
        case .success(let response):
            heed(response.head, time) { scope.key(key, answeredBy: response.request) }
        case .failure(let error):
            if let head = error.response {
                heed(head, time) { key }
            } else if error.isBeforeSending {
                line.putBack(key, time)
            }
        }
    }

    private func heed(_ head: HTTPResponse, _ time: any TimeSource, of key: () -> String) {
        guard let maximumPause, let pause = QuotaHeaders.pause(in: head, now: time.date) else { return }
        line.close(key(), for: min(pause, maximumPause), time)
    }
}

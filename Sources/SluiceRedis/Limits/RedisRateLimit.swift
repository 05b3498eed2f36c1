#if os(Linux)
import Sluice
import SluiceHTTP

/// Limits the rate of the requests of all machines of a fleet.
///
/// ```swift
/// let limit = RedisRateLimit(100, every: .seconds(1), on: redis, named: "payments")
/// let client = APIClient(baseURL: url) { $0.gates = [limit] }
/// ```
///
/// The limit is a token bucket on the server, with the clock of the server. In any span of time, the number of requests of all machines is
/// at most the burst plus the number that the rate allows. Machines take permits in batches: those for all requests that wait, and up to a
/// tenth of the burst ahead for the rate that they see. A permit is held for at most 100 milliseconds, and is returned if it is not used,
/// unless the bucket was full meanwhile. For these permits, up to a fifth of the burst is kept back. A batch whose reply takes long is used
/// when it arrives, so requests of several machines may be closer together by up to ``RedisServer/commandTimeout``.
///
/// Requests without a permit wait in a first-in, first-out queue on their machine. The order between machines is not defined. A request
/// that would wait longer than `maximumWait` fails with `rateLimited`, and one that finds the queue full with `queueFull`.
///
/// The limit starts with an empty bucket, also after the server has lost its data. So the loss does not exceed it, and the first request
/// waits for its share of the period. Only a total loss is noticed: a replica that becomes the primary without the last writes may give
/// permits of that time twice. The server must not evict keys: use `maxmemory-policy noeviction`.
///
/// When the upstream server asks for a pause by `Retry-After` or a quota header, as `RateLimit` describes, its machine sends no
/// requests of the same key before that time. Other machines learn it with their next batch.
///
/// If Redis does not work, the ``RedisLimitFallback`` applies until it does. A value of another type or without sense under a key of the
/// limit counts as such a failure.
public final class RedisRateLimit: ImmediateGate {
    /// The name by which requests opt out of the gate, and under which machines share it.
    public let name: String
    private let scope: GateScope
    private let redis: RedisClient
    private let keys: LimitKeys
    private let maximumPause: Duration?
    private let driver: LimitDriver<SharedBucket<Waiter<LimitOutcome>>>

    /// Creates a limit.
    ///
    /// - Parameters:
    ///   - count: The number of requests per period, at least 1.
    ///   - period: The period, at most a year.
    ///   - burst: The number of requests that can be sent at once after a pause, at least 1. Nil, the default, for `count`.
    ///   - redis: The client.
    ///   - name: The name, the same on all machines. Limits with different names are independent.
    ///   - scope: The requests that share the limit; those to one host by default.
    ///   - maximumWaiting: The number of requests of one host or key that may wait on a machine before others fail; 1,000 by default.
    ///     At least 1, because a request may have to wait for the server.
    ///   - maximumWait: The longest time a request may wait; nil, the default, for no maximum.
    ///   - maximumPause: The longest pause that headers of the upstream server can cause; an hour by default. Nil ignores the headers.
    ///   - fallback: The behavior while Redis does not work; a tenth of the limit on each machine by default.
    public init(
        _ count: Int,
        every period: Duration,
        burst: Int? = nil,
        on redis: RedisClient,
        named name: String,
        per scope: GateScope = .host,
        maximumWaiting: Int = 1000,
        maximumWait: Duration? = nil,
        maximumPause: Duration? = .seconds(3600),
        whenUnavailable fallback: RedisLimitFallback = .local(share: 0.1)
    ) {
        // Bounded so that adding a wait to a time does not overflow.
        let longest = Duration.seconds(366 * 86_400)
        let maximumPause = maximumPause.map { max(.zero, min($0, longest)) }
        let rules = BatchRules(count, every: period, burst: burst)
        let settings = SharedBucket<Waiter<LimitOutcome>>.Settings(
            rules: rules,
            maximumWaiting: max(1, maximumWaiting),
            maximumWait: maximumWait.map { min($0, longest) },
            maximumPause: maximumPause,
            fallback: fallback
        )
        let keys = LimitKeys("rate", name)
        (self.name, self.scope, self.redis, self.keys, self.maximumPause) = (name, scope, redis, keys, maximumPause)
        driver = LimitDriver(name) { now in
            SharedBucket(settings, now: now)
        } perform: { key, call throws(RedisError) in
            let longestPause = (maximumPause ?? .zero) / .microseconds(1)
            let value = try await redis.run(
                BucketScripts.take,
                keys: [keys.state(of: key), keys.since],
                arguments: [
                    call.wanted, call.returned, rules.count, rules.periodTicks, rules.capacity, rules.tick,
                    Int(longestPause), call.fullTime,
                ]
            )
            return try BucketReply(value, wanted: call.wanted)
        }
    }

    /// The number of requests of this machine that wait.
    public var waiting: Int { driver.sum(\.waiting) }
    /// The failure for which the ``RedisLimitFallback`` applies; nil while Redis works.
    public var failure: RedisError? { driver.failure }

    /// Takes a permit if this machine holds one.
    public func admitImmediately(_ request: RequestContext) -> Permit? {
        guard let key = scope.key(for: request) else { return Permit() }
        let clock = request.client.clock
        let (isAdmitted, grant) = driver.change(key, clock) { state, now in
            ((state.take(now: now), state.lastGrant), [])
        }
        return isAdmitted ? permit(key, request, grant) : nil
    }

    /// Takes a permit. Waits if none is available.
    public func admit(_ request: RequestContext) async throws(SluiceError) -> Permit {
        guard let key = scope.key(for: request) else { return Permit() }
        let grant = try await driver.wait(key, request.client.clock) { state, waiter, now in
            state.arrive(waiter, id: waiter.id, now: now)
        }
        return permit(key, request, grant)
    }

    private func permit(_ key: String, _ request: RequestContext, _ grant: Int?) -> Permit {
        Permit(onOutcome: { [self] outcome in
            handle(outcome, key, request, grant)
            return .settled
        })
    }

    private func handle(_ outcome: TransportOutcome, _ key: String, _ request: RequestContext, _ grant: Int?) {
        let clock = request.client.clock
        switch QuotaEffect(of: outcome, on: key, of: request, in: scope, atMost: maximumPause, now: clock.date) {
        case .none: break
        case .unused: driver.change(key, clock) { state, _ in (state.putBack(grant), []) }
        case .pause(let key, let pause): self.pause(key, for: pause, clock)
        }
    }

    private func pause(_ key: String, for pause: Duration, _ clock: any SluiceClock) {
        driver.update(key, clock) { state, now in state.pause(until: now + pause.bounded, now: now) }
        let microseconds = Int(pause.bounded / .microseconds(1))
        guard microseconds > 0 else { return }
        // A failure concerns only the other machines, whose own requests will be answered in the same way.
        Task { [redis, keys] in
            try? await redis.run(BucketScripts.pause, keys: [keys.state(of: key)], arguments: [microseconds])
        }
    }
}
#endif

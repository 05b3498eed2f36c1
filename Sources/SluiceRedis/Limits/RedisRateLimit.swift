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
/// at most the burst, plus the number that the rate allows, plus the number of earlier permits that are returned in that span.
///
/// Machines take permits in batches: one for each waiting request, and in advance up to a tenth of the burst, depending on their recent
/// rate. A machine holds a permit for at most 100 milliseconds. It returns an unused permit with its next call, and the permit is granted
/// again unless the bucket has been full since. To make up for the permits that machines hold, the bucket has room for up to a fifth less
/// than the burst. A batch whose reply takes long is used when it arrives, so requests of several machines may be closer together by up to
/// ``RedisServer/commandTimeout``.
///
/// Requests without a permit wait in a first-in, first-out queue on their machine. The order between machines is not defined. A request
/// that would wait longer than `maximumWait` fails with `rateLimited`, and one that finds the queue full with `queueFull`.
///
/// The bucket starts empty when Redis sees the limit for the first time, or again after a loss of its data. The loss therefore does not
/// exceed the limit, and the first request waits for the first permit: the period divided by `count`. Only a complete loss of data is
/// detected. A replica that becomes the primary without the last writes may grant the permits of these writes a second time. The server
/// must not evict keys: use `maxmemory-policy noeviction`.
///
/// When the upstream server asks for a pause by `Retry-After` or a quota header, as `RateLimit` describes, its machine sends no
/// requests of the same key before that time. Other machines learn it with their next batch. Permits are added during the pause, so a burst
/// may follow it.
///
/// While Redis is unavailable, the ``RedisLimitFallback`` applies. Redis also counts as unavailable if a key of the limit holds a value
/// that is not valid.
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
    ///   - count: The number of requests per period of each host or key, at least 1.
    ///   - period: The period, from a microsecond to 366 days. Values out of range are clamped.
    ///   - burst: The number of requests that can be sent at once after a pause, at least 1. Nil, the default, for `count`.
    ///   - redis: The client.
    ///   - name: The name, the same on all machines. Limits with different names are independent.
    ///   - scope: The requests that share the limit; those to one host by default.
    ///   - maximumWaiting: The number of requests of one host or key that may wait on a machine before others fail; 1,000 by default.
    ///     At least 1, because a request may have to wait for the server.
    ///   - maximumWait: The longest time a request may wait; nil, the default, for no maximum.
    ///   - maximumPause: The longest pause that headers of the upstream server can cause; an hour by default. Nil ignores the headers.
    ///   - fallback: The behavior while Redis is unavailable; a tenth of the limit on each machine by default.
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
                keys: [keys.state(of: key), keys.since()],
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
    /// The failure for which the ``RedisLimitFallback`` applies; nil while Redis is available.
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

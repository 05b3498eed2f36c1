#if os(Linux)
import Sluice
import SluiceHTTP

/// Limits the number of requests of all machines of a fleet that run at the same time.
///
/// ```swift
/// let limit = RedisConcurrencyLimit(64, on: redis, named: "payments")
/// let client = APIClient(baseURL: url) { $0.gates = [limit] }
/// ```
///
/// A machine holds slots under a lease, which it renews while it uses them. It asks for the slots of all waiting requests at once, and
/// returns those that it has not needed for 100 milliseconds. The slots of a machine that stopped are free after the lease. If the leases
/// of all machines have ended, the machines may have lost Redis and still use their slots. With the next call of a machine, Redis then
/// keeps these slots for another lease. While several machines wait, each gets about the same number.
///
/// Requests without a slot wait in a first-in, first-out queue on their machine. If the queue is full, a request fails with `queueFull`.
/// The slot of a stream is released when the head has arrived: the limit does not bound open streams.
///
/// Redis grants no slots for one lease after it sees the limit for the first time, or again after a loss of its data, because machines may
/// use slots that it does not know. In that time, and while Redis is unavailable, the ``RedisLimitFallback`` applies, and a machine also
/// uses the slots that it holds until their lease ends. The requests that the fallback admits count as soon as Redis is available.
///
/// Only a complete loss of data is detected. A replica that becomes the primary without the last writes may grant the slots of these writes
/// a second time, until the machines renew their leases. After an outage of more than seven leases, Redis may also grant slots that are
/// still in use. The server must not evict keys: use `maxmemory-policy noeviction`.
public final class RedisConcurrencyLimit: ImmediateGate {
    /// The name by which requests opt out of the gate, and under which machines share it.
    public let name: String
    private let scope: GateScope
    private let driver: LimitDriver<SharedSlots<Waiter<LimitOutcome>>>

    /// Creates a limit.
    ///
    /// - Parameters:
    ///   - limit: The number of requests of all machines to each host or key that may run at the same time, at least 1.
    ///   - redis: The client.
    ///   - name: The name, the same on all machines. Limits with different names are independent.
    ///   - scope: The requests that share the limit; those to one host by default.
    ///   - maximumWaiting: The number of requests of one host or key that may wait on a machine before others fail; 10,000 by default.
    ///     At least 1, because a request may have to wait for the server.
    ///   - lease: The time after which the slots of a machine that stopped are free, at least one second; 10 seconds by default. The same
    ///     on all machines.
    ///   - fallback: The behavior while Redis is unavailable; a tenth of the limit on each machine by default.
    public init(
        _ limit: Int,
        on redis: RedisClient,
        named name: String,
        per scope: GateScope = .host,
        maximumWaiting: Int = 10_000,
        lease: Duration = .seconds(10),
        whenUnavailable fallback: RedisLimitFallback = .local(share: 0.1)
    ) {
        let lease = min(max(.seconds(1), lease), .seconds(86_400))
        let settings = SharedSlots<Waiter<LimitOutcome>>.Settings(
            limit: min(max(1, limit), 1_000_000_000),
            maximumWaiting: max(1, maximumWaiting),
            lease: lease,
            fallback: fallback
        )
        let keys = LimitKeys("slots", name)
        let machine = HexText.text(of: (0..<16).map { _ in UInt8.random(in: .min ... .max) }[...])
        // Of all keys, so that the numbers of a key whose state was dropped and created again grow, too.
        let calls = Locked(0)
        (self.name, self.scope) = (name, scope)
        driver = LimitDriver(name) { now in
            SharedSlots(settings, now: now)
        } perform: { key, call throws(RedisError) in
            let number = calls.withLock { count in
                count += 1
                return count
            }
            let value = try await redis.run(
                SlotScripts.set,
                keys: [keys.state(of: key), keys.since()],
                arguments: [
                    machine, call.wanted, call.usable, settings.limit, Int(lease / .milliseconds(1)), call.running,
                    number,
                ]
            )
            return try SlotsReply(value, wanted: call.wanted, running: call.running, lease: lease)
        }
    }

    /// The number of requests of this machine that hold a slot.
    public var running: Int { driver.sum(\.running) }
    /// The number of requests of this machine that wait for a slot.
    public var waiting: Int { driver.sum(\.waiting) }
    /// The failure for which the ``RedisLimitFallback`` applies; nil while Redis is available.
    public var failure: RedisError? { driver.failure }

    /// Takes a slot if this machine holds a free one.
    public func admitImmediately(_ request: RequestContext) -> Permit? {
        guard let key = scope.key(for: request) else { return Permit() }
        let clock = request.client.clock
        let isAdmitted = driver.change(key, clock) { state, now in (state.take(now: now), []) }
        return isAdmitted ? permit(key, clock) : nil
    }

    /// Takes a slot. Waits if none is free.
    public func admit(_ request: RequestContext) async throws(SluiceError) -> Permit {
        guard let key = scope.key(for: request) else { return Permit() }
        let clock = request.client.clock
        try await driver.wait(key, clock) { state, waiter, now in state.arrive(waiter, id: waiter.id, now: now) }
        return permit(key, clock)
    }

    private func permit(_ key: String, _ clock: any SluiceClock) -> Permit {
        Permit(onOutcome: { [driver] _ in
            driver.update(key, clock) { state, now in state.release(now: now) }
            return .settled
        })
    }
}
#endif

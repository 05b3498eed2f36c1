#if os(Linux)
import Sluice
import SluiceHTTP

/// A circuit breaker that opens when that of another machine of a fleet has opened.
///
/// ```swift
/// let breaker = RedisCircuitBreaker(CircuitBreaker(), on: redis, named: "shop")
/// let client = APIClient(baseURL: url) { $0.gates = [breaker] }
/// ```
///
/// Each machine counts its own requests. When its circuit opens, it tells the server, for as long as the circuit stays open. The other
/// machines look at most four times a second for each host or key, while they send requests, and open their circuits for the rest of that
/// time. Then each machine sends trials of its own. No request waits for Redis. While Redis does not work, each breaker works alone.
public final class RedisCircuitBreaker: ImmediateGate {
    private typealias Instant = ContinuousClock.Instant

    /// The time between two looks at a key.
    static let interval = Duration.milliseconds(250)

    private let breaker: CircuitBreaker
    private let redis: RedisClient
    private let keys: LimitKeys
    /// The time of the last look at each key.
    private let looks = Locked<[String: Instant]>([:])

    /// The name of the breaker, by which requests opt out of the gate.
    public var name: String { breaker.name }

    /// Creates a breaker.
    ///
    /// - Parameters:
    ///   - breaker: The breaker of this machine. It is the gate of no client itself.
    ///   - redis: The client.
    ///   - name: The name under which machines share the state, the same on all machines.
    public init(_ breaker: CircuitBreaker, on redis: RedisClient, named name: String) {
        let keys = LimitKeys("circuit", name)
        (self.breaker, self.redis, self.keys) = (breaker, redis, keys)
        breaker.observe { change, now in
            guard let command = Self.command(for: change.state, keys.state(of: change.key), now: now) else { return }
            // Without it, the other machines find out by their own requests.
            Task { _ = try? await redis.send(command) }
        }
    }

    /// Admits a request unless the circuit is open, or half-open with all its trials running.
    public func admitImmediately(_ request: RequestContext) -> Permit? {
        look(for: request)
        return breaker.admitImmediately(request)
    }

    /// Admits a request or fails it at once. Never waits.
    public func admit(_ request: RequestContext) async throws(SluiceError) -> Permit {
        look(for: request)
        return try await breaker.admit(request)
    }

    /// Returns the command that tells other machines about a change; nil for none.
    static func command(for state: CircuitBreaker.State, _ key: String, now: ContinuousClock.Instant) -> RedisCommand? {
        switch state {
        case .open(let end):
            let milliseconds = Int((end - now) / .milliseconds(1))
            return milliseconds > 0 ? RedisCommand("SET", key, "open", "PX", milliseconds, isIdempotent: true) : nil
        case .closed: return RedisCommand("DEL", key, isIdempotent: true)
        case .halfOpen: return nil
        }
    }

    /// Reads the state of other machines, if the last look was some time ago. The request does not wait for it.
    private func look(for request: RequestContext) {
        guard let key = breaker.key(for: request) else { return }
        let clock = request.client.clock
        let now = clock.now
        let isDue = looks.withLock { looks in
            if let last = looks[key], now - last < Self.interval { return false }
            // Keys without requests are dropped.
            if looks.count >= 1024 { looks = looks.filter { now - $0.value < Self.interval } }
            looks[key] = now
            return true
        }
        guard isDue else { return }
        Task { [breaker, redis, keys] in
            let command = RedisCommand("PTTL", keys.state(of: key), isIdempotent: true)
            guard let left = try? await redis.send(command).int, left > 0 else { return }
            breaker.open(key, for: .milliseconds(left), now: clock.now)
        }
    }
}
#endif

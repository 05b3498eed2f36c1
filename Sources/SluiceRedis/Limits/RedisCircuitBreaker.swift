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
/// time. Then each machine sends trials of its own. No request waits for Redis. While Redis is unavailable, each breaker works alone.
///
/// A machine's own trials count more than what others say. While they run, and for the longest time for which its breaker opens, a minute
/// by default, after they have succeeded, its circuit does not open for another machine. So a machine that alone cannot reach the server
/// does not keep the circuits of the others open.
public final class RedisCircuitBreaker: ImmediateGate {
    /// The times of the last looks at each key.
    struct Looks: Sendable {
        /// The time between two looks at a key.
        static let interval = Duration.milliseconds(250)

        private var times: [String: ContinuousClock.Instant] = [:]
        private var sweepCount = 1024

        /// Begins a look at a key, unless the last one was a short time ago. When the number of keys has doubled since the last time, drops
        /// those without requests.
        mutating func begin(_ key: String, now: ContinuousClock.Instant) -> Bool {
            if let last = times[key], now - last < Self.interval { return false }
            if times.count >= sweepCount {
                times = times.filter { now - $0.value < Self.interval }
                sweepCount = max(1024, times.count * 2)
            }
            times[key] = now
            return true
        }
    }

    private let breaker: CircuitBreaker
    private let redis: RedisClient
    private let keys: LimitKeys
    private let looks = Locked(Looks())

    /// The name of this machine's breaker, by which requests opt out of the gate. Machines share the state under another name.
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
        let machine = HexText.text(of: (0..<8).map { _ in UInt8.random(in: .min ... .max) }[...])
        breaker.observe { change, now in
            guard let milliseconds = Self.announcement(of: change.state, now: now) else { return }
            // Without it, the other machines find out by their own requests.
            Task {
                let key = try keys.state(of: change.key)
                _ = try await redis.run(Self.announce, keys: [key], arguments: [milliseconds, machine])
            }
        }
    }

    /// Admits a request unless the circuit is open, or half-open with all its trials begun recently.
    public func admitImmediately(_ request: RequestContext) -> Permit? {
        look(for: request)
        return breaker.admitImmediately(request)
    }

    /// Admits a request or fails it at once. Never waits.
    public func admit(_ request: RequestContext) async throws(SluiceError) -> Permit {
        look(for: request)
        return try await breaker.admit(request)
    }

    /// Returns the milliseconds for which other machines are told that a circuit is open: 0 for a closed one; nil to tell them nothing.
    static func announcement(of state: CircuitBreaker.State, now: ContinuousClock.Instant) -> Int? {
        switch state {
        case .open(let end):
            let milliseconds = Int((end - now) / .milliseconds(1))
            return milliseconds > 0 ? milliseconds : nil
        case .closed: return 0
        case .halfOpen: return nil
        }
    }

    /// Tells other machines about a circuit. The announcement of a machine whose circuit stays open for longer is kept. The key is that of
    /// the circuit. The arguments are its ``announcement(of:now:)`` and the machine.
    static let announce = RedisScript(
        """
        if ARGV[1] == '0' then
            if redis.call('GET', KEYS[1]) == ARGV[2] then redis.call('DEL', KEYS[1]) end
        elseif redis.call('PTTL', KEYS[1]) < tonumber(ARGV[1]) then
            redis.call('SET', KEYS[1], ARGV[2], 'PX', ARGV[1])
        end
        return 1
        """,
        isIdempotent: true
    )

    /// Reads the state of other machines, if the last look was some time ago. The request does not wait for it.
    private func look(for request: RequestContext) {
        guard let key = breaker.key(for: request) else { return }
        let clock = request.client.clock
        guard looks.withLock({ $0.begin(key, now: clock.now) }) else { return }
        Task { [breaker, redis, keys] in
            let command = RedisCommand("PTTL", try keys.state(of: key), isIdempotent: true)
            guard let left = try await redis.send(command).int, left > 0 else { return }
            breaker.open(key, for: .milliseconds(left), now: clock.now)
        }
    }
}
#endif

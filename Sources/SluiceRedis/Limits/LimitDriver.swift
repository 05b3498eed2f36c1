#if os(Linux)
import Sluice
import SluiceHTTP

/// The behavior of a limit of a fleet while Redis is unavailable.
public enum RedisLimitFallback: Sendable, Hashable {
    /// Each machine has a limit of its own, at a share of that of the fleet: 0.1 for a tenth. At least one request is allowed.
    case local(share: Double)
    /// Requests are admitted without a limit.
    case allow
    /// Requests fail with `rateLimited`.
    case refuse
}

/// The reason for which a waiter is not admitted.
enum LimitRefusal: Equatable, Sendable {
    /// The wait would exceed the maximum.
    case tooLong(Duration)
    /// Redis is unavailable, or does not yet know the slots in use.
    case unavailable
}

/// The result of adding a request to a limit.
enum LimitArrival: Equatable, Sendable {
    case admitted
    case waiting
    /// The queue of the key is full.
    case full(waiting: Int)
    case refused(LimitRefusal)
}

/// A waiter that leaves the queue: admitted, or with the reason for its refusal.
struct ReleasedWaiter<Waiting: Sendable>: Sendable {
    let waiter: Waiting
    var refusal: LimitRefusal?
    /// The ``LimitState/lastGrant`` of its permit.
    var grant: Int?
}

/// The end of a wait for a limit.
enum LimitOutcome: Sendable {
    /// The request is admitted, with the ``LimitState/lastGrant`` of its permit.
    case admitted(grant: Int?)
    case refused(SluiceError)
}

/// The state of a limit for one key: a value that decides on calls to the server, of which one runs at a time.
protocol LimitState: Sendable {
    typealias Instant = ContinuousClock.Instant
    associatedtype Waiting: Sendable
    associatedtype Call: Sendable
    associatedtype Reply: Sendable

    /// Starts the call that is due, if none is running.
    mutating func nextCall(now: Instant) -> Call?
    /// Handles the end of a call; without a reply, the server is unavailable.
    mutating func finished(_ call: Call, _ reply: Reply?, sentAt: Instant, now: Instant) -> [ReleasedWaiter<Waiting>]
    /// Releases the waiters that are due.
    mutating func wake(now: Instant) -> [ReleasedWaiter<Waiting>]
    /// The time at which ``wake(now:)`` or ``nextCall(now:)`` has something to do; nil if that depends on other events.
    func nextWake(now: Instant) -> Instant?
    /// Removes a waiter. Returns nil if it has already been released.
    mutating func leave(id: Int) -> Waiting?
    /// A number that belongs to the permit that was taken last; nil for none.
    var lastGrant: Int? { get }
    /// True if the state equals a new one.
    func isIdle(now: Instant) -> Bool
}

extension LimitState {
    /// Nil: permits have no numbers.
    var lastGrant: Int? { nil }
}

/// Runs the calls and timers of the states of a gate, and resumes its waiters. No task runs while all states are idle.
final class LimitDriver<State: LimitState>: Sendable where State.Waiting == Waiter<LimitOutcome> {
    typealias Instant = ContinuousClock.Instant
    typealias Released = [ReleasedWaiter<State.Waiting>]

    private struct Timer {
        let due: Instant
        let id: Int
        let task: Task<Void, Never>
    }

    private struct Entry {
        var state: State
        var timer: Timer?
    }

    private struct Content {
        var entries: [String: Entry] = [:]
        var lastTimer = 0
        var sweepCount = 1024
        var failure: RedisError?
    }

    private let gate: String
    private let makeState: @Sendable (Instant) -> State
    private let perform: @Sendable (String, State.Call) async throws(RedisError) -> State.Reply
    private let content = Locked(Content())

    /// Creates a driver.
    ///
    /// - Parameters:
    ///   - gate: The name of the gate, for errors.
    ///   - makeState: Returns the state of a key that is used first.
    ///   - perform: Calls the server for a key.
    init(
        _ gate: String,
        makeState: @escaping @Sendable (Instant) -> State,
        perform: @escaping @Sendable (String, State.Call) async throws(RedisError) -> State.Reply
    ) {
        self.gate = gate
        self.makeState = makeState
        self.perform = perform
    }

    /// The failure of the last call; nil if it succeeded.
    var failure: RedisError? { content.withLock { $0.failure } }

    /// Returns the sum of a number over all keys.
    func sum(_ number: (State) -> Int) -> Int {
        content.withLock { content in content.entries.values.reduce(0) { $0 + number($1.state) } }
    }

    /// Waits until a request is admitted. Returns the ``LimitState/lastGrant`` of its permit.
    @discardableResult
    func wait(
        _ key: String,
        _ clock: any SluiceClock,
        arrive: (inout State, Waiter<LimitOutcome>, Instant) -> LimitArrival
    ) async throws(SluiceError) -> Int? {
        let outcome = await content.wait(cancelled: LimitOutcome.refused(.cancelled)) { waiter in
            let (arrival, grant) = change(key, clock) { state, now -> ((LimitArrival?, Int?), Released) in
                if Task.isCancelled { return ((nil, nil), []) }
                let arrival = arrive(&state, waiter, now)
                return ((arrival, state.lastGrant), [])
            }
            switch arrival {
            case .admitted: waiter.resume(returning: .admitted(grant: grant))
            case .waiting: break
            case .full(let waiting): waiter.resume(returning: .refused(.queueFull(at: gate, waiting: waiting)))
            case .refused(let refusal): waiter.resume(returning: .refused(error(refusal)))
            case nil: waiter.resume(returning: .refused(.cancelled))
            }
        } leave: { id in
            change(key, clock) { state, _ in (state.leave(id: id), []) }
        }
        switch outcome {
        case .admitted(let grant): return grant
        case .refused(let error): throw error
        }
    }

    /// Changes a state, and starts its next call and timer.
    ///
    /// - Parameters:
    ///   - key: The key.
    ///   - clock: The clock of the timer.
    ///   - body: Changes the state. Returns a result, and the waiters to resume.
    /// - Returns: The result.
    func change<Result: Sendable>(
        _ key: String,
        _ clock: any SluiceClock,
        _ body: (inout State, Instant) -> (Result, Released)
    ) -> Result {
        let now = clock.now
        let (result, released, call, stale) = content.withLock { content in
            let index = index(of: key, &content, now: now)
            let (result, released) = body(&content.entries.values[index].state, now)
            let call = content.entries.values[index].state.nextCall(now: now)
            return (result, released, call, resetTimer(index, key, &content, clock, now: now))
        }
        // Outside of the lock, because cancelling can resume the sleeping task on this thread.
        stale?.cancel()
        for waiter in released {
            let outcome = waiter.refusal.map { LimitOutcome.refused(error($0)) } ?? .admitted(grant: waiter.grant)
            waiter.waiter.resume(returning: outcome)
        }
        if let call { start(call, key, clock) }
        return result
    }

    func update(_ key: String, _ clock: any SluiceClock, _ body: (inout State, Instant) -> Released) {
        change(key, clock) { state, now in ((), body(&state, now)) }
    }

    private func start(_ call: State.Call, _ key: String, _ clock: any SluiceClock) {
        Task { [self] in
            let sentAt = clock.now
            var reply: State.Reply?
            var failure: RedisError?
            do throws(RedisError) { reply = try await perform(key, call) } catch { failure = error }
            content.withLock { [failure] in $0.failure = failure }
            update(key, clock) { [reply] state, now in state.finished(call, reply, sentAt: sentAt, now: now) }
        }
    }

    /// Starts a timer if something is due before the current timer fires. Returns the task that is no longer needed.
    private func resetTimer(
        _ index: Dictionary<String, Entry>.Index,
        _ key: String,
        _ content: inout Content,
        _ clock: any SluiceClock,
        now: Instant
    ) -> Task<Void, Never>? {
        guard let due = content.entries.values[index].state.nextWake(now: now) else {
            return content.entries.values[index].timer.take()?.task
        }
        if let timer = content.entries.values[index].timer, timer.due <= due { return nil }
        let stale = content.entries.values[index].timer?.task
        content.lastTimer += 1
        let id = content.lastTimer
        let task = Task { [self] in
            do { try await clock.sleep(for: due - clock.now) } catch { return }
            fire(id, key, clock)
        }
        content.entries.values[index].timer = Timer(due: due, id: id, task: task)
        return stale
    }

    private func fire(_ id: Int, _ key: String, _ clock: any SluiceClock) {
        content.withLock { content in
            if content.entries[key]?.timer?.id == id { content.entries[key]?.timer = nil }
        }
        update(key, clock) { state, now in state.wake(now: now) }
    }

    /// Returns the place of a key, which is added if necessary. When the number of keys has doubled since the last time, removes the idle
    /// ones.
    private func index(of key: String, _ content: inout Content, now: Instant) -> Dictionary<String, Entry>.Index {
        while true {
            if let index = content.entries.index(forKey: key) { return index }
            if content.entries.count >= content.sweepCount {
                content.entries = content.entries.filter { $0.value.timer != nil || !$0.value.state.isIdle(now: now) }
                content.sweepCount = max(1024, content.entries.count * 2)
            }
            content.entries[key] = Entry(state: makeState(now))
        }
    }

    private func error(_ refusal: LimitRefusal) -> SluiceError {
        switch refusal {
        case .tooLong(let wait):
            let text =
                "The request would wait about \(wait.textRoundedUp) at the \(gate), which is longer than its maximumWait."
            return .refused(.rateLimited, by: gate, after: wait, text)
        case .unavailable:
            return .refused(
                .rateLimited,
                by: gate,
                "The \(gate) cannot admit the request now: Redis is unavailable, or does not yet know the slots in use."
            )
        }
    }
}

/// The names of the keys of a limit. They share a hash tag, so that a cluster keeps them on one node, and show no keys of requests.
struct LimitKeys: Sendable {
    private let kind: String
    private let name: String

    init(_ kind: String, _ name: String) {
        (self.kind, self.name) = (kind, name)
    }

    /// Returns the key of the state of a gate's key.
    ///
    /// - Throws: An error if the system's library for cryptography cannot be used. Other names would belong to other limits.
    func state(of key: String) throws(RedisError) -> String { try prefix() + Self.digits(of: key) }

    /// Returns the key of the time at which the server has got its first request, or the first one after a loss of its data.
    func since() throws(RedisError) -> String { try prefix() + "since" }

    private func prefix() throws(RedisError) -> String { "sluice:\(kind):{\(try Self.digits(of: name))}:" }

    private static func digits(of name: String) throws(RedisError) -> String {
        guard let digest = SystemSHA256.digest(of: Array(name.utf8)) else {
            throw RedisError(.unavailable, "A limit needs SHA-256, which the system's libcrypto does not provide.")
        }
        return HexText.text(of: digest.prefix(16))
    }
}

// MARK: - Batch rules

/// The numbers of a rate limit that machines share, and the sizes of the batches in which they take permits.
///
/// A machine holds permits for at most ``hold``, so that it need not ask for each one. Permits that are handed out in a span may so be used
/// in a span that is shorter by that time. The bucket on the server therefore holds fewer permits than the burst, by those of that time. In
/// any span, the number of requests of all machines is at most the burst, plus the number that the rate allows, plus the number of earlier
/// permits that are returned in that span.
struct BatchRules: Sendable, Equatable {
    /// The number of permits per period.
    let count: Int
    let period: Duration
    let burst: Int
    /// The time between two permits.
    let interval: Duration
    /// The time for which a machine holds permits; zero if it takes only those that it needs at once.
    let hold: Duration
    /// The number of permits in a full bucket on the server.
    let capacity: Int
    /// The number of permits that a machine takes ahead at most.
    let maximumAhead: Int
    /// The unit of time on the server in microseconds, in which the numbers of the script are exact.
    let tick: Int
    /// The period in that unit, rounded up.
    let periodTicks: Int

    private static let longestHold = Duration.milliseconds(100)

    /// Creates rules. Values out of range are clamped.
    init(_ count: Int, every period: Duration, burst: Int? = nil) {
        let period = min(max(.microseconds(1), period), .seconds(366 * 86_400))
        let count = min(max(1, count), 1_000_000_000)
        let burst = min(max(1, burst ?? count), 1_000_000_000)
        (self.count, self.period, self.burst) = (count, period, burst)
        interval = period / count
        let hold = burst < 5 ? .zero : min(Self.longestHold, interval * burst / 5)
        let reserve = Int((hold / interval).rounded(.up))
        self.hold = hold
        capacity = burst - reserve
        maximumAhead = min(reserve, capacity / 10)
        // Products of a capacity or a count and a period stay below 2^53.
        let microseconds = (period / .microseconds(1)).rounded(.up)
        let product = microseconds * Double(max(capacity, count))
        let tick = max(1, (product / 0x1p52).rounded(.up))
        self.tick = Int(tick)
        periodTicks = max(1, Int((microseconds / tick).rounded(.up)))
    }

    /// The number of permits to take ahead: those of half the time for which they are held.
    func ahead(_ rate: Double) -> Int {
        Int(min(Double(maximumAhead), max(0, rate * (hold / .seconds(1)) / 2)))
    }
}

/// The rate at which requests arrive at one machine.
struct DemandMeter: Sendable {
    private var arrivals = 0
    private var start: ContinuousClock.Instant
    /// The arrivals per second, with half the weight for the last span.
    private(set) var rate = 0.0

    init(now: ContinuousClock.Instant) {
        start = now
    }

    mutating func count() {
        arrivals += 1
    }

    /// Ends a span, unless it is too short to tell a rate.
    mutating func measure(now: ContinuousClock.Instant) {
        let span = now - start
        guard span >= .milliseconds(10) else { return }
        rate = (rate + Double(arrivals) / (span / .seconds(1))) / 2
        (arrivals, start) = (0, now)
    }
}
#endif

#if os(Linux)
import SluiceHTTP
import Synchronization

/// A lock over the state of a connection that the loop never waits for.
///
/// If the lock is held, the loop skips the connection, and the holder gives it another turn. A cancelled caller does not wait for the lock
/// either: the next turn resets its request.
struct ConnectionLock<State>: ~Copyable, Sendable {
    /// Marks a missed turn without events. The bit is not an event of epoll.
    private static var turnMissed: UInt32 { 1 << 24 }

    private let state: Locked<State>
    /// The events of turns that were missed while the lock was held, or 0 for none.
    private let missedEvents = Atomic<UInt32>(0)
    /// Requests whose callers have left.
    private let abandoned = Locked<[Call]>([])
    private let hasAbandoned = Atomic(false)
    /// The time for which the timer is set or about to be set, in nanoseconds.
    private let timer = Atomic(MonotonicTime.distantFuture.nanoseconds)

    init(_ state: State) {
        self.state = Locked(unchecked: state)
    }

    /// Calls `body` with the lock held. Call ``takeMissedEvents()`` afterwards.
    func withLock<Value>(_ body: (inout State) -> Value) -> Value {
        state.withLockUnchecked(body)
    }

    /// Runs one turn on the loop, unless the lock is held.
    ///
    /// - Parameters:
    ///   - events: The events of this turn.
    ///   - body: The turn. Its events include those of missed turns.
    /// - Returns: False if the lock is held. The holder then gives the connection another turn.
    func withLockIfAvailable(_ events: UInt32, _ body: (inout State, UInt32) -> Void) -> Bool {
        if state.withLockIfAvailable({ body(&$0, events) }) != nil { return true }
        missedEvents.bitwiseOr(events | ConnectionLock.turnMissed, ordering: .sequentiallyConsistent)
        // The holder may have checked for missed events just before.
        let isFree: Void? = state.withLockIfAvailable { state in
            let missed = takeMissedEvents()
            if missed != 0 { body(&state, missed) }
        }
        return isFree != nil
    }

    /// Records a request whose caller has left, for the next turn.
    func abandon(_ call: Call) {
        abandoned.withLock { $0.append(call) }
        hasAbandoned.store(true, ordering: .sequentiallyConsistent)
    }

    /// Takes the requests whose callers have left.
    func takeAbandoned() -> [Call] {
        guard hasAbandoned.exchange(false, ordering: .sequentiallyConsistent) else { return [] }
        return abandoned.withLock { calls in
            defer { calls = [] }
            return calls
        }
    }

    /// Takes the events of missed turns, or 0 if there were none.
    func takeMissedEvents() -> UInt32 {
        missedEvents.exchange(0, ordering: .sequentiallyConsistent)
    }

    // MARK: Timer

    /// The time for which the timer is to be set.
    var deadline: MonotonicTime { MonotonicTime(nanoseconds: timer.load(ordering: .sequentiallyConsistent)) }

    /// Changes ``deadline``, unless the timer fires before that anyway. Call it with the lock held.
    ///
    /// A timer that is due keeps its time: it may belong to another stream, and may have fired while the lock was held.
    ///
    /// - Returns: True if the caller must set the timer to ``deadline`` after it has released the lock.
    func moveDeadline(to time: MonotonicTime, at now: MonotonicTime) -> Bool {
        let deadline = deadline
        guard time < deadline else { return deadline <= now }
        timer.store(time.nanoseconds, ordering: .sequentiallyConsistent)
        return true
    }

    /// Records that the timer has fired. Call it with the lock held.
    func removeDeadline() {
        timer.store(MonotonicTime.distantFuture.nanoseconds, ordering: .sequentiallyConsistent)
    }
}

/// A connection's registration on its loop, usable from any thread.
///
/// Each function takes the loop's thread if the caller runs on it. Otherwise it posts a job.
struct LoopRegistration: Sendable {
    let loop: EventLoop
    let registration: LoopThread.Registration

    /// Returns true if the thread belongs to the loop.
    func runs(on thread: LoopThread?) -> Bool { thread?.loop === loop }

    /// Unregisters from the loop after the socket has been closed.
    func unregister(on thread: LoopThread?) {
        if let thread { return thread.unregister(registration) }
        loop.post { [registration] in $0.unregister(registration) }
    }

    /// Sets the timer of the connection.
    ///
    /// - Parameters:
    ///   - deadline: The time, read on the loop. Two threads may post in another order than they changed it.
    ///   - thread: The thread of the loop, if the caller runs on it.
    func setTimer(at deadline: @autoclosure @escaping @Sendable () -> MonotonicTime, on thread: LoopThread?) {
        if let thread { return thread.setTimer(registration, at: deadline()) }
        loop.post { [registration] in $0.setTimer(registration, at: deadline()) }
    }

    /// Gives the connection another turn, after all other handlers.
    func runAgain(_ handler: any LoopHandler, on thread: LoopThread?) {
        if let thread { return thread.runAgain(registration) }
        loop.post { handler.ready(0, on: $0) }
    }
}

// MARK: - Connection life

/// The time during which a connection takes requests.
///
/// It ends with the lifetime of the connection, when newer certificates replace those of its TLS context or of its proxy's, and when the
/// pool retires it.
struct ConnectionLife: ~Copyable, Sendable {
    /// The time at which the dial began.
    let dialed: MonotonicTime
    private let context: TLSContext?
    private let proxyContext: TLSContext?
    /// The end of the lifetime in nanoseconds.
    private let limit: Atomic<Int64>

    init(since dialed: MonotonicTime, lifetime: Duration?, tls: TLSStream?) {
        self.dialed = dialed
        context = tls?.context
        proxyContext = tls?.outer?.context
        let lifetime = lifetime.map { Self.length(of: $0, random: .random(in: .min ... .max)) }
        limit = Atomic((lifetime.map { dialed + $0 } ?? .distantFuture).nanoseconds)
    }

    /// Returns the lifetime of one connection, between 80% and 100% of the maximum.
    ///
    /// Connections that were opened together, by one process or by many, are thus not replaced together.
    ///
    /// - Parameters:
    ///   - maximum: The maximum lifetime.
    ///   - random: 64 random bits.
    /// - Returns: The lifetime.
    static func length(of maximum: Duration, random: UInt64) -> Duration {
        let nanoseconds = maximum.nanoseconds
        guard nanoseconds > 0 else { return maximum }
        let range = UInt64(nanoseconds / 5) + 1
        return .nanoseconds(nanoseconds - Int64(random % range))
    }

    var end: MonotonicTime { MonotonicTime(nanoseconds: limit.load(ordering: .relaxed)) }

    /// The time after its setup in which a connection cannot have been closed as idle by its server.
    private static let freshness = Duration.seconds(1)

    /// Returns true if a request was waiting when the connection was opened.
    ///
    /// - Parameters:
    ///   - call: The request, the first one of the connection.
    ///   - connected: The end of the connection's setup.
    ///   - now: The current time.
    /// - Returns: False if the connection was opened for another request, or has been idle.
    func isDialed(for call: Call, connected: MonotonicTime, at now: MonotonicTime) -> Bool {
        call.queued <= connected && now < connected + Self.freshness
    }

    /// Returns true if the connection takes no further request.
    ///
    /// - Parameters:
    ///   - now: The current time.
    ///   - isFresh: True for the request that the connection was opened for. It is sent however short the lifetime is.
    /// - Returns: True if the life is over.
    func isOver(at now: MonotonicTime, isFresh: Bool = false) -> Bool {
        (isFresh ? isRetired : end <= now) || isOutdated
    }

    /// True if newer certificates than those of the connection are in use.
    var isOutdated: Bool { context?.isReplaced == true || proxyContext?.isReplaced == true }

    /// Ends the life now. Can be called on any thread.
    func retire() { limit.store(.min, ordering: .relaxed) }

    /// True after ``retire()``.
    var isRetired: Bool { limit.load(ordering: .relaxed) == .min }
}
#endif

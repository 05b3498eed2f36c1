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
    /// - Returns: True if the caller must set the timer to ``deadline`` after it has released the lock.
    func moveDeadline(to time: MonotonicTime, at now: MonotonicTime) -> Bool {
        let deadline = deadline
        guard time < deadline || deadline <= now, time != .distantFuture else { return false }
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
#endif

#if os(Linux)
import SluiceHTTP
import Synchronization

/// The lock over a connection's state, for which the connection's loop never waits.
///
/// The loop passes over a connection whose lock is taken, and whoever holds it gives the connection another turn. A caller that leaves
/// does not wait for the lock either: its request is taken off the wire by the next turn.
struct ConnectionLock<State>: ~Copyable, Sendable {
    /// Marks a missed turn that had no events; no bit of epoll's.
    private static var turnMissed: UInt32 { 1 << 24 }

    private let state: Locked<State>
    /// The events with which the loop came while the lock was taken; 0 if it did not.
    private let missedEvents = Atomic<UInt32>(0)
    /// Requests whose callers have left.
    private let abandoned = Locked<[Call]>([])
    private let hasAbandoned = Atomic(false)

    init(_ state: State) {
        self.state = Locked(unchecked: state)
    }

    /// Calls `body` with the lock held; ``takeMissedEvents()`` is due afterwards.
    func withLock<Value>(_ body: (inout State) -> Value) -> Value {
        state.withLockUnchecked(body)
    }

    /// Runs one turn on the loop, if nobody holds the lock.
    ///
    /// - Parameters:
    ///   - events: The events with which the loop comes.
    ///   - body: The turn, which is given those of missed turns as well.
    /// - Returns: False if somebody holds the lock, who will give the connection another turn.
    func withLockIfAvailable(_ events: UInt32, _ body: (inout State, UInt32) -> Void) -> Bool {
        if state.withLockIfAvailable({ body(&$0, events) }) != nil { return true }
        missedEvents.bitwiseOr(events | ConnectionLock.turnMissed, ordering: .sequentiallyConsistent)
        // The holder of the lock may have looked just before.
        let isFree: Void? = state.withLockIfAvailable { state in
            let missed = takeMissedEvents()
            if missed != 0 { body(&state, missed) }
        }
        return isFree != nil
    }

    /// Notes a request whose caller has left, for the next turn.
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

    /// Takes the events with which the loop came while the lock was taken; 0 if it did not come.
    func takeMissedEvents() -> UInt32 {
        missedEvents.exchange(0, ordering: .sequentiallyConsistent)
    }
}

/// The place of a connection on its loop, to be reached from any thread.
///
/// Each function is given the loop's thread if the caller is on it, and posts a job otherwise.
struct LoopPlace: Sendable {
    let loop: EventLoop
    let registration: LoopThread.Registration

    /// True if the thread is that of the loop.
    func isOf(_ thread: LoopThread?) -> Bool { thread?.loop === loop }

    /// Leaves the loop; the socket has been closed.
    func leave(on thread: LoopThread?) {
        if let thread { return thread.unregister(registration) }
        loop.post { [registration] in $0.unregister(registration) }
    }

    /// Sets the one deadline.
    func setTimer(at deadline: MonotonicTime, on thread: LoopThread?) {
        if let thread { return thread.setTimer(registration, at: deadline) }
        loop.post { [registration] in $0.setTimer(registration, at: deadline) }
    }

    /// Gives the connection another turn, after all others have had theirs.
    func runAgain(_ handler: any LoopHandler, on thread: LoopThread?) {
        if let thread { return thread.runAgain(registration) }
        loop.post { handler.ready(0, on: $0) }
    }
}
#endif

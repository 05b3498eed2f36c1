import SluiceHTTP

/// Runs a job in the task of a waiting caller, with its task-local values and priority, instead of on the current
/// thread.
typealias CallerContext = @Sendable (_ job: @escaping @Sendable () -> Void) -> Void

/// A piece of work shared by several waiters (single flight). The first waiter starts it, all waiters get its value,
/// and it is cancelled when the last one leaves.
///
/// The work does not run in the task of a waiter, so cancelling one caller does not affect the others. Joining, leaving
/// and cancelling are state changes under a lock and need no other task.
///
/// A reference: all copies are the same flight, whose state and lock are one object.
struct SingleFlight<Value: Sendable>: Sendable {
    /// Starts the work on the calling thread without blocking, and returns an action that stops it. The work calls
    /// ``complete(_:)`` of the flight once with the value, from any thread. Parts of the work that run user code go
    /// through ``caller``.
    typealias Work = @Sendable (_ flight: SingleFlight) -> Stop
    /// Stops the work. The work may still call ``complete(_:)``, which then has no effect.
    typealias Stop = @Sendable () -> Void

    fileprivate enum Wake: Sendable {
        case value(Value?)
        /// Run this job, then wait again.
        case job(@Sendable () -> Void)
    }

    /// Not ``SluiceHTTP/Waiter``, because a caller without a task waits by a callback.
    fileprivate enum Waiter: Sendable {
        /// The continuation is nil while the task runs a job.
        case task(UnsafeContinuation<Wake, Never>?)
        case call(@Sendable (Value?) -> Void, CallerContext)

        func resume(returning value: Value?) {
            switch self {
            case .task(let continuation): continuation?.resume(returning: .value(value))
            case .call(let completion, _): completion(value)
            }
        }

        var runsJob: Bool {
            if case .task(nil) = self { true } else { false }
        }
    }

    fileprivate enum Phase {
        case ready(Work?)
        case running(Stop?)
        case completed(Value)
    }

    fileprivate struct State {
        /// The value for all waiters if the work is cancelled.
        let cancelled: Value
        var phase: Phase
        /// The first waiter, stored apart because there is rarely more than one.
        var first: (id: Int, waiter: Waiter)?
        var others: [Int: Waiter] = [:]
        var lastID = 0
        /// True if the work ended because all waiters left.
        var wasAbandoned = false
        /// True while the work is stopped. The waiters are still there and run its last jobs.
        var isStopping = false
    }

    /// The waiters to wake and the action that stops the work. Nothing for a flight that already has a value.
    ///
    /// Not a tuple: a closure that a generic function returns in one is converted, with an allocation for each conversion.
    fileprivate struct Ending: Sendable {
        var isFirst = false
        var first: Waiter?
        var others: [Waiter] = []
        var stop: Stop?
    }

    private enum Joining {
        case waiting
        case starting(Work?)
        case answered(Value)
        case refused
        case abandoned
    }

    private let state: Locked<State>

    /// Creates work that has not started.
    ///
    /// - Parameters:
    ///   - cancelled: The value that all waiters get if the work is cancelled.
    ///   - work: The work to share; nil if the first waiter brings it.
    init(cancelled: Value, work: Work? = nil) {
        state = Locked(State(cancelled: cancelled, phase: .ready(work)))
    }

    /// Waits for the value, and starts the work if it has not been started. Returns nil if the calling task is
    /// cancelled first.
    func value() async -> Value? { await value { _ in {} } }

    /// Waits for the value of a flight without work of its own.
    ///
    /// - Parameter work: Starts the work on the calling thread, if this is the first waiter.
    /// - Returns: The value; nil if the calling task is cancelled first.
    func value(_ work: (_ flight: SingleFlight) -> Stop) async -> Value? {
        let id = nextID()
        defer { state.synchronize() }
        return await withTaskCancellationHandler {
            var wake = await withUnsafeContinuation { join(id, .task($0), work) }
            while true {
                switch wake {
                case .value(let value): return value
                case .job(let job):
                    state.synchronize()
                    job()
                    wake = await withUnsafeContinuation { rejoin(id, $0) }
                }
            }
        } onCancel: {
            leave(id)
        }
    }

    /// Registers a callback for the value, and starts the work if it has not been started.
    ///
    /// - Parameters:
    ///   - caller: Runs parts of the work for this caller.
    ///   - completion: Called once on any thread, with the value, or with nil if the caller leaves first.
    /// - Returns: An action by which the caller leaves. Nil if all waiters have already left; `completion` is then
    ///   never called.
    func join(
        caller: @escaping CallerContext = SingleFlight.detached,
        _ completion: @escaping @Sendable (Value?) -> Void
    ) -> Stop? {
        let id = nextID()
        guard join(id, .call(completion, caller), { _ in {} }) else { return nil }
        return { [self] in leave(id) }
    }

    /// Runs a job in a new detached task, for callers without a task of their own.
    static var detached: CallerContext { { job in Task.detached { job() } } }

    /// True if the work ended because all waiters left.
    var isAbandoned: Bool { state.withLock { $0.wasAbandoned } }

    /// The number of waiters.
    var waiting: Int {
        state.withLock { $0.others.count + ($0.first == nil ? 0 : 1) }
    }

    /// Stops the work and gives all waiters the cancelled value. Has no effect once there is a value.
    func cancel() {
        let (ending, value) = state.withLock { ($0.stop(), $0.cancelled) }
        guard ending.isFirst else { return }
        ending.stop?()
        let waiters = state.withLock { $0.takeWaiters() }
        waiters.first?.resume(returning: value)
        for waiter in waiters.others { waiter.resume(returning: value) }
    }

    /// Gives all waiters the value. Has no effect once there is a value.
    ///
    /// - Parameter value: The value of the work.
    /// - Returns: False if no caller waits for the value.
    @discardableResult
    func complete(_ value: Value) -> Bool {
        let ending = state.withLock { state -> Ending in
            if case .completed = state.phase { return Ending() }
            // Returned, so that the action ends without the lock.
            let stop = state.complete(value)
            var ending = state.takeWaiters()
            ending.stop = stop
            return ending
        }
        ending.first?.resume(returning: value)
        for waiter in ending.others { waiter.resume(returning: value) }
        return ending.isFirst
    }

    /// Runs jobs in the task of a waiter, or through the `caller` of one.
    var caller: CallerContext { { [self] job in runForCaller(job) } }

    private func nextID() -> Int {
        state.withLock { state in
            state.lastID += 1
            return state.lastID
        }
    }

    /// Adds a waiter. Returns false if it is a callback that will never run because all earlier waiters have left.
    @discardableResult
    private func join(_ id: Int, _ waiter: Waiter, _ work: (SingleFlight) -> Stop) -> Bool {
        let joining: Joining = state.withLock { state in
            if case .call = waiter, state.wasAbandoned { return .abandoned }
            if case .completed(let value) = state.phase { return .answered(value) }
            // Checked under the lock: a later cancellation finds the waiter when it leaves.
            if case .task = waiter, Task.isCancelled { return .refused }
            state.add(waiter, id)
            guard case .ready(let own) = state.phase else { return .waiting }
            state.phase = .running(nil)
            return .starting(own)
        }
        switch joining {
        case .waiting: break
        case .starting(let own?): start(own)
        case .starting(nil): start(work)
        case .answered(let value): waiter.resume(returning: value)
        case .refused: waiter.resume(returning: nil)
        case .abandoned: return false
        }
        return true
    }

    /// Waits again after a job, unless the waiter has left or there is a value.
    private func rejoin(_ id: Int, _ continuation: UnsafeContinuation<Wake, Never>) {
        let value: Value?? = state.withLock { state in
            if case .completed(let value) = state.phase {
                return state.remove(id) == nil || state.wasAbandoned ? .some(nil) : value
            }
            guard state.remove(id) != nil else { return .some(nil) }
            state.add(.task(continuation), id)
            return nil
        }
        if let value { continuation.resume(returning: .value(value)) }
    }

    /// Runs a job in the task of a waiter, or through the `caller` of one.
    private func runForCaller(_ job: @escaping @Sendable () -> Void) {
        switch state.withLock({ $0.takeWaiterForJob() }) {
        case .task(let continuation?): continuation.resume(returning: .job(job))
        case .call(_, let caller): caller(job)
        case .task(nil), nil: SingleFlight.detached(job)
        }
    }

    private func start(_ work: (SingleFlight) -> Stop) {
        let stop = work(self)
        let isCompleted = state.withLock { state in
            guard case .running = state.phase else { return true }
            state.phase = .running(stop)
            return false
        }
        if isCompleted { stop() }
    }

    /// Removes a waiter. The last one leaves after the work has stopped, and so runs its last jobs.
    private func leave(_ id: Int) {
        let ending = state.withLock { state -> Ending in
            if case .completed = state.phase { return Ending() }
            if !state.isLast(id) { return Ending(first: state.remove(id)) }
            state.wasAbandoned = true
            return state.stop()
        }
        guard ending.isFirst else {
            ending.first?.resume(returning: nil)
            return
        }
        ending.stop?()
        let last = state.withLock { state -> Waiter? in
            state.isStopping = false
            return state.remove(id)
        }
        last?.resume(returning: nil)
    }
}

extension SingleFlight.State {
    /// True if there is no waiter but this one.
    fileprivate func isLast(_ id: Int) -> Bool {
        if let first { first.id == id && others.isEmpty } else { others.count == 1 && others[id] != nil }
    }

    /// Ends the work with the cancelled value, before it is stopped.
    fileprivate mutating func stop() -> SingleFlight.Ending {
        if case .completed = phase { return SingleFlight.Ending() }
        isStopping = true
        return SingleFlight.Ending(isFirst: true, stop: complete(cancelled))
    }

    /// Removes the waiters to wake. Those that run a job look for the value when the job is done.
    fileprivate mutating func takeWaiters() -> SingleFlight.Ending {
        isStopping = false
        var ending = SingleFlight.Ending(isFirst: true, first: first?.waiter)
        if first?.waiter.runsJob != true { first = nil }
        if !others.isEmpty {
            ending.others = Array(others.values)
            others = others.filter { $0.value.runsJob }
        }
        return ending
    }

    fileprivate mutating func add(_ waiter: SingleFlight.Waiter, _ id: Int) {
        if first == nil { first = (id, waiter) } else { others[id] = waiter }
    }

    fileprivate mutating func remove(_ id: Int) -> SingleFlight.Waiter? {
        guard let first, first.id == id else { return others.removeValue(forKey: id) }
        self.first = nil
        return first.waiter
    }

    /// Returns a waiter that can run a job, usually the first. If it is a task, its continuation is taken out.
    fileprivate mutating func takeWaiterForJob() -> SingleFlight.Waiter? {
        if case .completed = phase, !isStopping { return nil }
        if let first, !first.waiter.runsJob {
            if case .task = first.waiter { self.first = (first.id, .task(nil)) }
            return first.waiter
        }
        guard let (id, waiter) = others.first(where: { !$0.value.runsJob }) else { return nil }
        if case .task = waiter { others[id] = .task(nil) }
        return waiter
    }

    /// Stores the value and returns the action that stops the work.
    fileprivate mutating func complete(_ value: Value) -> SingleFlight.Stop? {
        defer { phase = .completed(value) }
        if case .running(let stop) = phase { return stop }
        return nil
    }
}

/// A stop action that can be called before the work it stops has started.
///
/// A call to `stop()` that comes early takes effect as soon as the action is set.
final class DeferredStop: Sendable {
    private enum State {
        case unset
        case set(SingleFlight<CallOutcome>.Stop)
        case stopped
    }

    private let state = Locked(State.unset)

    /// True if `stop()` was called before an action was set.
    var isStopped: Bool {
        state.withLock { state in
            if case .stopped = state { true } else { false }
        }
    }

    /// Sets the stop action, and runs it at once if `stop()` was called before.
    func set(_ stop: @escaping SingleFlight<CallOutcome>.Stop) {
        let isLate = state.withLock { state in
            if case .stopped = state { return true }
            state = .set(stop)
            return false
        }
        if isLate { stop() }
    }

    func stop() {
        let stop: SingleFlight<CallOutcome>.Stop? = state.withLock { state in
            defer { state = .stopped }
            if case .set(let stop) = state { return stop }
            return nil
        }
        stop?()
    }
}

import SluiceHTTP

/// Runs a job at once within the task of a caller, with its task-local values and its priority, instead of on the thread that has it.
typealias CallerContext = @Sendable (_ job: @escaping @Sendable () -> Void) -> Void

/// One piece of work, many who wait for it: begun by the first, its value kept for all, cancelled when the last leaves.
///
/// The work is nobody's own task, so that the cancellation of one caller does not touch what others wait for.
/// Joining, leaving and cancelling are changes of state under a lock, never a hop through another task.
final class Flight<Value: Sendable>: Sendable {
    /// Begins the work on the calling thread, without waiting; it calls `land` with the value, once, from anywhere, and learns
    /// whether anybody still waited for it. Parts of it that run a user's code go by `caller`. Gives back what stops it.
    typealias Work = @Sendable (_ land: @escaping @Sendable (Value) -> Bool, _ caller: @escaping CallerContext) -> Stop
    /// Stops the work; it may still call `land`, to no effect.
    typealias Stop = @Sendable () -> Void

    fileprivate enum Wake: Sendable {
        case value(Value?)
        /// Run this, and wait again.
        case job(@Sendable () -> Void)
    }

    fileprivate enum Waiter: Sendable {
        /// Without a continuation while the task runs a job.
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
        case ready(Work)
        case flying(Stop?)
        case landed(Value)
    }

    fileprivate struct State {
        var phase: Phase
        /// Nearly always there is one who waits.
        var first: (id: Int, waiter: Waiter)?
        var others: [Int: Waiter] = [:]
        var lastID = 0
        /// Whether it is over because all who waited have left.
        var wasDeserted = false
    }

    private enum Joining {
        case waiting
        case starting(Work)
        case answered(Value)
        case refused
        case deserted
    }

    private let state: Locked<State>
    private let cancelled: Value

    /// Makes a flight that has not begun.
    ///
    /// - Parameters:
    ///   - cancelled: The value of all when the work is cancelled.
    ///   - work: What to do.
    init(cancelled: Value, work: @escaping Work) {
        self.cancelled = cancelled
        state = Locked(State(phase: .ready(work)))
    }

    /// Waits for the value, and begins the work if nobody has; nil for a caller that is cancelled before there is one.
    func value() async -> Value? {
        let id = nextID()
        defer { state.synchronize() }
        return await withTaskCancellationHandler {
            var wake = await withUnsafeContinuation { join(id, .task($0)) }
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

    /// Has the value handed over as soon as there is one, on any thread, and begins the work if nobody has.
    ///
    /// - Parameters:
    ///   - caller: Runs parts of the work for this caller.
    ///   - completion: Called once: with the value, or with nil where the caller leaves before there is one.
    /// - Returns: What makes the caller leave; nil, and no call, where all have left before.
    func join(
        caller: @escaping CallerContext = Flight.nobody,
        _ completion: @escaping @Sendable (Value?) -> Void
    ) -> Stop? {
        let id = nextID()
        guard join(id, .call(completion, caller)) else { return nil }
        return { [self] in leave(id) }
    }

    /// Runs a job in a task of its own, where no caller's can run it.
    static var nobody: CallerContext { { job in Task.detached { job() } } }

    /// How many wait.
    var waiting: Int {
        state.withLock { $0.others.count + ($0.first == nil ? 0 : 1) }
    }

    /// Ends the work and answers all who wait; without effect once there is a value.
    func cancel() {
        land(cancelled, isCancelling: true)
    }

    private func nextID() -> Int {
        state.withLock { state in
            state.lastID += 1
            return state.lastID
        }
    }

    /// False where one that is to be called will not be.
    @discardableResult
    private func join(_ id: Int, _ waiter: Waiter) -> Bool {
        let joining: Joining = state.withLock { state in
            if case .call = waiter, state.wasDeserted { return .deserted }
            if case .landed(let value) = state.phase { return .answered(value) }
            // Seen under the lock: a cancellation after this finds the waiter when it leaves.
            if case .task = waiter, Task.isCancelled { return .refused }
            state.add(waiter, id)
            guard case .ready(let work) = state.phase else { return .waiting }
            state.phase = .flying(nil)
            return .starting(work)
        }
        switch joining {
        case .waiting: break
        case .starting(let work): start(work)
        case .answered(let value): waiter.resume(returning: value)
        case .refused: waiter.resume(returning: nil)
        case .deserted: return false
        }
        return true
    }

    /// Waits on after a job; the task may have left meanwhile, or the value come.
    private func rejoin(_ id: Int, _ continuation: UnsafeContinuation<Wake, Never>) {
        let value: Value?? = state.withLock { state in
            if case .landed(let value) = state.phase { return state.remove(id) == nil ? .some(nil) : value }
            guard state.remove(id) != nil else { return .some(nil) }
            state.add(.task(continuation), id)
            return nil
        }
        if let value { continuation.resume(returning: .value(value)) }
    }

    /// Runs a job within the task of one who waits, or by whom one of them names for it.
    private func lend(_ job: @escaping @Sendable () -> Void) {
        switch state.withLock({ $0.lender() }) {
        case .task(let continuation?): continuation.resume(returning: .job(job))
        case .call(_, let caller): caller(job)
        case .task(nil), nil: Flight.nobody(job)
        }
    }

    private func start(_ work: Work) {
        let stop = work({ [self] value in land(value, isCancelling: false) }, { [self] job in lend(job) })
        let isLanded = state.withLock { state in
            guard case .flying = state.phase else { return true }
            state.phase = .flying(stop)
            return false
        }
        if isLanded { stop() }
    }

    @discardableResult
    private func land(_ value: Value, isCancelling: Bool) -> Bool {
        let (first, others, stop, isTaken) = state.withLock { state -> (Waiter?, [Waiter], Stop?, Bool) in
            if case .landed = state.phase { return (nil, [], nil, false) }
            let stop = state.land(value)
            let others = state.others.isEmpty ? [] : Array(state.others.values)
            // Those who run a job look for the value once it is done.
            state.others = state.others.filter { $0.value.runsJob }
            let first = state.first?.waiter
            if first?.runsJob != true { state.first = nil }
            return (first, others, stop, true)
        }
        first?.resume(returning: value)
        for waiter in others { waiter.resume(returning: value) }
        if isCancelling { stop?() }
        return isTaken
    }

    private func leave(_ id: Int) {
        let (waiter, stop) = state.withLock { state -> (Waiter?, Stop?) in
            if case .landed = state.phase { return (nil, nil) }
            guard let waiter = state.remove(id) else { return (nil, nil) }
            guard state.isDeserted else { return (waiter, nil) }
            state.wasDeserted = true
            return (waiter, state.land(cancelled))
        }
        waiter?.resume(returning: nil)
        stop?()
    }
}

extension Flight.State {
    fileprivate var isDeserted: Bool { first == nil && others.isEmpty }

    fileprivate mutating func add(_ waiter: Flight.Waiter, _ id: Int) {
        if first == nil { first = (id, waiter) } else { others[id] = waiter }
    }

    fileprivate mutating func remove(_ id: Int) -> Flight.Waiter? {
        guard let first, first.id == id else { return others.removeValue(forKey: id) }
        self.first = nil
        return first.waiter
    }

    /// One who can run a job, the first as a rule; of a task the continuation is taken for that.
    fileprivate mutating func lender() -> Flight.Waiter? {
        if case .landed = phase { return nil }
        if let first, !first.waiter.runsJob {
            if case .task = first.waiter { self.first = (first.id, .task(nil)) }
            return first.waiter
        }
        guard let (id, waiter) = others.first(where: { !$0.value.runsJob }) else { return nil }
        if case .task = waiter { others[id] = .task(nil) }
        return waiter
    }

    /// Keeps the value; returns what stops the work on it.
    fileprivate mutating func land(_ value: Value) -> Flight.Stop? {
        defer { phase = .landed(value) }
        if case .flying(let stop) = phase { return stop }
        return nil
    }
}

import SluiceHTTP

/// A gate for a constraint. It checks one request at a time, and satisfies the constraint
/// once for all waiting requests.
///
/// A client creates one for each of its ``APIClient/Configuration/constraints``. Clients that are given the same actor or
/// object as a constraint share its gate.
///
/// The state is under a lock and not in an actor, so that a cancellation takes effect synchronously.
final class ConstraintGate: Gate, ConstrainingGate {
    typealias Continuation = UnsafeContinuation<Resumption, Never>

    /// The next step of a request. The task of the request starts calls of user code, so that they have its task-local values and priority.
    enum Resumption: Sendable {
        case finished(SluiceError?)
        /// Start to call `isSatisfied`, and wait again.
        case check
        /// Start to call `satisfy`, and wait again.
        case satisfy

        var isLast: Bool {
            if case .finished = self { true } else { false }
        }
    }

    /// A request that waits.
    struct PendingRequest {
        let request: RequestContext
        /// Nil while the request's task starts a call.
        var waiter: Continuation?
        /// The step that arrived while there was no waiter.
        var step: Resumption?
    }

    /// The timer still runs after the work is cancelled, because the work may ignore cancellation.
    typealias RunningSatisfaction = (work: Task<Void, Never>, timer: Task<Void, Never>?)

    struct State {
        var constraint = ConstraintState()
        var pending: [Int: PendingRequest] = [:]
        var check: (id: Int, number: Int, task: Task<Void, Never>?, since: ContinuousClock.Instant)?
        var lastCheck = 0
        /// The task that fails overdue checks; nil if none runs.
        var watchdog: Task<Void, Never>?
        var satisfactionNumber = 0
        var runningSatisfaction: RunningSatisfaction?

        /// Returns the waiter to resume with a step, or keeps the step until the request's task waits again.
        mutating func waiter(of id: Int, for step: Resumption) -> Continuation? {
            guard let waiter = pending[id]?.waiter.take() else {
                pending[id]?.step = step
                return nil
            }
            if step.isLast { pending[id] = nil }
            return waiter
        }
    }

    let constraint: any Constraint
    let state = Locked(State())

    init(_ constraint: any Constraint) {
        self.constraint = constraint
    }

    deinit {
        state.withLock { $0.watchdog }?.cancel()
        removeShared()
    }

    var name: String { constraint.name }
    var needs: Set<String> { constraint.needs }
    /// False: the gate reserves no limited resource.
    var reservesResource: Bool { false }

    /// Waits until the constraint is satisfied.
    func admit(_ request: RequestContext) async throws(SluiceError) -> Permit {
        let failure = await state.withWaiterID { id -> SluiceError? in
            var resumption = await withUnsafeContinuation { arrive(id, $0, request) }
            while true {
                switch resumption {
                case .finished(let failure): return failure
                case .check:
                    startCheck(id, request)
                    resumption = await withUnsafeContinuation { waitAgain(id, $0) }
                case .satisfy:
                    startSatisfaction(id, request)
                    resumption = await withUnsafeContinuation { waitAgain(id, $0) }
                }
            }
        } onCancel: { id in
            leave(id)
        }
        if let failure { throw failure }
        return Permit()
    }

    private func arrive(_ id: Int, _ waiter: Continuation, _ request: RequestContext) {
        let actions = state.withLock { state -> [ConstraintState.Action]? in
            // Checked under the lock: a later cancellation finds the waiter.
            if Task.isCancelled { return nil }
            state.pending[id] = PendingRequest(request: request, waiter: waiter)
            return state.constraint.arrived(id)
        }
        guard let actions else { return waiter.resume(returning: .finished(.cancelled)) }
        perform(actions)
    }

    private func waitAgain(_ id: Int, _ waiter: Continuation) {
        let step = state.withLock { state -> Resumption? in
            if state.pending[id] == nil { return .finished(.cancelled) }
            guard let step = state.pending[id]?.step.take() else {
                state.pending[id]?.waiter = waiter
                return nil
            }
            if step.isLast { state.pending[id] = nil }
            return step
        }
        if let step { waiter.resume(returning: step) }
    }

    private func leave(_ id: Int) {
        let (waiter, actions, satisfaction) = state.withLock {
            state -> (Continuation?, [ConstraintState.Action], Task<Void, Never>?) in
            guard let pendingRequest = state.pending[id], pendingRequest.step?.isLast != true else {
                return (nil, [], nil)
            }
            state.pending[id] = nil
            var actions = state.constraint.cancelled(id)
            switch pendingRequest.step {
            // The request no longer starts these calls.
            case .check:
                state.check = nil
                actions += state.constraint.checked(id, false)
            case .satisfy: actions.append(.satisfy)
            case .finished, nil: break
            }
            // Read under the lock. Once it is released, another satisfaction may run.
            return (pendingRequest.waiter, actions, state.runningSatisfaction?.work)
        }
        perform(actions, cancelling: satisfaction)
        waiter?.resume(returning: .finished(.cancelled))
    }

    func perform(
        _ actions: [ConstraintState.Action],
        _ failure: SluiceError? = nil,
        cancelling satisfaction: Task<Void, Never>? = nil
    ) {
        for action in actions {
            switch action {
            case .check(let id): check(id)
            case .cancelCheck(let id):
                state.withLock { $0.check?.id == id ? $0.check?.task : nil }?.cancel()
            case .satisfy: satisfy()
            // One that has not been stored yet is cancelled by `startSatisfaction`.
            case .cancelSatisfaction: satisfaction?.cancel()
            case .admit(let ids): resume(ids, nil)
            case .fail(let ids): resume(ids, failure ?? .gateTimedOut(name))
            }
        }
    }

    private func resume(_ ids: [Int], _ failure: SluiceError?) {
        let waiters = state.withLock { state in ids.compactMap { state.waiter(of: $0, for: .finished(failure)) } }
        for waiter in waiters { waiter.resume(returning: .finished(failure)) }
    }
}

// Calls `isSatisfied`, for one request at a time.
extension ConstraintGate {
    /// Resumes the request's own task to start the check.
    func check(_ id: Int) {
        let (waiter, request) = state.withLock { state -> (Continuation?, RequestContext?) in
            guard let request = state.pending[id]?.request else { return (nil, nil) }
            state.lastCheck += 1
            state.check = (id, state.lastCheck, nil, request.client.pipeline.clock.now)
            return (state.waiter(of: id, for: .check), request)
        }
        // The request was cancelled before its check. The next check follows.
        guard let request else { return perform(state.withLock { $0.constraint.checked(id, false) }) }
        waiter?.resume(returning: .check)
        startWatchdog(request.client.pipeline.clock)
    }

    /// Calls `isSatisfied` in a separate task, so that the request can be cancelled while user code runs.
    private func startCheck(_ id: Int, _ request: RequestContext) {
        // The check may have timed out already.
        guard let number = state.withLock({ $0.check?.id == id ? $0.check?.number : nil }) else { return }
        let bypass = GateBypass(from: self, for: request)
        let task = Task { [self] in
            let isSatisfied = await bypass.whileActive { await constraint.isSatisfied(for: request) }
            perform(
                state.withLock { state in
                    guard state.check?.number == number else { return [] }
                    state.check = nil
                    return state.constraint.checked(id, isSatisfied)
                }
            )
        }
        let isWanted = state.withLock { state in
            if state.check?.number == number { state.check?.task = task }
            return state.pending[id] != nil
        }
        if !isWanted { task.cancel() }
    }

    /// Starts a task that fails overdue checks, so that they do not block the others. One task serves all checks.
    private func startWatchdog(_ clock: any SluiceClock) {
        guard let timeout = constraint.timeout else { return }
        state.withLock { state in
            if state.watchdog != nil { return }
            state.watchdog = Task.detached { [weak self] in
                var wait: Duration? = timeout
                while let next = wait {
                    do { try await clock.sleep(for: next) } catch { return }
                    wait = self?.failOverdueCheck(clock.now, timeout)
                }
            }
        }
    }

    /// Fails a check that exceeds the time limit. Returns the time until the watchdog wakes again, or nil if no check is
    /// running.
    private func failOverdueCheck(_ now: ContinuousClock.Instant, _ timeout: Duration) -> Duration? {
        let (actions, task, wait) = state.withLock {
            state -> ([ConstraintState.Action], Task<Void, Never>?, Duration?) in
            guard let check = state.check else {
                state.watchdog = nil
                return ([], nil, nil)
            }
            let age = check.since.duration(to: now)
            guard age >= timeout else { return ([], nil, timeout - age) }
            state.check = nil
            return (state.constraint.checkTimedOut(check.id), check.task, timeout)
        }
        task?.cancel()
        perform(actions)
        return wait
    }
}

// Runs `satisfy` once for all waiting requests.
extension ConstraintGate {
    /// Resumes the task of the request that has waited longest, to start the satisfaction.
    func satisfy() {
        let (waiter, cancelled) = state.withLock { state -> (Continuation?, Int?) in
            // All waiting requests may have been cancelled meanwhile. Later ones begin another satisfaction.
            guard !state.constraint.isCancelled, let id = state.constraint.firstWaiting else {
                return (nil, state.satisfactionNumber)
            }
            return (state.waiter(of: id, for: .satisfy), nil)
        }
        if let cancelled { satisfactionEnded(cancelled, .cancelled) }
        waiter?.resume(returning: .satisfy)
    }

    /// Calls `satisfy` in a separate task, which continues after its request is cancelled while other requests wait.
    /// The deadline of the request does not apply to it.
    private func startSatisfaction(_ id: Int, _ request: RequestContext) {
        let next = state.withLock { state -> Int? in
            guard state.pending[id] != nil else { return nil }
            state.satisfactionNumber += 1
            return state.satisfactionNumber
        }
        // The request was cancelled meanwhile. Another one starts the satisfaction.
        guard let number = next else { return satisfy() }
        let bypass = GateBypass(from: self, for: request)
        let work = Deadline.$current.withValue(nil) {
            Task { [self] in
                do {
                    try await bypass.whileActive { try await constraint.satisfy(for: request) }
                    satisfactionEnded(number, nil)
                } catch {
                    satisfactionEnded(number, .gate(name, failedWith: error))
                }
            }
        }
        let clock = request.client.pipeline.clock
        let timer = constraint.timeout.map { timeout in
            Task.detached { [self] in
                do { try await clock.sleep(for: timeout) } catch { return }
                satisfactionEnded(number, .gateTimedOut(name))
            }
        }
        let (isWanted, isOver) = state.withLock { state in
            guard state.satisfactionNumber == number else { return (false, true) }
            state.runningSatisfaction = (work, timer)
            return (!state.constraint.isCancelled, false)
        }
        if !isWanted { work.cancel() }
        if isOver { timer?.cancel() }
    }

    /// Resumes all waiting requests. Ignores the result of a call that has already timed out.
    private func satisfactionEnded(_ number: Int, _ failure: SluiceError?) {
        let (actions, runningSatisfaction) = state.withLock {
            state -> ([ConstraintState.Action], RunningSatisfaction?) in
            guard state.satisfactionNumber == number else { return ([], nil) }
            state.satisfactionNumber += 1
            defer { state.runningSatisfaction = nil }
            return (
                failure == nil ? state.constraint.satisfied() : state.constraint.failed(), state.runningSatisfaction
            )
        }
        runningSatisfaction?.work.cancel()
        runningSatisfaction?.timer?.cancel()
        perform(actions, failure)
    }
}

extension Constraint {
    /// Returns a gate for the constraint. To share a constraint that is a value, give several clients the same gate:
    ///
    /// ```swift
    /// let signedIn = SignedIn(session: session).makeGate()
    /// let users = APIClient(baseURL: usersURL) { $0.gates = [signedIn] }
    /// let orders = APIClient(baseURL: ordersURL) { $0.gates = [signedIn] }
    /// ```
    ///
    /// The constraint is satisfied once for the waiting requests of all clients with the gate.
    ///
    /// - Returns: A new gate; for an actor or object, the gate that its clients already share.
    public func makeGate() -> any Gate { gate }

    /// The gate that keeps requests back until the constraint is satisfied; the same for all clients if the constraint
    /// is an object.
    var gate: any Gate {
        guard type(of: self) is any AnyObject.Type else { return ConstraintGate(self) }
        return ConstraintGate.shared(ObjectIdentifier(self as AnyObject)) { ConstraintGate(self) }
    }
}

extension ConstraintGate {
    private struct Reference {
        weak var gate: ConstraintGate?
        /// The address of the gate. It is no `ObjectIdentifier`: beside a weak reference, Swift 6.3 reads an absent optional structure of one
        /// as present, without optimization.
        let address: Int

        init(_ gate: ConstraintGate) {
            self.gate = gate
            address = Self.address(of: gate)
        }

        static func address(of gate: ConstraintGate) -> Int { Int(bitPattern: ObjectIdentifier(gate)) }
    }

    /// The gates by their constraint. A gate keeps its constraint, so the identifier stays valid as long as the gate.
    private static let gates = Locked<[ObjectIdentifier: Reference]>([:])

    /// Returns the gate of an object, which clients share.
    fileprivate static func shared(_ constraint: ObjectIdentifier, _ makeGate: () -> ConstraintGate) -> ConstraintGate {
        gates.withLock { gates in
            if let gate = gates[constraint]?.gate { return gate }
            let gate = makeGate()
            gates[constraint] = Reference(gate)
            return gate
        }
    }

    /// Removes the gate at its end, unless the object has got another one meanwhile.
    fileprivate func removeShared() {
        guard type(of: constraint) is any AnyObject.Type else { return }
        let (constraint, own) = (ObjectIdentifier(constraint as AnyObject), Reference.address(of: self))
        // The gate itself is not loaded: its last reference could end under the lock.
        ConstraintGate.gates.withLock { gates in
            if gates[constraint]?.address == own { gates[constraint] = nil }
        }
    }

    /// True if an object has an entry among the shared gates.
    static func isShared(_ constraint: any Constraint & AnyObject) -> Bool {
        gates.withLock { $0[ObjectIdentifier(constraint)] != nil }
    }
}

// MARK: - Constraint state

/// The requests at a constraint: a state machine without side effects, which turns events into actions.
///
///     arrived ──▶ queued ──▶ checked ──true──▶ admitted
///                               └──false──▶ waiting ──satisfied──▶ admitted
///                                              └──failed──▶ failed
///
/// One check and one satisfaction run at a time. A cancelled satisfaction counts as running until it ends, because it
/// may still be changing state that the next one depends on.
struct ConstraintState {
    typealias ID = Int

    enum Action: Equatable {
        /// Check if the constraint is satisfied for this request.
        case check(ID)
        /// Cancel the check: its request was cancelled.
        case cancelCheck(ID)
        /// Satisfy the constraint for all waiting requests.
        case satisfy
        /// Cancel the satisfaction: no request waits for it.
        case cancelSatisfaction
        case admit([ID])
        case fail([ID])
    }

    private enum Satisfaction: Equatable {
        case idle
        case running
        /// Cancelled, but still running.
        case ending
    }

    private struct Check {
        let id: ID
        /// The number of satisfactions before the check started.
        let generation: Int
        /// False after the request was cancelled.
        var isWanted = true
    }

    private var queue = WaitQueue<ID>()
    private var check: Check?
    private var waiting = WaitQueue<ID>()
    private var satisfaction = Satisfaction.idle
    private var generation = 0

    /// The request that has waited longest for a satisfaction.
    var firstWaiting: ID? { waiting.first }
    /// True if the running satisfaction has been cancelled.
    var isCancelled: Bool { satisfaction == .ending }
    /// True if no request is queued, checked or waiting, and no satisfaction runs.
    var isIdle: Bool { check == nil && queue.isEmpty && waiting.isEmpty && satisfaction == .idle }

    mutating func arrived(_ id: ID) -> [Action] {
        queue.append(id, id: id)
        return checkNext()
    }

    /// Handles the result of a check.
    mutating func checked(_ id: ID, _ isSatisfied: Bool) -> [Action] {
        guard let check, check.id == id else { return [] }
        self.check = nil
        guard check.isWanted else { return checkNext() }
        if isSatisfied { return [.admit([id])] + checkNext() }
        if check.generation != generation {
            // The constraint was satisfied during the check, so the result may be outdated.
            queue.append(id, id: id)
            return checkNext()
        }
        waiting.append(id, id: id)
        return startSatisfaction() + checkNext()
    }

    /// Handles a check that timed out.
    mutating func checkTimedOut(_ id: ID) -> [Action] {
        guard let check, check.id == id else { return [] }
        self.check = nil
        return (check.isWanted ? [.fail([id])] : []) + checkNext()
    }

    mutating func satisfied() -> [Action] {
        guard satisfaction != .idle else { return [] }
        satisfaction = .idle
        generation += 1
        return release().map { [.admit($0)] } ?? []
    }

    mutating func failed() -> [Action] {
        let before = satisfaction
        satisfaction = .idle
        switch before {
        case .idle: return []
        // Requests that arrived after the cancellation get a new satisfaction.
        case .ending: return waiting.isEmpty ? [] : startSatisfaction()
        case .running: return release().map { [.fail($0)] } ?? []
        }
    }

    /// Removes a cancelled request from any state.
    mutating func cancelled(_ id: ID) -> [Action] {
        if check?.id == id {
            check?.isWanted = false
            return [.cancelCheck(id)]
        }
        if waiting.remove(id: id) != nil {
            guard waiting.isEmpty, satisfaction == .running else { return [] }
            satisfaction = .ending
            return [.cancelSatisfaction]
        }
        _ = queue.remove(id: id)
        return []
    }

    private mutating func checkNext() -> [Action] {
        guard check == nil, let id = queue.popFirst() else { return [] }
        check = Check(id: id, generation: generation)
        return [.check(id)]
    }

    private mutating func startSatisfaction() -> [Action] {
        guard satisfaction == .idle, !waiting.isEmpty else { return [] }
        satisfaction = .running
        return [.satisfy]
    }

    private mutating func release() -> [ID]? {
        var ids: [ID] = []
        while let id = waiting.popFirst() { ids.append(id) }
        return ids.isEmpty ? nil : ids
    }
}

import SluiceHTTP

/// A gate for a constraint. It checks one request at a time, and satisfies the constraint
/// once for all waiting requests.
///
/// A client creates one for each of its ``APIClient/Configuration/constraints``. To share a constraint between clients,
/// add the same gate to the ``APIClient/Configuration/gates`` of each.
///
/// All events change one `ConstraintState` under a lock, so that a cancelled request leaves at once. With an actor it
/// would have to wait for its turn.
public final class ConstraintGate: Gate {
    typealias Waiter = UnsafeContinuation<Wake, Never>

    enum Wake: Sendable {
        case over(SluiceError?)
        /// Call `isSatisfied` within the task of the request, and wait again.
        case ask
    }

    /// A request that waits.
    struct Place {
        let request: RequestContext
        /// Nil while the request's task starts a check.
        var waiter: Waiter?
        /// The outcome that arrived while there was no waiter.
        var outcome: Wake?
    }

    /// The timer keeps running after the work is cancelled, because the work may ignore cancellation.
    typealias Satisfying = (work: Task<Void, Never>, timer: Task<Void, Never>?)

    struct State {
        var constraint = ConstraintState()
        var places: [Int: Place] = [:]
        var lastID = 0
        var question: (id: Int, task: Task<Void, Never>?, since: ContinuousClock.Instant)?
        var isWatched = false
        var satisfaction = 0
        var satisfying: Satisfying?
    }

    let constraint: any Constraint
    let state = Locked(State())

    /// Creates a gate for a constraint.
    public init(_ constraint: any Constraint) {
        self.constraint = constraint
    }

    /// The name of the constraint.
    public var name: String { constraint.name }
    /// The names of the constraints that must be satisfied first.
    public var needs: Set<String> { constraint.needs }
    /// False: the gate hands out no limited resource.
    public var holds: Bool { false }

    /// Waits until the constraint is satisfied.
    public func admit(_ request: RequestContext) async throws(SluiceError) -> Permit {
        let id = state.withLock { state in
            state.lastID += 1
            return state.lastID
        }
        defer { state.synchronize() }
        let failure = await withTaskCancellationHandler {
            var wake = await withUnsafeContinuation { arrive(id, $0, request) }
            while true {
                switch wake {
                case .over(let failure): return failure
                case .ask:
                    beginQuestion(id, request)
                    wake = await withUnsafeContinuation { waitOn(id, $0) }
                }
            }
        } onCancel: {
            leave(id)
        }
        if let failure { throw failure }
        return Permit()
    }

    private func arrive(_ id: Int, _ waiter: Waiter, _ request: RequestContext) {
        let actions = state.withLock { state -> [ConstraintState.Action]? in
            // Checked under the lock: a later cancellation finds the waiter.
            if Task.isCancelled { return nil }
            state.places[id] = Place(request: request, waiter: waiter)
            return state.constraint.arrived(id)
        }
        guard let actions else { return waiter.resume(returning: .over(.cancelled)) }
        perform(actions)
    }

    private func waitOn(_ id: Int, _ waiter: Waiter) {
        let outcome = state.withLock { state -> Wake? in
            guard let place = state.places[id] else { return .over(.cancelled) }
            if let outcome = place.outcome {
                state.places[id] = nil
                return outcome
            }
            state.places[id]?.waiter = waiter
            return nil
        }
        if let outcome { waiter.resume(returning: outcome) }
    }

    private func leave(_ id: Int) {
        let (waiter, actions) = state.withLock { state -> (Waiter?, [ConstraintState.Action]) in
            guard let place = state.places[id], place.outcome == nil else { return (nil, []) }
            state.places[id] = nil
            return (place.waiter, state.constraint.left(id))
        }
        perform(actions)
        waiter?.resume(returning: .over(.cancelled))
    }

    func perform(_ actions: [ConstraintState.Action], _ failure: SluiceError? = nil) {
        for action in actions {
            switch action {
            case .ask(let id): ask(id)
            case .cancelQuestion(let id):
                state.withLock { $0.question?.id == id ? $0.question?.task : nil }?.cancel()
            case .satisfy: satisfy()
            case .cancelSatisfaction: state.withLock { $0.satisfying }?.work.cancel()
            case .admit(let ids): resume(ids, nil)
            case .fail(let ids): resume(ids, failure ?? .gateTimedOut(name))
            }
        }
    }

    private func resume(_ ids: [Int], _ failure: SluiceError?) {
        let waiters = state.withLock { state in
            ids.compactMap { id -> Waiter? in
                guard let waiter = state.places[id]?.waiter else {
                    state.places[id]?.outcome = .over(failure)
                    return nil
                }
                state.places[id] = nil
                return waiter
            }
        }
        for waiter in waiters { waiter.resume(returning: .over(failure)) }
    }
}

// Calls `isSatisfied`, for one request at a time.
extension ConstraintGate {
    /// Resumes the request's own task to start the check.
    func ask(_ id: Int) {
        let (waiter, request) = state.withLock { state -> (Waiter?, RequestContext?) in
            guard let request = state.places[id]?.request else { return (nil, nil) }
            state.question = (id, nil, request.client.pipeline.time.now)
            return (state.places[id]?.waiter.take(), request)
        }
        // The request left before it was asked. The next one follows.
        guard let request else { return perform(state.withLock { $0.constraint.answered(id, false) }) }
        waiter?.resume(returning: .ask)
        watch(request.client.pipeline.time)
    }

    /// Calls `isSatisfied` in a separate task, so that the request can be cancelled while user code runs. Called from
    /// the request's task, whose task-local values and priority the new task inherits.
    func beginQuestion(_ id: Int, _ request: RequestContext) {
        let exemption = GateBypass(from: name, for: request)
        let task = Task { [self] in
            let isSatisfied = await exemption.whileActive { await constraint.isSatisfied(for: request) }
            perform(
                state.withLock { state in
                    if state.question?.id == id { state.question = nil }
                    return state.constraint.answered(id, isSatisfied)
                }
            )
        }
        let isWanted = state.withLock { state in
            if state.question?.id == id { state.question?.task = task }
            return state.places[id] != nil
        }
        if !isWanted { task.cancel() }
    }

    /// Starts a task that ends checks that take too long, so that they do not block all
    /// others. One task serves all checks.
    private func watch(_ time: any SluiceClock) {
        guard let timeout = constraint.timeout else { return }
        let begins = state.withLock { state in
            defer { state.isWatched = true }
            return !state.isWatched
        }
        guard begins else { return }
        Task.detached { [weak self] in
            var wait: Duration? = timeout
            while let next = wait {
                try? await time.sleep(for: next)
                wait = self?.unansweredSince(time.now, timeout)
            }
        }
    }

    /// Fails a check that exceeds the timeout. Returns the time until the next look, or nil if no check is running.
    private func unansweredSince(_ now: ContinuousClock.Instant, _ timeout: Duration) -> Duration? {
        let (actions, task, wait) = state.withLock {
            state -> ([ConstraintState.Action], Task<Void, Never>?, Duration?) in
            guard let question = state.question else {
                state.isWatched = false
                return ([], nil, nil)
            }
            let age = question.since.duration(to: now)
            guard age >= timeout else { return ([], nil, timeout - age) }
            state.question = nil
            return (state.constraint.unanswered(question.id), question.task, timeout)
        }
        task?.cancel()
        perform(actions)
        return wait
    }
}

// Runs `satisfy` once for all waiting requests.
extension ConstraintGate {
    /// Calls `satisfy` in a separate task, which continues after its request is cancelled while other requests wait.
    /// The task inherits the task-local values and the priority of the request that found the constraint not
    /// satisfied, but not its deadline.
    func satisfy() {
        let (number, request) = state.withLock { state in
            state.satisfaction += 1
            let first = state.constraint.firstWaiting
            return (state.satisfaction, first.flatMap { state.places[$0]?.request })
        }
        // All waiting requests have left meanwhile.
        guard let request else { return satisfactionEnded(number, nil) }
        let exemption = GateBypass(from: name, for: request)
        let work = Deadline.$current.withValue(nil) {
            Task { [self] in
                do {
                    try await exemption.whileActive { try await constraint.satisfy(for: request) }
                    satisfactionEnded(number, nil)
                } catch {
                    satisfactionEnded(number, .gate(name, failedWith: error))
                }
            }
        }
        let time = request.client.pipeline.time
        let timer = constraint.timeout.map { timeout in
            Task.detached { [self] in
                do { try await time.sleep(for: timeout) } catch { return }
                satisfactionEnded(number, .gateTimedOut(name))
            }
        }
        let (isWanted, isOver) = state.withLock { state in
            guard state.satisfaction == number else { return (false, true) }
            state.satisfying = (work, timer)
            return (!state.constraint.isCancelled, false)
        }
        if !isWanted { work.cancel() }
        if isOver { timer?.cancel() }
    }

    /// Resumes all waiting requests. The result of a call that already timed out is ignored.
    private func satisfactionEnded(_ number: Int, _ failure: SluiceError?) {
        let (actions, satisfying) = state.withLock { state -> ([ConstraintState.Action], Satisfying?) in
            guard state.satisfaction == number else { return ([], nil) }
            state.satisfaction += 1
            defer { state.satisfying = nil }
            return (failure == nil ? state.constraint.satisfied() : state.constraint.failed(), state.satisfying)
        }
        satisfying?.work.cancel()
        satisfying?.timer?.cancel()
        perform(actions, failure)
    }
}

extension Constraint {
    /// The gate that keeps requests back until the constraint is satisfied.
    var gate: any Gate { ConstraintGate(self) }
}

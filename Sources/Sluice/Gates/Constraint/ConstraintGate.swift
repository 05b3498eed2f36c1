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
    public func admit(_ request: RequestContext) async throws(SluiceError) -> Pass {
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
        return Pass()
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

import SluiceHTTP

/// A constraint as a gate: one question at a time, one satisfaction for all who wait.
///
/// A client makes one of each of its ``APIClient/Configuration/constraints``. Clients that are to share the wait are given the same
/// one among their ``APIClient/Configuration/gates``.
///
/// Arriving, leaving and the rest are changes of one `ConstraintState` under a lock, so that a cancelled request leaves at once;
/// an actor would have it wait for its turn.
public final class ConstraintGate: Gate {
    typealias Waiter = UnsafeContinuation<Wake, Never>

    enum Wake: Sendable {
        case over(SluiceError?)
        /// Ask whether the constraint is satisfied, within the task of the request, and wait again.
        case ask
    }

    /// A request that waits.
    struct Place {
        let request: RequestContext
        /// Nil while its task begins to ask.
        var waiter: Waiter?
        /// The outcome that came meanwhile.
        var outcome: Wake?
    }

    /// The timer goes on where the work has been cancelled, which may not heed it.
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

    /// Makes a gate of a constraint.
    public init(_ constraint: any Constraint) {
        self.constraint = constraint
    }

    /// The constraint's.
    public var name: String { constraint.name }
    /// The constraint's.
    public var needs: Set<String> { constraint.needs }
    /// Holds nothing.
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
            // Seen under the lock: a cancellation after this finds the waiter when it leaves.
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

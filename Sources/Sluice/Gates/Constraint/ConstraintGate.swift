import SluiceHTTP

/// A constraint as a gate: one question at a time, one satisfaction for all who wait.
///
/// A client makes one of each of its ``APIClient/Configuration/constraints``. Clients that are to share the wait are given the same
/// one among their ``APIClient/Configuration/gates``.
///
/// Arriving, leaving and the rest are changes of one `ConstraintState` under a lock, so that a cancelled request leaves at once;
/// an actor would have it wait for its turn.
public final class ConstraintGate: Gate {
    typealias Waiter = UnsafeContinuation<SluiceError?, Never>

    /// The timer goes on where the work has been cancelled, which may not heed it.
    typealias Satisfying = (work: Task<Void, Never>, timer: Task<Void, Never>?)

    struct State {
        var constraint = ConstraintState()
        var waiters: [Int: (waiter: Waiter, request: RequestContext)] = [:]
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
            await withUnsafeContinuation { arrive(id, $0, request) }
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
            state.waiters[id] = (waiter, request)
            return state.constraint.arrived(id)
        }
        guard let actions else { return waiter.resume(returning: .cancelled) }
        perform(actions)
    }

    private func leave(_ id: Int) {
        let (waiter, actions) = state.withLock { state -> (Waiter?, [ConstraintState.Action]) in
            guard let waiter = state.waiters.removeValue(forKey: id)?.waiter else { return (nil, []) }
            return (waiter, state.constraint.left(id))
        }
        perform(actions)
        waiter?.resume(returning: .cancelled)
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
            ids.compactMap { state.waiters.removeValue(forKey: $0)?.waiter }
        }
        for waiter in waiters { waiter.resume(returning: failure) }
    }
}

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
    private var waiting: [ID] = []
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
        waiting.append(id)
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
        if let index = waiting.firstIndex(of: id) {
            waiting.remove(at: index)
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
        defer { waiting = [] }
        return waiting.isEmpty ? nil : waiting
    }
}

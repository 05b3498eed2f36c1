/// Who waits for a constraint and for what: a value that is told what happens and says what to do.
///
///     arrived ──▶ queued ──ask──▶ asked ──true──▶ admitted
///                                   └──false──▶ waiting ──satisfied──▶ admitted
///                                                  └──failed──▶ failed
///
/// One question is out at a time, and one satisfaction runs at a time, also where nobody waits for its end any longer: the one
/// that was cancelled may still be changing what the next one builds on.
struct ConstraintState {
    typealias ID = Int

    enum Action: Equatable {
        /// Ask whether the constraint is satisfied for this request.
        case ask(ID)
        /// Stop asking: nobody wants to know.
        case cancelQuestion(ID)
        /// Satisfy it for the first of those who wait, and all others.
        case satisfy
        /// Stop satisfying it: nobody waits.
        case cancelSatisfaction
        case admit([ID])
        case fail([ID])
    }

    private enum Satisfaction: Equatable {
        case idle
        case running
        /// Cancelled, but not over.
        case ending
    }

    private struct Question {
        let id: ID
        /// How often the constraint had been satisfied when it was asked.
        let generation: Int
        /// False once the request has left.
        var isWanted = true
    }

    private var queue = WaitingLine<ID>()
    private var question: Question?
    private var waiting: [ID] = []
    private var satisfaction = Satisfaction.idle
    private var generation = 0

    /// The request that has waited longest for a satisfaction.
    var firstWaiting: ID? { waiting.first }
    /// Whether the satisfaction that runs is one that nobody waited for the end of.
    var isCancelled: Bool { satisfaction == .ending }
    /// Whether nobody is here and nothing runs.
    var isIdle: Bool { question == nil && queue.isEmpty && waiting.isEmpty && satisfaction == .idle }

    mutating func arrived(_ id: ID) -> [Action] {
        queue.append(id, id: id)
        return askNext()
    }

    /// A question is answered.
    mutating func answered(_ id: ID, _ isSatisfied: Bool) -> [Action] {
        guard let asked = question, asked.id == id else { return [] }
        question = nil
        guard asked.isWanted else { return askNext() }
        if isSatisfied { return [.admit([id])] + askNext() }
        if asked.generation != generation {
            // It was satisfied while the question was out: the answer may be of before.
            queue.append(id, id: id)
            return askNext()
        }
        waiting.append(id)
        return startSatisfaction() + askNext()
    }

    /// A question was not answered in time.
    mutating func unanswered(_ id: ID) -> [Action] {
        guard let asked = question, asked.id == id else { return [] }
        question = nil
        return (asked.isWanted ? [.fail([id])] : []) + askNext()
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
        // Those who came after the cancellation have not been failed by anything yet.
        case .ending: return waiting.isEmpty ? [] : startSatisfaction()
        case .running: return release().map { [.fail($0)] } ?? []
        }
    }

    /// A request gives up, wherever it stands.
    mutating func left(_ id: ID) -> [Action] {
        if question?.id == id {
            question?.isWanted = false
            return [.cancelQuestion(id)]
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

    private mutating func askNext() -> [Action] {
        guard question == nil, let id = queue.popFirst() else { return [] }
        question = Question(id: id, generation: generation)
        return [.ask(id)]
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

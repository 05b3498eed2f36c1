import SluiceHTTP

/// The passes of one attempt, and how it comes by them.
struct Admission: Sendable {
    private(set) var passes: [(gate: String, pass: Pass)] = []

    /// Asks the gates that need not wait; false as soon as one has to, with the passes so far.
    mutating func admitImmediately(_ context: RequestContext, _ gates: [any ImmediateGate], _ sending: Sending) -> Bool
    {
        for gate in gates where !sending.skips(gate.name) {
            guard let pass = gate.admitImmediately(context) else { return false }
            take(pass, from: gate.name, context, sending)
        }
        return true
    }

    /// Asks all gates that have not admitted it yet. The passes so far are kept where one refuses.
    mutating func admit(_ context: RequestContext, _ sending: Sending) async throws(SluiceError) {
        let steps = sending.steps
        if let failure = steps.failure { throw failure.with(step: .gate, request: context.request) }
        let conditions = steps.conditions.filter { isOpen($0.name, sending) }
        do {
            if conditions.count > 1 {
                try await admitTogether(context, conditions, sending)
            } else if let gate = conditions.first {
                try await admit(context, gate, sending)
            }
            for gate in steps.holding where isOpen(gate.name, sending) { try await admit(context, gate, sending) }
        } catch {
            throw error.with(step: .gate, request: context.request)
        }
    }

    /// Gives all passes back, the last one first. Returns whether a gate wants the request sent again.
    func giveBack(_ outcome: TransportOutcome, _ sending: Sending) async -> Bool {
        var isReplayed = false
        for (gate, pass) in passes.reversed() {
            if await pass.giveBack(outcome) == .replay, sending.mayReplay(for: gate) { isReplayed = true }
        }
        return isReplayed
    }

    /// The same, where none takes waiting.
    func giveBackImmediately(_ outcome: TransportOutcome, _ sending: Sending) -> Bool {
        var isReplayed = false
        for (gate, pass) in passes.reversed() {
            if pass.giveBackImmediately(outcome) == .replay, sending.mayReplay(for: gate) { isReplayed = true }
        }
        return isReplayed
    }

    var takesWaiting: Bool { passes.contains { $0.pass.takesWaiting } }

    /// Lets the gates add what only they know.
    func sign(_ request: inout HTTPRequest) {
        for (_, pass) in passes { pass.signing?(&request) }
    }

    private func isOpen(_ gate: String, _ sending: Sending) -> Bool {
        !passes.contains { $0.gate == gate } && !sending.skips(gate)
    }

    private mutating func take(_ pass: Pass, from gate: String, _ context: RequestContext, _ sending: Sending) {
        passes.append((gate, pass))
        sending.tell(.gates, context.attempt) { .admitted(gate: gate) }
    }

    private mutating func admit(
        _ context: RequestContext,
        _ gate: any Gate,
        _ sending: Sending
    ) async throws(SluiceError) {
        take(try await Admission.pass(from: gate, context, sending), from: gate.name, context, sending)
    }

    private static func pass(
        from gate: any Gate,
        _ context: RequestContext,
        _ sending: Sending
    ) async throws(SluiceError) -> Pass {
        sending.tell(.gates, context.attempt) { .waiting(gate: gate.name) }
        do {
            return try await gate.admit(context)
        } catch {
            sending.tell(.gates, context.attempt) { .refused(gate: gate.name, error) }
            throw error
        }
    }

    /// Asks gates at once, but each after those it needs. The first that refuses has the others give up.
    private mutating func admitTogether(
        _ context: RequestContext,
        _ gates: [any Gate],
        _ sending: Sending
    ) async throws(SluiceError) {
        typealias Answer = (gate: any Gate, result: Result<Pass, SluiceError>)
        var failure: SluiceError?
        var left = gates
        await withTaskGroup(of: Answer.self) { group in
            var asked = 0
            func askReady() {
                let open = Set(gates.map(\.name)).subtracting(passes.map(\.gate))
                let ready = left.filter { $0.needs.isDisjoint(with: open) }
                left.removeAll { gate in ready.contains { $0.name == gate.name } }
                asked += ready.count
                for gate in ready {
                    group.addTask {
                        do throws(SluiceError) {
                            return (gate, .success(try await Admission.pass(from: gate, context, sending)))
                        } catch {
                            return (gate, .failure(error))
                        }
                    }
                }
            }
            askReady()
            while asked > 0, let answer = await group.next() {
                asked -= 1
                switch answer.result {
                case .success(let pass):
                    take(pass, from: answer.gate.name, context, sending)
                    if failure == nil { askReady() }
                case .failure(let error):
                    if failure == nil { failure = error }
                    group.cancelAll()
                }
            }
        }
        if let failure { throw failure }
    }
}

import SluiceHTTP

/// The permits of one attempt to send a request, and the steps that obtain them.
struct Admission: Sendable {
    /// The permits with the index of their gate among all gates of the client, because two gates may share a name.
    private(set) var passes: [(gate: Int, pass: Permit)] = []

    /// Asks the gates without waiting. Returns false at the first gate that needs to wait,
    /// and keeps the permits so far.
    mutating func admitImmediately(_ context: RequestContext, _ gates: [any ImmediateGate], _ call: Call) -> Bool {
        for (place, gate) in gates.enumerated() where !call.skips(gate.name) {
            guard let pass = gate.admitImmediately(context) else { return false }
            take(pass, from: place, context, call)
        }
        return true
    }

    /// Asks all gates that have not admitted the request yet. If one refuses, the permits so far are kept.
    mutating func admit(_ context: RequestContext, _ call: Call) async throws(SluiceError) {
        let steps = call.steps
        if let failure = steps.failure { throw failure.with(step: .gate, request: context.request) }
        let conditions = (0..<steps.conditionCount).filter { isOpen($0, call) }
        do {
            if conditions.count > 1 {
                try await admitTogether(context, conditions, call)
            } else if let place = conditions.first {
                try await admit(context, place, call)
            }
            for place in steps.conditionCount..<steps.gates.count where isOpen(place, call) {
                try await admit(context, place, call)
            }
        } catch {
            throw error.with(step: .gate, request: context.request)
        }
    }

    /// Releases all permits in reverse order. Returns true if a gate wants the request to be sent again.
    func release(_ outcome: TransportOutcome, _ call: Call) async -> Bool {
        let outcome = outcome.ofServer
        var isReplayed = false
        for (gate, pass) in passes.reversed() {
            if await pass.release(outcome) == .replay, call.mayReplay(for: gate) { isReplayed = true }
        }
        return isReplayed
    }

    /// Releases all permits in reverse order, where no release is asynchronous. Returns true if a gate wants
    /// the request to be sent again.
    func releaseImmediately(_ outcome: TransportOutcome, _ call: Call) -> Bool {
        let outcome = outcome.ofServer
        var isReplayed = false
        for (gate, pass) in passes.reversed() {
            if pass.releaseImmediately(outcome) == .replay, call.mayReplay(for: gate) { isReplayed = true }
        }
        return isReplayed
    }

    var takesWaiting: Bool { passes.contains { $0.pass.takesWaiting } }

    /// Applies the changes that the gates make to a request, such as adding a token.
    func sign(_ request: inout HTTPRequest) {
        for (_, pass) in passes { pass.signing?(&request) }
    }

    private func isOpen(_ place: Int, _ call: Call) -> Bool {
        !passes.contains { $0.gate == place } && !call.skips(call.steps.gates[place].name)
    }

    private mutating func take(_ pass: Permit, from place: Int, _ context: RequestContext, _ call: Call) {
        passes.append((place, pass))
        call.notify(.gates, context.attempt) { .admitted(gate: call.steps.gates[place].name) }
    }

    private mutating func admit(
        _ context: RequestContext,
        _ place: Int,
        _ call: Call
    ) async throws(SluiceError) {
        take(
            try await Admission.pass(from: call.steps.gates[place], context, call),
            from: place,
            context,
            call
        )
    }

    private static func pass(
        from gate: any Gate,
        _ context: RequestContext,
        _ call: Call
    ) async throws(SluiceError) -> Permit {
        call.notify(.gates, context.attempt) { .waiting(gate: gate.name) }
        call.beginStage(.gate(gate.name))
        defer { call.leave(gate: gate.name) }
        do {
            return try await gate.admit(context)
        } catch {
            call.notify(.gates, context.attempt) { .refused(gate: gate.name, error) }
            throw error
        }
    }

    /// Asks gates concurrently, each one after the gates it needs. The first refusal cancels the others.
    private mutating func admitTogether(
        _ context: RequestContext,
        _ places: [Int],
        _ call: Call
    ) async throws(SluiceError) {
        let gates = call.steps.gates
        var failure: SluiceError?
        var left = places
        var open = places
        await withTaskGroup(of: (Int, Result<Permit, SluiceError>).self) { group in
            func askReady() {
                let names = Set(open.map { gates[$0].name })
                for place in left where gates[place].needs.isDisjoint(with: names) {
                    group.addTask {
                        do throws(SluiceError) {
                            return (place, .success(try await Admission.pass(from: gates[place], context, call)))
                        } catch {
                            return (place, .failure(error))
                        }
                    }
                }
                left.removeAll { gates[$0].needs.isDisjoint(with: names) }
            }
            askReady()
            while let (place, result) = await group.next() {
                switch result {
                case .success(let pass):
                    take(pass, from: place, context, call)
                    open.removeAll { $0 == place }
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

/// Lets the requests that a gate sends through its own client bypass that gate, which would otherwise deadlock.
///
/// The bypass is a task-local value, and applies only while the gate's work runs.
final class GateBypass: Sendable {
    /// The bypasses of the gate work that the current task belongs to.
    @TaskLocal static var current: [GateBypass] = []

    private let gate: String
    private let pipeline: ObjectIdentifier
    private let before: [GateBypass]
    private let isActive = Locked(false)

    /// Creates a bypass of a gate for its work on a request. Bypasses that already apply to the request are kept.
    init(from gate: String, for request: RequestContext) {
        self.gate = gate
        pipeline = ObjectIdentifier(request.client.pipeline)
        before = request.exemptions
    }

    func whileActive<Value>(_ work: () async throws -> Value) async rethrows -> Value {
        isActive.withLock { $0 = true }
        defer { isActive.withLock { $0 = false } }
        return try await GateBypass.$current.withValue(before + [self]) { try await work() }
    }

    /// True if the bypass is active and applies to this gate of this client.
    func covers(_ gate: String, of pipeline: Pipeline) -> Bool {
        self.gate == gate && self.pipeline == ObjectIdentifier(pipeline) && isActive.withLock { $0 }
    }
}

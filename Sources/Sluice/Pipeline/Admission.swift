import SluiceHTTP

/// The permits of one attempt to send a request, and the steps that obtain them.
struct Admission: Sendable {
    /// The permits with the index of their gate among all gates of the client, because two gates may have one name.
    private(set) var permits: [(gate: Int, permit: Permit)] = []
    /// The last redirect that a server has sent and that was followed; nil if there was none.
    private var redirect: Recorded?
    /// The outcome for the gates, if response interceptors or plugins may change that of the attempt.
    private var recorded: Recorded?

    /// A value in an allocation of its own, because few admissions have one.
    private final class Recorded: Sendable {
        let outcome: TransportOutcome

        init(_ outcome: TransportOutcome) {
            self.outcome = outcome
        }
    }

    /// Asks the gates without waiting. Returns false at the first gate that has to wait, and keeps the permits so far.
    mutating func admitImmediately(_ context: RequestContext, _ gates: [any ImmediateGate], _ call: Call) -> Bool {
        permits.reserveCapacity(gates.count)
        for (index, gate) in gates.enumerated() where !call.skips(gate) {
            guard let permit = gate.admitImmediately(context) else { return false }
            add(permit, from: index, context, call, .immediateAdmissions)
        }
        return true
    }

    /// Asks all gates that have not admitted the request yet. If one refuses, the permits so far are kept.
    mutating func admit(_ context: RequestContext, _ call: Call) async throws(SluiceError) {
        let steps = call.steps
        if let failure = steps.failure { throw failure.with(step: .gate, request: context.request) }
        let conditions = (0..<steps.conditionCount).filter { isPending($0, call) }
        do {
            if conditions.count > 1 {
                try await admitTogether(context, conditions, call)
            } else if let index = conditions.first {
                try await admit(context, index, call)
            }
            for index in steps.conditionCount..<steps.gates.count where isPending(index, call) {
                try await admit(context, index, call)
            }
        } catch {
            throw error.with(step: .gate, request: context.request)
        }
    }

    /// Records a redirect that a server has sent and that was followed.
    mutating func record(redirect: ServerResponse) {
        if !permits.isEmpty { self.redirect = Recorded(.success(redirect)) }
    }

    /// Records the outcome that the permits are released with. What response interceptors and plugins make of it says
    /// nothing about the server.
    mutating func record(_ outcome: TransportOutcome) {
        if !permits.isEmpty { recorded = Recorded(serverOutcome(outcome)) }
    }

    private func serverOutcome(_ outcome: TransportOutcome) -> TransportOutcome {
        recorded?.outcome ?? outcome.asServerOutcome(after: try? redirect?.outcome.get())
    }

    /// Releases all permits in reverse order.
    ///
    /// - Parameters:
    ///   - outcome: The outcome to release them with if none was recorded.
    ///   - call: The state shared by all attempts.
    /// - Returns: True if a gate asks for a replay.
    func release(_ outcome: TransportOutcome, _ call: Call) async -> Bool {
        if permits.isEmpty { return false }
        let outcome = serverOutcome(outcome)
        var isReplayed = false
        let clock = call.client.pipeline.clock
        for (gate, permit) in permits.reversed() {
            let left = call.deadline.map { max(.zero, clock.now.duration(to: $0)) }
            if await permit.release(outcome, within: left, on: clock) == .replay, call.mayReplay(for: gate) {
                isReplayed = true
            }
        }
        return isReplayed
    }

    /// Releases all permits in reverse order, where no release is asynchronous. Returns true if a gate asks for a
    /// replay.
    func releaseImmediately(_ outcome: TransportOutcome, _ call: Call) -> Bool {
        if permits.isEmpty { return false }
        let outcome = serverOutcome(outcome)
        var isReplayed = false
        for (gate, permit) in permits.reversed() {
            if permit.releaseImmediately(outcome) == .replay, call.mayReplay(for: gate) { isReplayed = true }
        }
        return isReplayed
    }

    /// The concurrency limits of which the attempt holds slots.
    func limits(_ call: Call) -> [ObjectIdentifier] {
        permits.filter(\.permit.isSlot).map { ObjectIdentifier(call.steps.gates[$0.gate] as AnyObject) }
    }

    /// True if the release of a permit is asynchronous.
    var isAsynchronous: Bool { permits.contains { $0.permit.isAsynchronous } }

    /// Applies the changes that the gates make to a request, such as adding a token. A gate that chooses another origin keeps the
    /// credentials that earlier steps have added only if they are for that origin too.
    func sign(_ request: inout HTTPRequest, _ context: RequestContext, _ call: Call) {
        for (_, permit) in permits {
            guard let modify = permit.modifyRequest else { continue }
            if permit.isToken {
                modify(&request)
                continue
            }
            let before = request
            modify(&request)
            guard request.scheme != before.scheme || request.authority != before.authority else { continue }
            for name in [.authorization] + call.steps.secretHeaders {
                let value = request.headers[name]
                if value == nil || value != before.headers[name] || value == call.request.headers[name] { continue }
                if !call.steps.mayKeep(name, of: before, in: request, context) { request.headers.remove(name) }
            }
        }
    }

    private func isPending(_ index: Int, _ call: Call) -> Bool {
        !permits.contains { $0.gate == index } && !call.skips(call.steps.gates[index])
    }

    private mutating func add(
        _ permit: Permit,
        from index: Int,
        _ context: RequestContext,
        _ call: Call,
        _ kind: RequestEvent.Kinds = .waits
    ) {
        permits.append((index, permit))
        call.notify(kind, context.attempt) { .admitted(gate: call.steps.gates[index].name) }
    }

    private mutating func admit(_ context: RequestContext, _ index: Int, _ call: Call) async throws(SluiceError) {
        add(try await Admission.permit(from: call.steps.gates[index], context, call), from: index, context, call)
    }

    private static func permit(
        from gate: any Gate,
        _ context: RequestContext,
        _ call: Call
    ) async throws(SluiceError) -> Permit {
        call.notify(.waits, context.attempt) { .waiting(gate: gate.name) }
        call.beginStage(.gate(gate.name))
        defer { call.leave(gate: gate.name) }
        do {
            return try await gate.admit(context)
        } catch {
            var error = error
            // The total time-out cancels the wait. A gate that is cancelled may report any error.
            if call.isOverdue, error.isCancellation || Task.isCancelled {
                error = .totalTimedOut(call)
            } else if Task.isCancelled, !error.isCancellation {
                error = .cancelled.with(step: .gate)
            }
            call.notify(.waits, context.attempt) { .refused(gate: gate.name, error) }
            throw error
        }
    }

    /// Asks gates concurrently, each one after the gates it needs. The first refusal cancels the others.
    private mutating func admitTogether(
        _ context: RequestContext,
        _ indexes: [Int],
        _ call: Call
    ) async throws(SluiceError) {
        let gates = call.steps.gates
        var failure: SluiceError?
        var unasked = indexes
        var pending = indexes
        await withTaskGroup(of: (Int, Result<Permit, SluiceError>).self) { group in
            func askReadyGates() {
                let names = Set(pending.map { gates[$0].name })
                for index in unasked where gates[index].needs.isDisjoint(with: names) {
                    group.addTask {
                        let permit = await Result.of { () async throws(SluiceError) in
                            try await Admission.permit(from: gates[index], context, call)
                        }
                        return (index, permit)
                    }
                }
                unasked.removeAll { gates[$0].needs.isDisjoint(with: names) }
            }
            askReadyGates()
            while let (index, result) = await group.next() {
                switch result {
                case .success(let permit):
                    add(permit, from: index, context, call)
                    pending.removeAll { $0 == index }
                    if failure == nil { askReadyGates() }
                case .failure(let error):
                    if failure == nil { failure = error }
                    group.cancelAll()
                }
            }
        }
        if let failure { throw failure }
    }
}

/// Lets the requests that a gate sends through its clients bypass that gate, which would otherwise wait for itself.
/// Requests that a constraint sends through a client bypass all constraints of that client, because two constraints
/// that run at once would wait for each other.
///
/// The bypass is a task-local value, and applies only while the gate's work runs.
final class GateBypass: Sendable {
    /// The bypasses of the gate work that the current task belongs to.
    @TaskLocal static var current: [GateBypass] = []

    private let gate: ObjectIdentifier
    private let name: String
    private let isConstraint: Bool
    private let pipeline: ObjectIdentifier?
    private let outer: [GateBypass]
    private let isActive = Locked(false)

    /// Creates a bypass of a gate for its work on a request; nil for work that the program starts without a request.
    /// Bypasses that already apply to the request or to the current task are kept.
    init(from gate: any Gate & AnyObject, for request: RequestContext?) {
        self.gate = ObjectIdentifier(gate)
        name = gate.name
        isConstraint = gate is any ConstrainingGate
        pipeline = request.map { ObjectIdentifier($0.client.pipeline) }
        outer = request?.bypasses ?? Self.current
    }

    /// Performs work of the gate. Its requests bypass the gate until it ends.
    func whileActive<Value>(_ work: () async throws -> Value) async rethrows -> Value {
        isActive.withLock { $0 = true }
        defer { isActive.withLock { $0 = false } }
        return try await GateBypass.$current.withValue(outer + [self]) { try await work() }
    }

    /// True if the bypass is active and applies to this gate of this client: to the gate itself wherever clients share
    /// it, and to gates with its name, or to all constraints, of the client that sent the request.
    func covers(_ gate: any Gate, of pipeline: Pipeline) -> Bool {
        let isSameGate = (gate as? any Gate & AnyObject).map(ObjectIdentifier.init) == self.gate
        let isSameKind = gate.name == name || isConstraint && gate is any ConstrainingGate
        let isSameClient = self.pipeline == ObjectIdentifier(pipeline)
        return (isSameGate || isSameKind && isSameClient) && isActive.withLock { $0 }
    }
}

import SluiceHTTP

/// Lets the requests that a gate's own work sends through the client pass that gate, which would wait for itself else.
///
/// It travels with the task that does the work, and holds as long as the work lasts.
final class Exemption: Sendable {
    /// Those of the work that the current task is a part of.
    @TaskLocal static var current: [Exemption] = []

    private let gate: String
    private let pipeline: ObjectIdentifier
    private let before: [Exemption]
    private let isActive = Locked(false)

    /// Makes an exemption from a gate for what it does for a request, besides those that the request has.
    init(from gate: String, for request: RequestContext) {
        self.gate = gate
        pipeline = ObjectIdentifier(request.client.pipeline)
        before = request.exemptions
    }

    func whileActive<Value>(_ work: () async throws -> Value) async rethrows -> Value {
        isActive.withLock { $0 = true }
        defer { isActive.withLock { $0 = false } }
        return try await Exemption.$current.withValue(before + [self]) { try await work() }
    }

    /// Whether it is from this gate of a client.
    func covers(_ gate: String, of pipeline: Pipeline) -> Bool {
        self.gate == gate && self.pipeline == ObjectIdentifier(pipeline) && isActive.withLock { $0 }
    }
}

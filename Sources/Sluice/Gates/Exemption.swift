import SluiceHTTP

/// Lets the requests that a gate sends through its own client bypass that gate, which would otherwise deadlock.
///
/// The bypass is a task-local value, and applies only while the gate's work runs.
final class Exemption: Sendable {
    /// The bypasses of the gate work that the current task belongs to.
    @TaskLocal static var current: [Exemption] = []

    private let gate: String
    private let pipeline: ObjectIdentifier
    private let before: [Exemption]
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
        return try await Exemption.$current.withValue(before + [self]) { try await work() }
    }

    /// True if the bypass is active and applies to this gate of this client.
    func covers(_ gate: String, of pipeline: Pipeline) -> Bool {
        self.gate == gate && self.pipeline == ObjectIdentifier(pipeline) && isActive.withLock { $0 }
    }
}

import SluiceHTTP

/// Requests and other work that depend on each other's results. Steps whose dependencies have ended run in parallel.
///
/// ```swift
/// var graph = RequestGraph()
/// let user = graph.add("user", github.codable.get("user", as: User.self))
/// let repos = graph.add("repos", after: user) { user in
///     github.codable.get("users/\(user.name)/repos", as: [Repo].self)
/// }
/// let summary = graph.add("summary", after: user, repos) { user, repos in
///     "\(user.name) has \(repos.count) repositories."
/// }
/// print(try await graph.run().value(of: summary))
/// ```
///
/// A graph is a value: adding a step changes it, running it does not, and it can run again. A step receives the results
/// of its dependencies with their types. Each request is sent by its own client. Missing or duplicate names and cycles
/// are reported before anything is sent.
public struct RequestGraph: Sendable {
    /// Performs a step with the values of its dependencies, in order.
    typealias Work = @Sendable (GraphInputs) async throws -> any Sendable

    private(set) var plans: [GraphPlan.Step] = []
    private(set) var works: [Work] = []

    /// Creates a graph without steps.
    public init() {}

    /// The names of the steps, in the order in which they were added.
    public var names: [String] { plans.map(\.name) }

    /// Adds a request without dependencies.
    ///
    /// - Parameters:
    ///   - step: The name of the step, or the step itself if steps that depend on it were added before.
    ///   - request: The request to send.
    /// - Returns: The step, as a dependency for other steps.
    @discardableResult
    public mutating func add<Value: Sendable, ErrorModel: ErrorSerializable>(
        _ step: GraphStep<Value>,
        _ request: APIRequest<Value, ErrorModel>
    ) -> GraphStep<Value> {
        append(step, []) { _ in GraphValue(try await request.sender().value) }
    }

    /// Adds a request that is created from the results of other steps.
    ///
    /// - Parameters:
    ///   - step: The name of the step, or the step itself if steps that depend on it were added before.
    ///   - dependency: The steps that it depends on.
    ///   - request: Creates the request from their results. An error it throws fails the step.
    /// - Returns: The step, as a dependency for other steps.
    @discardableResult
    public mutating func add<each Dependency: Sendable, Value: Sendable, ErrorModel: ErrorSerializable>(
        _ step: GraphStep<Value>,
        after dependency: repeat GraphStep<each Dependency>,
        request: @escaping @Sendable (repeat each Dependency) async throws -> APIRequest<Value, ErrorModel>
    ) -> GraphStep<Value> {
        append(step, GraphPlan.needs(repeat each dependency)) { inputs in
            var inputs = inputs
            let request = try await request(repeat try inputs.next((each Dependency).self))
            return GraphValue(try await request.sender().value)
        }
    }

    /// Adds work of any kind.
    ///
    /// - Parameters:
    ///   - step: The name of the step, or the step itself if steps that depend on it were added before.
    ///   - dependency: The steps that it depends on.
    ///   - perform: Computes the step's value from their results, in a task that is cancelled with the graph. An error
    ///     it throws fails the step.
    /// - Returns: The step, as a dependency for other steps.
    @_disfavoredOverload
    @discardableResult
    public mutating func add<each Dependency: Sendable, Value: Sendable>(
        _ step: GraphStep<Value>,
        after dependency: repeat GraphStep<each Dependency>,
        perform: @escaping @Sendable (repeat each Dependency) async throws -> Value
    ) -> GraphStep<Value> {
        append(step, GraphPlan.needs(repeat each dependency)) { inputs in
            var inputs = inputs
            return GraphValue(try await perform(repeat try inputs.next((each Dependency).self)))
        }
    }

    private mutating func append<Value>(
        _ step: GraphStep<Value>,
        _ needs: [GraphPlan.Need],
        _ work: @escaping Work
    ) -> GraphStep<Value> {
        plans.append(GraphPlan.Step(name: step.name, gives: GraphType(Value.self), needs: needs))
        works.append(work)
        return step
    }
}

/// The value of a step. A class, because a cast back to its type takes only a few nanoseconds.
final class GraphValue<Value: Sendable>: Sendable {
    let value: Value

    init(_ value: Value) {
        self.value = value
    }
}

/// The values of a step's dependencies, read one after the other.
struct GraphInputs: Sendable {
    let values: [any Sendable]
    private var position = 0

    init(_ values: [any Sendable]) {
        self.values = values
    }

    mutating func next<Value: Sendable>(_ type: Value.Type) throws -> Value {
        defer { position += 1 }
        guard position < values.count, let found = values[position] as? GraphValue<Value> else {
            throw SluiceError(.internalFailure, "A step of the graph has no value of the type \(Value.self).")
        }
        return found.value
    }
}

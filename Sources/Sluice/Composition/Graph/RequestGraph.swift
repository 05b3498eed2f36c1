import SluiceHTTP

/// Requests and other work that need each other's results: what is ready runs at once, in parallel.
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
/// A value: adding changes it, running does not, and it can be run again. A step gets the results of those it comes after, by their types;
/// each request is sent by its own client. Names that are missing, said twice or in a circle are reported before anything is sent.
public struct RequestGraph: Sendable {
    /// Does a step's work with the values of what it needs, in their order.
    typealias Work = @Sendable (GraphInputs) async throws -> any Sendable

    private(set) var plans: [GraphPlan.Step] = []
    private(set) var works: [Work] = []

    /// Makes a graph without steps.
    public init() {}

    /// The names of the steps, in the order in which they were added.
    public var names: [String] { plans.map(\.name) }

    /// Adds a request that needs nothing of other steps.
    ///
    /// - Parameters:
    ///   - step: Its name; or the step, where others have been added that come after it.
    ///   - request: What to send.
    /// - Returns: The step, for those that need its model.
    @discardableResult
    public mutating func add<Value: Sendable, ErrorModel: ErrorSerializable>(
        _ step: GraphStep<Value>,
        _ request: APIRequest<Value, ErrorModel>
    ) -> GraphStep<Value> {
        append(step, []) { _ in GraphValue(try await request.sender().value) }
    }

    /// Adds a request that is made of the results of other steps.
    ///
    /// - Parameters:
    ///   - step: Its name; or the step, where others have been added that come after it.
    ///   - dependency: The steps it comes after.
    ///   - request: Makes the request of their results; what it throws fails the step.
    /// - Returns: The step, for those that need its model.
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
    ///   - step: Its name; or the step, where others have been added that come after it.
    ///   - dependency: The steps it comes after.
    ///   - perform: Makes the step's value of their results, in a task that is cancelled where the graph is; what it throws fails the
    ///     step.
    /// - Returns: The step, for those that need its value.
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

/// What a step gives; a class, since that is found again by its type in a few nanoseconds.
final class GraphValue<Value: Sendable>: Sendable {
    let value: Value

    init(_ value: Value) {
        self.value = value
    }
}

/// The values of what a step needs, one after the other.
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

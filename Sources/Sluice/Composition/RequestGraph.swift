import SluiceFoundation
import SluiceHTTP

/// Requests and other work that depend on each other's results. Steps whose dependencies have ended run in parallel.
///
/// ```swift
/// var graph = RequestGraph()
/// let user = graph.add("user", github.codable.get("user", as: User.self))
/// let repos = graph.add("repos", after: user) { user in
///     github.codable.get("user/\(user.id)/repos", as: [Repo].self)
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
    var names: [String] { plans.map(\.name) }

    /// Adds a request without dependencies.
    ///
    /// - Parameters:
    ///   - step: The name of the step, or the step itself if steps that depend on it were added before.
    ///   - request: The request to send.
    /// - Returns: The step, as a dependency for other steps.
    @discardableResult
    public mutating func add<Request: TypedRequest>(
        _ step: GraphStep<Request.Model>,
        _ request: Request
    ) -> GraphStep<Request.Model> {
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
    public mutating func add<each Dependency: Sendable, Request: TypedRequest>(
        _ step: GraphStep<Request.Model>,
        after dependency: repeat GraphStep<each Dependency>,
        request: @escaping @Sendable (repeat each Dependency) async throws -> Request
    ) -> GraphStep<Request.Model> {
        append(step, GraphPlan.needs(repeat each dependency)) { inputs in
            var inputs = inputs
            let request = try await request(repeat try inputs.next((each Dependency).self))
            return GraphValue(try await request.sender().value)
        }
    }

    /// Adds a download that is created from the results of other steps. The value of the step is that of the download.
    ///
    /// - Parameters:
    ///   - step: The name of the step, or the step itself if steps that depend on it were added before.
    ///   - dependency: The steps that it depends on.
    ///   - download: Creates the download from their results. An error it throws fails the step.
    /// - Returns: The step, as a dependency for other steps.
    @discardableResult
    public mutating func add<each Dependency: Sendable, Model: Sendable, ErrorModel: ErrorSerializable>(
        _ step: GraphStep<Model>,
        after dependency: repeat GraphStep<each Dependency>,
        download: @escaping @Sendable (repeat each Dependency) async throws -> DownloadAPIRequest<Model, ErrorModel>
    ) -> GraphStep<Model> {
        append(step, GraphPlan.needs(repeat each dependency)) { inputs in
            var inputs = inputs
            let download = try await download(repeat try inputs.next((each Dependency).self))
            return GraphValue(try await download.sender().value)
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
        plans.append(GraphPlan.Step(name: step.name, output: GraphType(Value.self), needs: needs))
        works.append(work)
        return step
    }
}

extension RequestGraph {
    /// Runs all steps, each as soon as its dependencies have ended.
    ///
    /// ```swift
    /// let results = try await graph.run(failsFast: false)
    /// for failure in results.failures { print(failure) }
    /// ```
    ///
    /// - Parameters:
    ///   - maximumInFlight: The maximum number of steps that run at once, at least 1; 16 by default.
    ///   - failsFast: True to cancel the other steps and their transfers after the first failure, and to fail the
    ///     graph; true by default. Otherwise all steps that do not depend on it run, and the results contain the
    ///     failures.
    /// - Returns: The values of the steps. A graph without steps returns at once.
    /// - Throws: The defects of the graph, before anything is sent; with `failsFast`, the failure of the step that
    ///   failed first, or a cancellation if the calling task was cancelled. Without it, cancelled steps are failures.
    public func run(maximumInFlight: Int = 16, failsFast: Bool = true) async throws(GraphFailure) -> GraphResults {
        let plan = try GraphPlan(plans)
        let run = await GraphRun(works: works, plan: plan, limit: max(1, maximumInFlight), failsFast: failsFast)
            .outcomes()
        if let first = run.firstFailure { throw GraphFailure(step: plans[first.position].name, first.error) }
        if run.isCancelled, failsFast { throw GraphFailure(SluiceError.cancelled) }
        return GraphResults(names, plan.positions, outcomes(run.outcomes, plan))
    }

    /// Adds the reasons to the steps that did not run.
    private func outcomes(_ outcomes: [GraphResults.Outcome?], _ plan: GraphPlan) -> [GraphResults.Outcome] {
        var causes: [Int: Int] = [:]
        var frontier = GraphFrontier(plan)
        for (position, outcome) in outcomes.enumerated() {
            guard case .failure = outcome else { continue }
            for skipped in frontier.fail(position) { causes[skipped] = position }
        }
        return outcomes.enumerated().map { position, outcome in
            if let outcome { return outcome }
            let cause = causes[position].map { SluiceError.dependencyFailed(plans[$0].name) }
            return .failure(cause ?? SluiceError.cancelled)
        }
    }
}

/// A step of a ``RequestGraph``: its name and the type of its value.
///
/// Adding a step to a graph returns it. A step that is created directly refers to one that is added later:
///
/// ```swift
/// let user = GraphStep<User>("user")
/// ```
public struct GraphStep<Value: Sendable>: Sendable, Hashable {
    /// The name of the step, unique in its graph.
    public let name: String

    /// Creates a step with a name.
    public init(_ name: String) {
        self.name = name
    }
}

extension GraphStep: ExpressibleByStringInterpolation {
    /// Creates a step from a string literal.
    public init(stringLiteral name: String) {
        self.init(name)
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
            throw SluiceError(.internalFailure, "A step of the graph has no value of type \(Value.self).")
        }
        return found.value
    }
}

private struct GraphRun {
    /// The outcomes of a run.
    struct End {
        var outcomes: [GraphResults.Outcome?]
        /// The failure that ended the run early; nil if there was none.
        var firstFailure: (position: Int, error: any Error)?
        var isCancelled = false
    }

    let works: [RequestGraph.Work]
    let plan: GraphPlan
    let limit: Int
    let failsFast: Bool

    /// Runs the steps and returns when none is running any more.
    func outcomes() async -> End {
        await withTaskGroup(of: (Int, GraphResults.Outcome).self) { group in
            var end = End(outcomes: Array(repeating: nil, count: works.count))
            var frontier = GraphFrontier(plan)
            var underWay = 0
            while true {
                while underWay < limit, end.firstFailure == nil, !Task.isCancelled, let position = frontier.next() {
                    let inputs = inputs(of: position, end.outcomes)
                    let work = works[position]
                    underWay += 1
                    group.addTask { (position, await .of { try await work(inputs) }) }
                }
                guard let (position, outcome) = await group.next() else { break }
                underWay -= 1
                end.outcomes[position] = outcome
                switch outcome {
                case .success:
                    frontier.finish(position)
                case .failure(let error):
                    // A step that fails after the caller is cancelled fails because of the cancellation.
                    guard failsFast, end.firstFailure == nil, !Task.isCancelled else { continue }
                    end.firstFailure = (position, error)
                    group.cancelAll()
                }
            }
            end.isCancelled = Task.isCancelled && end.outcomes.contains { (try? $0?.get()) == nil }
            return end
        }
    }

    private func inputs(of position: Int, _ outcomes: [GraphResults.Outcome?]) -> GraphInputs {
        GraphInputs(plan.needs[position].compactMap { try? outcomes[$0]?.get() })
    }
}

extension SluiceError {
    fileprivate static func dependencyFailed(_ name: String) -> SluiceError {
        SluiceError(.dependencyFailed, "The step did not run because its dependency “\(name)” failed.", step: .building)
    }
}

// MARK: - Graph results

/// The values and failures of the steps of a ``RequestGraph``.
public struct GraphResults: Sendable {
    typealias Outcome = Result<any Sendable, any Error>

    private let positions: [String: Int]
    private let outcomes: [Outcome]
    /// The steps that failed, were cancelled or could not run, in the order in which they were added.
    public let failures: [GraphFailure]

    init(_ names: [String], _ positions: [String: Int], _ outcomes: [Outcome]) {
        self.positions = positions
        self.outcomes = outcomes
        failures = zip(names, outcomes).compactMap { name, outcome in
            if case .failure(let error) = outcome { GraphFailure(step: name, error) } else { nil }
        }
    }

    /// Returns the value of a step.
    ///
    /// - Parameter step: A step of the graph.
    /// - Returns: Its value.
    /// - Throws: A ``GraphFailure`` with the error of the step; ``SluiceError/Code/dependencyFailed`` if one of its
    ///   dependencies failed, and ``SluiceError/Code/invalidGraph`` if the step is not in the graph.
    public func value<Value>(of step: GraphStep<Value>) throws(GraphFailure) -> Value {
        switch result(of: step) {
        case .success(let value): return value
        case .failure(let error): throw GraphFailure(step: step.name, error)
        }
    }

    /// Returns the value or the error of a step.
    public func result<Value>(of step: GraphStep<Value>) -> Result<Value, any Error> {
        guard let position = positions[step.name] else { return .failure(SluiceError.unknownStep(step.name)) }
        switch outcomes[position] {
        case .failure(let error):
            return .failure(error)
        case .success(let value as GraphValue<Value>):
            return .success(value.value)
        case .success:
            let reason = "The step “\(step.name)” does not give a value of type \(Value.self)."
            return .failure(SluiceError(.invalidGraph, reason, step: .building))
        }
    }
}

/// The reason why a ``RequestGraph`` failed: a failed step, or defects of the graph.
public struct GraphFailure: LocalizedError, Sendable, CustomStringConvertible, DescribedError {
    /// The name of the step that failed first; nil if the graph could not run or its caller was cancelled.
    public let step: String?
    /// The error that the step threw: the request's error model, or the error of its closure. A ``SluiceError`` if no
    /// step failed.
    public let error: any Error
    /// The defects of the graph, each a sentence that names the steps; empty if a step failed.
    public let defects: [String]

    init(step: String? = nil, _ error: any Error) {
        self.step = step
        self.error = error
        defects = []
    }

    init(_ defects: [String]) {
        step = nil
        self.defects = defects
        error = SluiceError(.invalidGraph, defects.joined(separator: " "), step: .building)
    }

    /// True if the error is a cancellation: a ``SluiceError``, an ``APIError``, a ``TypedAPIError``, or a
    /// `CancellationError`.
    public var isCancellation: Bool { error.meansCancellation }

    /// One sentence that names the step.
    public var description: String {
        guard let step else { return "\(error)" }
        return "The step “\(step)” failed: \(error)"
    }
}

extension SluiceError.Code {
    /// A graph of requests cannot run. ``GraphFailure/defects`` contains the reasons.
    public static let invalidGraph = SluiceError.Code("invalidGraph")
    /// A step of a graph did not run because one of its dependencies failed.
    public static let dependencyFailed = SluiceError.Code("dependencyFailed")
}

extension SluiceError {
    fileprivate static func unknownStep(_ name: String) -> SluiceError {
        SluiceError(.invalidGraph, "There is no step “\(name)” in the graph.", step: .building)
    }
}

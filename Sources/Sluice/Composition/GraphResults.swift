import SluiceFoundation
import SluiceHTTP

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
public struct GraphFailure: LocalizedError, Sendable, CustomStringConvertible {
    /// The name of the step that failed first; nil if the graph could not run or its caller was cancelled.
    public let step: String?
    /// The error that the step threw: the request's error model, or the error of its closure. A ``SluiceError`` if no
    /// step failed.
    public let error: any Error
    /// The defects of the graph; empty if a step failed.
    public let defects: [GraphDefect]

    init(step: String? = nil, _ error: any Error) {
        self.step = step
        self.error = error
        defects = []
    }

    init(_ defects: [GraphDefect]) {
        step = nil
        self.defects = defects
        error = SluiceError(.invalidGraph, defects.map(\.description).joined(separator: " "), step: .building)
    }

    /// True if the error is a cancellation: a ``SluiceError``, an ``APIError``, or a `CancellationError`.
    public var isCancellation: Bool {
        switch error {
        case let error as SluiceError: error.isCancellation
        case let error as APIError: error.isCancellation
        default: error is CancellationError
        }
    }

    /// One sentence that names the step.
    public var description: String {
        guard let step else { return "\(error)" }
        return "The step “\(step)” failed: \(error)"
    }

    /// The ``description``, as `localizedDescription`.
    public var errorDescription: String? { description }
}

/// A defect of a ``RequestGraph`` that prevents it from running.
public struct GraphDefect: Sendable, Hashable, CustomStringConvertible {
    /// The kinds of defects.
    enum Kind: Sendable {
        /// Two steps have the same name.
        case duplicateName
        /// A step depends on a step that was not added.
        case missingStep
        /// A step expects a value of another type than its dependency gives.
        case mismatchedType
        /// Steps depend on each other in a cycle.
        case cycle
    }

    /// The kind of the defect.
    let kind: Kind
    /// The names of the steps. For a missing step: its name, then the step that needs it. For a mismatch: the dependent
    /// step, then its dependency. For a cycle: all steps in order, each before its dependency, with the first repeated
    /// at the end.
    public let steps: [String]
    /// A sentence that names the steps.
    public let description: String

    static func duplicate(_ name: String) -> GraphDefect {
        GraphDefect(kind: .duplicateName, steps: [name], description: "More than one step is named “\(name)”.")
    }

    static func missing(_ name: String, for dependent: String) -> GraphDefect {
        GraphDefect(
            kind: .missingStep,
            steps: [name, dependent],
            description: "The step “\(dependent)” depends on “\(name)”, which is not in the graph."
        )
    }

    static func mismatch(_ name: String, _ need: GraphPlan.Need, _ type: GraphType) -> GraphDefect {
        GraphDefect(
            kind: .mismatchedType,
            steps: [name, need.name],
            description: "The step “\(name)” expects \(need.type) from “\(need.name)”, which gives \(type)."
        )
    }

    static func cycle(_ names: [String]) -> GraphDefect {
        let path = names.map { "“\($0)”" }.joined(separator: " → ")
        return GraphDefect(kind: .cycle, steps: names, description: "Steps depend on each other in a cycle: \(path).")
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

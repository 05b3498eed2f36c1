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
    /// - Throws: The error of the step; ``SluiceError/Code/dependencyFailed`` if one of its dependencies failed, and
    ///   ``SluiceError/Code/invalidGraph`` if the step is not in the graph.
    public func value<Value>(of step: GraphStep<Value>) throws -> Value { try result(of: step).get() }

    /// Returns the value or the error of a step.
    public func result<Value>(of step: GraphStep<Value>) -> Result<Value, any Error> {
        guard let position = positions[step.name] else { return .failure(SluiceError.unknownStep(step.name)) }
        switch outcomes[position] {
        case .failure(let error):
            return .failure(error)
        case .success(let value as GraphValue<Value>):
            return .success(value.value)
        case .success:
            let reason = "The step “\(step.name)” gives no \(Value.self)."
            return .failure(SluiceError(.invalidGraph, reason, step: .building))
        }
    }
}

extension SluiceError {
    fileprivate static func unknownStep(_ name: String) -> SluiceError {
        SluiceError(.invalidGraph, "There is no step “\(name)” in the graph.", step: .building)
    }
}

import SluiceHTTP

/// The reason why a ``RequestGraph`` failed: a failed step, or defects of the graph.
public struct GraphFailure: Error, Sendable, CustomStringConvertible {
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
}

extension SluiceError.Code {
    /// A graph of requests cannot run. ``GraphFailure/defects`` contains the reasons.
    public static let invalidGraph = SluiceError.Code("invalidGraph")
    /// A step of a graph did not run because one of its dependencies failed.
    public static let dependencyFailed = SluiceError.Code("dependencyFailed")
}

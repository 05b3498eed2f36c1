import SluiceHTTP

/// Why a ``RequestGraph`` came to nothing: a step that failed, or what is wrong with the graph.
public struct GraphFailure: Error, Sendable, CustomStringConvertible {
    /// The name of the step that failed, the first that did; nil where the graph could not be run, or its caller was cancelled.
    public let step: String?
    /// What the step threw: the request's error model, or whatever its closure did; else a ``SluiceError``.
    public let error: any Error
    /// What is wrong with the graph; nothing where a step failed.
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

    /// Whether it was cancelled and not failed, as far as its error tells: a ``SluiceError``, an ``APIError``, or a
    /// `CancellationError`.
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
    /// A graph of requests cannot be run: ``GraphFailure/defects`` says why.
    public static let invalidGraph = SluiceError.Code("invalidGraph")
    /// A step of a graph was not run, since one that it needs failed.
    public static let dependencyFailed = SluiceError.Code("dependencyFailed")
}

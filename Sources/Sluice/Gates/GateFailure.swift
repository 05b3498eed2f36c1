import SluiceHTTP

extension SluiceError {
    /// Wraps an error that user code threw in a gate. A ``SluiceError`` is kept, and a `CancellationError` becomes
    /// ``SluiceError/Code/cancelled``.
    static func gate(_ name: String, failedWith error: any Error) -> SluiceError {
        if let error = error as? SluiceError { return error.with(step: .gate) }
        if error is CancellationError { return SluiceError(.cancelled, "The gate \(name) was cancelled.", step: .gate) }
        return SluiceError(
            .gateFailed,
            "The gate \(name) did not admit the request.",
            step: .gate,
            underlyingError: error
        )
    }

    static func gateTimedOut(_ name: String) -> SluiceError {
        SluiceError(.timedOut, "The constraint \(name) was not satisfied in the time it has.", step: .gate)
    }

    static func gateNeeds(_ name: String, missing need: String) -> SluiceError {
        SluiceError(.gateFailed, "The gate \(name) needs \(need), which the client does not have.", step: .gate)
    }

    static func gatesNeedEachOther(_ names: [String]) -> SluiceError {
        SluiceError(
            .gateFailed,
            "The gates \(names.sorted().joined(separator: ", ")) need each other; none of them can be first.",
            step: .gate
        )
    }
}

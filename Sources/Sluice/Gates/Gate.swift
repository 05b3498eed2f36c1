import SluiceHTTP

/// Admits a request, or keeps it waiting: for a token, a slot, its turn.
public protocol Gate: Sendable {
    /// Waits until the request may go on.
    ///
    /// - Parameter request: What asks to be admitted.
    /// - Returns: A pass, given back with the outcome on every exit: success, failure and cancellation alike.
    /// - Throws: A ``SluiceError`` that fails the request.
    func admit(_ request: RequestContext) async throws(SluiceError) -> Pass
}

/// What a gate hands out with an admission and gets back with the outcome.
public struct Pass: Sendable {
    private let onReturn: (@Sendable (TransportOutcome) async -> Void)?

    /// Makes a pass that holds nothing.
    public init() {
        onReturn = nil
    }

    /// Makes a pass that holds something.
    ///
    /// - Parameter onReturn: Called once, with what came of the request.
    public init(onReturn: @escaping @Sendable (TransportOutcome) async -> Void) {
        self.onReturn = onReturn
    }

    func giveBack(_ outcome: TransportOutcome) async {
        await onReturn?(outcome)
    }
}

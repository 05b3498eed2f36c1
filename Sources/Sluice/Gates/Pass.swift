import SluiceHTTP

/// What a gate hands out with an admission and gets back with the outcome.
///
/// It is given back exactly once, whatever happens to the request: success, failure, cancellation, another attempt. What the cache has
/// answered was never sent: a gate gets a failure of the step ``SluiceError/Step/cache``, ``SluiceError/Code/answeredByCache``, or, where the
/// cache stood in for a server that failed, that failure.
public struct Pass: Sendable {
    /// Changes the request just before it is sent, after all interceptors: to add a token, say.
    public typealias Signing = @Sendable (inout HTTPRequest) -> Void

    /// What the gate makes of an outcome.
    public enum Verdict: Sendable, Hashable {
        /// There is no more to it.
        case settled
        /// The gate has mended what had made the request fail, and it should be sent again. A request is sent again but once
        /// for each gate, and only if its body can be.
        case replay
    }

    private enum Return: Sendable {
        case nothing
        case judging(@Sendable (TransportOutcome) -> Verdict)
        case waiting(@Sendable (TransportOutcome) async -> Void)
    }

    let signing: Signing?
    private let onReturn: Return

    /// Makes a pass that holds nothing.
    ///
    /// - Parameter signing: Changes the request before it is sent.
    public init(signing: Signing? = nil) {
        self.signing = signing
        onReturn = .nothing
    }

    /// Makes a pass that holds something which takes waiting to give back.
    ///
    /// - Parameter onReturn: Called once, with what came of the request.
    public init(onReturn: @escaping @Sendable (TransportOutcome) async -> Void) {
        signing = nil
        self.onReturn = .waiting(onReturn)
    }

    /// Makes a pass that is given back on the spot.
    ///
    /// - Parameters:
    ///   - signing: Changes the request before it is sent.
    ///   - judging: Called once, with what came of the request, on any thread, which it must not hold up.
    public init(signing: Signing? = nil, judging: @escaping @Sendable (TransportOutcome) -> Verdict) {
        self.signing = signing
        onReturn = .judging(judging)
    }

    /// Whether giving it back may have to be waited for.
    var takesWaiting: Bool {
        if case .waiting = onReturn { true } else { false }
    }

    /// Gives back what does not take waiting.
    func giveBackImmediately(_ outcome: TransportOutcome) -> Verdict {
        if case .judging(let judge) = onReturn { judge(outcome) } else { .settled }
    }

    func giveBack(_ outcome: TransportOutcome) async -> Verdict {
        guard case .waiting(let giveBack) = onReturn else { return giveBackImmediately(outcome) }
        await giveBack(outcome)
        return .settled
    }
}

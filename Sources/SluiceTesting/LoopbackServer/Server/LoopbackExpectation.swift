/// The answer of a ``LoopbackServer`` to a request with `Expect: 100-continue` (RFC 9110 §10.1.1).
public enum LoopbackExpectation: Sendable {
    /// Sends 100 (Continue) at once. This is the default.
    case `continue`
    /// Sends 100 (Continue) after a signal fires. The connection closes if the client disconnects first.
    case continueAfter(LoopbackSignal)
    /// Sends no interim response, and waits for the body.
    case ignored
    /// Sends a final response and does not read the body. The connection stays open unless the response closes it.
    case refused(LoopbackResponse)
}

extension LoopbackServer {
    /// Sets the handler for requests with `Expect: 100-continue`.
    ///
    /// - Parameter respond: Called with the request, which has no body yet, on the thread of the connection.
    public func onExpectation(_ respond: @escaping @Sendable (LoopbackRequest) -> LoopbackExpectation) {
        routes.onExpectation(respond)
    }
}

/// What a ``LoopbackServer`` says to a client that asks, before it sends a body, whether it may: `Expect: 100-continue`
/// (RFC 9110 §10.1.1).
public enum LoopbackExpectation: Sendable {
    /// 100, at once; what a server does that has not been told otherwise.
    case `continue`
    /// 100, once a signal has fired; the connection closes when the client leaves before.
    case continueAfter(LoopbackSignal)
    /// Nothing: the server waits for the body as if it had not been asked.
    case ignored
    /// A final response in place of the body, which is not read; the connection stays open unless the response closes it.
    case refused(LoopbackResponse)
}

extension LoopbackServer {
    /// Answers clients that ask whether they may send a body.
    ///
    /// - Parameter respond: Decides by the request, which has no body yet; called on the connection's own thread.
    public func onExpectation(_ respond: @escaping @Sendable (LoopbackRequest) -> LoopbackExpectation) {
        routes.onExpectation(respond)
    }
}

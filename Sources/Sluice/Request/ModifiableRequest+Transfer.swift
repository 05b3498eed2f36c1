import SluiceHTTP

extension ModifiableRequest {
    /// Sets the priority of the request where requests wait for each other: for a slot of
    /// ``APIClient/Configuration/transport``, and for their share of an HTTP/2 connection.
    public consuming func priority(_ priority: RequestPriority) -> Self { modified { $0.priority = priority } }

    /// Asks the server to accept the request before the body is sent, by `Expect: 100-continue` (RFC 9110 §10.1.1).
    ///
    /// A server can refuse, with 401, 403 or 413 for example, before the body is sent. If it does not answer within the
    /// wait, the body is sent. If it answers 417, the request is sent again without the expectation. Over HTTP/2, and
    /// for a request without a body, the expectation is omitted.
    ///
    /// - Parameter wait: The time to wait for an answer; nil for ``Timeouts/continueWait``,
    ///   which is 1 second by default.
    /// - Returns: A copy with the expectation.
    public consuming func expectsContinue(waiting wait: Duration? = nil) -> Self {
        modified { draft in
            draft.headers[.expect] = "100-continue"
            if let wait { draft.options.timeouts.change { $0.continueWait = wait } }
        }
    }
}

import SluiceHTTP

extension ModifiableRequest {
    /// Sets whether the request goes before others, or after them, where they wait for each other: for a slot of
    /// ``APIClient/Configuration/transport``, and for their share of an HTTP/2 connection.
    public consuming func priority(_ priority: RequestPriority) -> Self { modified { $0.priority = priority } }

    /// Asks the server whether it wants the body before sending it, by `Expect: 100-continue` (RFC 9110 §10.1.1).
    ///
    /// A server that refuses, with 401, 403 or 413 for example, does so without the body having been sent. One that says nothing gets
    /// the body once the wait is over, and one that answers 417 gets the request again without being asked. Over HTTP/2, and where
    /// there is no body, the question is left out.
    ///
    /// - Parameter wait: How long to wait for an answer; nil for ``Timeouts/continueWait``, which is 1 second by default.
    /// - Returns: A copy that asks.
    public consuming func expectsContinue(waiting wait: Duration? = nil) -> Self {
        modified { draft in
            draft.headers[.expect] = "100-continue"
            if let wait { draft.options.timeouts.change { $0.continueWait = wait } }
        }
    }
}

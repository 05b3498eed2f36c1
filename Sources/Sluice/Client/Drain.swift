import SluiceHTTP

extension APIClient {
    /// Ends the service of the client before a deployment: running requests finish, new ones are refused.
    ///
    /// ```swift
    /// let isComplete = await client.drain(within: .seconds(25))
    /// ```
    ///
    /// From the call on, requests of this client and of its copies fail with ``SluiceError/Code/drained`` before anything is
    /// sent. Requests that have begun continue, with their retries and redirects. Idle connections of the transport close at
    /// once, and the others when their requests end; over HTTP/2, the client sends GOAWAY (RFC 9113 §6.8). When
    /// the time is up, the requests that are left are cancelled, among them streams without an end, such as events.
    ///
    /// The next page of a list, a reconnection of an event stream, and a request that code of yours sends for another one,
    /// are new requests. Revalidations of the cache in the background and refreshes of OAuth 2.0 tokens count as requests,
    /// even if no caller waits for them. Other clients are not affected, except that they connect again if they share the
    /// transport. A client cannot be used again after a drain. A client never has to be drained or closed: see
    /// <doc:Deployment>.
    ///
    /// - Parameter limit: The maximum time for requests that are running; 30 seconds by default. If the calling task is
    ///   cancelled, it is over at once.
    /// - Returns: True if all requests ended in time, and false if some were cancelled.
    @discardableResult
    public func drain(within limit: Duration = .seconds(30)) async -> Bool {
        let running = pipeline.running
        running.close()
        pooledTransport?.retireConnections()
        let isEmpty = await running.waitUntilEmpty(within: limit, on: pipeline.clock)
        if !isEmpty { running.cancelAll() }
        // Retries may have opened others.
        pooledTransport?.retireConnections()
        return isEmpty
    }
}

extension SluiceError.Code {
    /// The client has been drained and accepts no further requests: ``APIClient/drain(within:)``.
    public static let drained = SluiceError.Code("drained")
}

extension SluiceError {
    static let drained = SluiceError(
        .drained,
        "The client accepts no further requests, because it has been drained. Use another client.",
        step: .building
    )
}

extension Pipeline {
    /// Reports a request that is refused because the client has been drained. Returns its error.
    func refusal(of draft: RequestDraft) -> SluiceError {
        steps.notifyUnsent(draft, nil, .drained, configuration)
        return .drained
    }
}

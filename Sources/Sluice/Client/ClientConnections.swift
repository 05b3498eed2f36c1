import SluiceHTTP

extension APIClient {
    /// The connections of the client's transport, and the requests that wait for one, at this moment.
    ///
    /// ```swift
    /// let orders = client.connections["https://orders.internal"]
    /// gauge.set(orders?.waiting ?? 0)
    /// ```
    ///
    /// Clients that share a transport, as those that set none do, share its connections, so the snapshot is the same for
    /// all of them. Reading it takes a lock for a few microseconds and costs requests nothing. With `URLSession`, which
    /// does not report its connections, and with a transport of your own, the snapshot is empty.
    public var connections: ConnectionSnapshot { pooledTransport?.connections ?? ConnectionSnapshot() }

    /// The transport, if its connections can be inspected and prepared.
    var pooledTransport: (any PooledTransport)? { pipeline.configuration.transport as? any PooledTransport }
}

extension APIClient {
    /// Opens connections before the first requests need them, for example when a service starts.
    ///
    /// ```swift
    /// try await client.connect(count: 8)
    /// ```
    ///
    /// Open connections count, and so do those that are being established for requests. If the server uses HTTP/2, one
    /// connection is opened, since all requests share it. The connections stay open for the idle time-out of the transport:
    /// a later call opens those that have closed. The limits of the transport for the host apply to `count`.
    ///
    /// With `URLSession` and with a transport of your own, the function checks the URL and the rules for hosts, opens nothing
    /// and returns 0.
    ///
    /// - Parameters:
    ///   - url: A URL of the server; the base URL of the client by default. Its path is ignored.
    ///   - count: The number of connections that are to be open; 1 by default.
    /// - Returns: The number of open connections to the server, which is lower than `count` if some could not be opened.
    /// - Throws: The error that a request would fail with, such as ``SluiceError/Code/cannotConnect``,
    ///   ``SluiceError/Code/connectTimedOut`` or ``SluiceError/Code/tlsFailed``, if no connection is open.
    @discardableResult
    public func connect(to url: String? = nil, count: Int = 1) async throws(SluiceError) -> Int {
        if pipeline.running.isClosed { throw .drained }
        let location = if let url { try RequestLocation(parsing: url) } else { try pipeline.base.get() }
        let request = HTTPRequest(method: .get, scheme: location.scheme, authority: location.authority, path: "/")
        let configuration = pipeline.configuration
        if let refusal = configuration.connection.refusal(of: request) { throw refusal }
        let context = TransferContext(timeouts: configuration.timeouts, connection: configuration.connection)
        let open = try await pooledTransport?.connect(to: request, count: max(1, count), context: context) ?? 0
        if pipeline.running.isClosed {
            // Drained meanwhile.
            pooledTransport?.retireConnections()
            throw .drained
        }
        return open
    }

    /// Reads the files of the client's certificates and authorities again, without a restart.
    ///
    /// New connections find changed files by themselves. This function finds them at once, and closes the connections that
    /// were made with the old ones: idle ones immediately, the others after the requests that they carry. Files in
    /// ``ConnectionOptions/tls`` and ``ConnectionOptions/tlsByHost``, and those of a proxy of
    /// ``ProxySelection/always(_:except:)``, are read, if they have changed since the last time. A service calls it for
    /// SIGHUP, or at its start, to check that the files can be used.
    ///
    /// - Throws: ``SluiceError/Code/tlsFailed`` with a ``TLSFailure`` if files cannot be read or a key does not match. The
    ///   certificates in use then stay, and no request fails.
    public func reloadCertificates() async throws(SluiceError) {
        try await pooledTransport?.reloadCertificates(of: pipeline.configuration.connection)
    }
}

// MARK: - Cancellation

extension APIClient {
    /// Cancels all requests of this client and of its copies that have begun, for example when the user signs out.
    ///
    /// The requests fail with ``SluiceError/Code/cancelled``: those that wait at a gate, for a retry or for a connection too, and streams
    /// and downloads. Event streams do not connect again. Requests that begin later are not affected, and neither are other clients.
    public func cancelAll() {
        pipeline.running.cancelAll()
    }
}

// MARK: - Drain

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
    /// even if no caller waits for them, until the new token is stored. A refresh that is left when the time is up goes on
    /// until its own time-out, because the server may have replaced the refresh token, and other clients may wait for the
    /// new one. Other clients are not affected, except that they connect again if they share the transport. A client
    /// cannot be used again after a drain. A client never has to be drained or closed: see <doc:Deployment>.
    ///
    /// - Parameter limit: The maximum time for requests that are running; 30 seconds by default. If the calling task is
    ///   cancelled, it is over at once.
    /// - Returns: True if all requests ended in time, and false if some were left.
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

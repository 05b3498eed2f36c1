import SluiceHTTP

extension LoopbackServer {
    /// The requests received so far, in the order in which they were complete.
    public var requests: [LoopbackRequest] { log.requests }

    /// Returns the requests for a path, given without the query.
    public func requests(to path: String) -> [LoopbackRequest] {
        log.requests.filter { $0.path == path }
    }

    /// The number of complete requests received, recorded or not.
    public var requestCount: Int { log.counts.requests }

    /// True if requests are recorded. True by default. Set it to false for tests with very many requests.
    public var recordsRequests: Bool {
        get { log.recordsRequests }
        set { log.recordsRequests = newValue }
    }

    /// The total number of accepted connections.
    public var connections: Int { log.counts.accepted }

    /// The number of open connections.
    public var openConnections: Int { log.counts.open }

    /// The number of connections whose client has read nothing for 100 ms although a response is being sent.
    public var stalledConnections: Int { log.counts.stalled }

    /// The number of response bytes passed to the system, including heads.
    public var bytesSent: Int64 { log.counts.bytesSent }

    /// The number of request bytes read, including heads and chunked framing.
    public var bytesReceived: Int64 { log.counts.bytesReceived }

    /// Waits until `count` complete requests have arrived. Also returns if the task is cancelled or the server stops.
    public func waitForRequests(_ count: Int) async {
        await log.wait { $0.requests >= count }
    }

    /// Waits until the number of open connections satisfies a condition, for example `{ $0 == 0 }`.
    ///
    /// Use it to check that a cancellation closes the connection. Also returns if the task is cancelled or the server stops.
    public func waitForOpenConnections(_ isSatisfied: @escaping @Sendable (Int) -> Bool) async {
        await log.wait { isSatisfied($0.open) }
    }

    /// Waits until `count` bytes have been passed to the system, including heads.
    ///
    /// Also returns if the task is cancelled or the server stops.
    public func waitForBytesSent(_ count: Int64) async {
        await log.wait { $0.bytesSent >= count }
    }

    /// Waits until the number of stalled connections satisfies a condition. Use it to check that back-pressure works.
    ///
    /// Also returns if the task is cancelled or the server stops.
    public func waitForStalledConnections(_ isSatisfied: @escaping @Sendable (Int) -> Bool) async {
        await log.wait { isSatisfied($0.stalled) }
    }
}

import SluiceHTTP

extension LoopbackServer {
    /// What has been asked so far, in the order in which it had arrived as a whole.
    public var requests: [LoopbackRequest] { log.requests }

    /// What has been asked of a path, given without query.
    public func requests(to path: String) -> [LoopbackRequest] {
        log.requests.filter { $0.path == path }
    }

    /// How many requests have arrived, recorded or not.
    public var requestCount: Int { log.counts.requests }

    /// Whether requests are kept; true by default. Turn it off where hundreds of thousands come.
    public var recordsRequests: Bool {
        get { log.recordsRequests }
        set { log.recordsRequests = newValue }
    }

    /// How many connections have been accepted in all.
    public var connections: Int { log.counts.accepted }

    /// How many connections are open now.
    public var openConnections: Int { log.counts.open }

    /// How many connections have a response to send that the client has taken nothing of for a tenth of a second.
    public var stalledConnections: Int { log.counts.stalled }

    /// How many bytes have been handed to the system to send, heads included.
    public var bytesSent: Int64 { log.counts.bytesSent }

    /// How many bytes have been read of requests, heads and the framing of chunks included.
    public var bytesReceived: Int64 { log.counts.bytesReceived }

    /// Waits until that many requests have arrived, head and body; ends too when the task is cancelled or the server
    /// stops.
    public func waitForRequests(_ count: Int) async {
        await log.wait { $0.requests >= count }
    }

    /// Waits until the number of open connections is right, `{ $0 == 0 }` for example, which is how a test sees that a
    /// cancellation reached the wire; ends too when the task is cancelled or the server stops.
    public func waitForOpenConnections(_ isSatisfied: @escaping @Sendable (Int) -> Bool) async {
        await log.wait { isSatisfied($0.open) }
    }

    /// Waits until that many bytes have been handed to the system to send, heads included; ends too when the task is cancelled or the
    /// server stops.
    public func waitForBytesSent(_ count: Int64) async {
        await log.wait { $0.bytesSent >= count }
    }

    /// Waits until the number of stalled connections is right: how a test sees that back-pressure reached the wire.
    public func waitForStalledConnections(_ isSatisfied: @escaping @Sendable (Int) -> Bool) async {
        await log.wait { isSatisfied($0.stalled) }
    }
}

/// The progress of a batch of requests.
public struct BatchProgress: Sendable, Hashable {
    /// The number of requests that have succeeded.
    public var succeeded: Int
    /// The number of requests that have failed, without cancelled ones.
    public var failed: Int
    /// The number of all requests.
    public var total: Int
    /// The number of bytes sent of all request bodies. A retry counts its own body from 0.
    public var bytesSent: Int64
    /// The number of bytes received of all response bodies.
    public var bytesReceived: Int64

    /// Creates a progress value.
    ///
    /// - Parameters:
    ///   - succeeded: The number of requests that have succeeded.
    ///   - failed: The number of requests that have failed.
    ///   - total: The number of all requests.
    ///   - bytesSent: The number of bytes sent.
    ///   - bytesReceived: The number of bytes received.
    public init(
        succeeded: Int = 0,
        failed: Int = 0,
        total: Int,
        bytesSent: Int64 = 0,
        bytesReceived: Int64 = 0
    ) {
        self.succeeded = succeeded
        self.failed = failed
        self.total = total
        self.bytesSent = bytesSent
        self.bytesReceived = bytesReceived
    }

    /// The number of requests that have succeeded or failed.
    public var completed: Int { succeeded + failed }

    /// The fraction of completed requests, from 0 to 1. An empty batch is complete.
    public var fractionCompleted: Double { total > 0 ? Double(completed) / Double(total) : 1 }
}

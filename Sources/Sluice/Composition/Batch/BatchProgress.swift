/// How far a batch of requests is.
public struct BatchProgress: Sendable, Hashable {
    /// How many requests have succeeded.
    public var succeeded: Int
    /// How many have failed; those that were cancelled are not among them.
    public var failed: Int
    /// How many there are.
    public var total: Int
    /// Bytes of all requests' bodies that have gone out; a retry begins its own anew.
    public var bytesSent: Int64
    /// Bytes of all responses' bodies that have come.
    public var bytesReceived: Int64

    /// Makes a state.
    ///
    /// - Parameters:
    ///   - succeeded: How many requests have succeeded.
    ///   - failed: How many have failed.
    ///   - total: How many there are.
    ///   - bytesSent: Bytes that have gone out.
    ///   - bytesReceived: Bytes that have come.
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

    /// How many have an outcome.
    public var completed: Int { succeeded + failed }

    /// From 0 to 1, by the number of requests; a batch of none is complete.
    public var fractionCompleted: Double { total > 0 ? Double(completed) / Double(total) : 1 }
}

/// The timings and byte counts of a transfer.
///
/// Times are offsets from the start of the transfer in the engine. Each includes the earlier ones.
public struct TransferMetrics: Sendable, Hashable {
    /// The time in the engine's queue before the start.
    public var queued: Duration = .zero
    /// The time until the name was resolved; zero on a reused connection.
    public var nameLookup: Duration = .zero
    /// The time until the connection to the host or proxy was established; zero on a reused connection.
    public var connect: Duration = .zero
    /// The time until the TLS handshake was complete; zero without TLS.
    public var tls: Duration = .zero
    /// The time until the first byte of the response.
    public var firstByte: Duration = .zero
    /// The time until the last byte of the response.
    public var total: Duration = .zero
    /// The number of body bytes sent.
    public var bytesSent: Int64 = 0
    /// The number of body bytes received, before decompression.
    public var bytesReceived: Int64 = 0
    /// The HTTP version in use.
    public var version: HTTPVersion = .http1_1
    /// The address and port of the peer, such as `127.0.0.1:8080`, if known. With a proxy, the proxy's; with a
    /// unix-domain socket, its path.
    public var remoteAddress: String?
    /// True if the connection was reused.
    public var isConnectionReused = false

    /// Creates metrics with zero times and counts.
    public init() {}
}

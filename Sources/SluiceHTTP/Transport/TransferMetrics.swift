/// When what happened in one transfer, and how much.
///
/// The times are offsets from the moment the engine began; each includes those before it.
public struct TransferMetrics: Sendable, Hashable {
    /// Waiting in the engine's queue before it began.
    public var queued: Duration = .zero
    /// Until the name was resolved; zero on a reused connection.
    public var nameLookup: Duration = .zero
    /// Until the connection to host or proxy stood; zero on a reused connection.
    public var connect: Duration = .zero
    /// Until the TLS handshake was done; zero without TLS.
    public var tls: Duration = .zero
    /// Until the first byte of the response.
    public var firstByte: Duration = .zero
    /// Until the last byte of the response.
    public var total: Duration = .zero
    /// Body bytes sent.
    public var bytesSent: Int64 = 0
    /// Body bytes received, as they travelled: before decompression.
    public var bytesReceived: Int64 = 0
    /// The protocol that was spoken.
    public var version: HTTPVersion = .http1_1
    /// Address and port of the other end, `127.0.0.1:8080`, where it is known: of the proxy where there is one, and the path of a
    /// unix-domain socket.
    public var remoteAddress: String?
    /// Whether an open connection was used again.
    public var isConnectionReused = false

    /// Makes metrics of a transfer that took no time and moved no byte.
    public init() {}
}

import Sluice
import SluiceFoundation
import SluiceHTTP

/// A server of Redis or Valkey, with the credentials and limits of its connections.
///
/// ```swift
/// var server = RedisServer(host: "cache.internal")
/// server.tls = TLSConfiguration()
/// server.user = "shop"
/// server.password = Secret(environment: "REDIS_PASSWORD")
/// ```
public struct RedisServer: Sendable {
    /// The place where the server listens.
    public enum Address: Sendable, Hashable {
        /// A host name or an IP address without brackets, and a port.
        case tcp(host: String, port: Int)
        /// The path of a unix-domain socket.
        case unixSocket(String)
        /// The name of a primary that sentinels watch: see ``RedisServer/init(sentinels:primary:)``.
        case primary(String)
    }

    /// The place where the server listens.
    public var address: Address
    /// The TLS configuration; nil, the default, for no TLS. The server's certificate must be valid for the host.
    /// An open connection keeps the certificates with which it was made.
    public var tls: TLSConfiguration?
    /// The ACL user; nil, the default, for the user `default`. Without a ``password`` it has no effect.
    public var user: String?
    /// The password; nil, the default, for none.
    public var password: Secret?
    /// The number of the database. 0 by default.
    public var database = 0
    /// The name of the connections in `CLIENT LIST`; nil for none. `sluice` by default.
    public var clientName: String? = "sluice"

    /// The number of connections that share the commands, to each node of a cluster, from 1 to 256. 2 by default. Large commands
    /// share another.
    public var connections = 2
    /// The time from the start of a command to its reply, with the time in the queue. 50 milliseconds by default.
    public var commandTimeout = Duration.milliseconds(50)
    /// The maximum time to connect, with the TLS handshake, the greeting and the search for a primary. One second by default.
    public var connectTimeout = Duration.seconds(1)
    /// The time after its time-out by which a reply must have arrived. Without one, the connection is closed. One second by
    /// default.
    public var overdueTimeout = Duration.seconds(1)
    /// The maximum number of commands without a reply on one connection. Further commands fail at once. 10,000 by default.
    public var maximumCommands = 10_000
    /// The maximum number of bytes of these commands. 16 MiB by default.
    public var maximumCommandBytes = 16 << 20
    /// The pauses after failed connections, in which commands fail at once. At most 100 milliseconds, doubled with each failure
    /// up to 10 seconds, with full jitter.
    public var backoff = Backoff(base: .milliseconds(100), limit: .seconds(10))
    /// Returns 64 random bits for jitter at each call.
    public var randomness: @Sendable () -> UInt64 = { UInt64.random(in: .min ... .max) }

    /// The sentinels that know the address of the primary.
    package private(set) var sentinels: [RedisServer] = []

    /// Creates a description of a server that listens on a port.
    ///
    /// - Parameters:
    ///   - host: A host name or an IP address.
    ///   - port: The port; 6379 by default.
    public init(host: String = "localhost", port: Int = 6379) {
        address = .tcp(host: host, port: port)
    }

    /// Creates a description of a server that listens on a unix-domain socket.
    ///
    /// - Parameter unixSocket: The path of the socket.
    public init(unixSocket: String) {
        address = .unixSocket(unixSocket)
    }

    /// Creates a description of a primary whose address is obtained from sentinels.
    ///
    /// Before each connection the sentinels are asked in turn. The connection is used only if the server is a primary. After a
    /// failover, all connections move to the new primary.
    ///
    /// - Parameters:
    ///   - sentinels: The sentinels, with their own credentials and TLS. Their port is usually 26379.
    ///   - primary: The name of the primary in the configuration of the sentinels.
    public init(sentinels: [RedisServer], primary: String) {
        address = .primary(primary)
        self.sentinels = sentinels
    }
}

extension RedisServer: CustomStringConvertible {
    /// The address, as error texts show it.
    public var description: String {
        switch address {
        case .tcp(let host, let port): host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)"
        case .unixSocket(let path): "the socket “\(path)”"
        case .primary(let name): "the primary “\(name)”"
        }
    }
}

/// The connections of a transport at one moment, by origin.
///
/// ```swift
/// print(client.connections)
/// // 3 open, 2 idle, 0 waiting: https://api.example 2 open (1 HTTP/2), 1 idle; http://stock.internal 1 open, 1 idle
/// ```
///
/// A snapshot holds no secrets: neither paths, nor header fields, nor the credentials of proxies.
public struct ConnectionSnapshot: Sendable, Hashable {
    /// The origins with connections, or with requests that wait for one, in the order of their names.
    public let origins: [Origin]

    package init(_ origins: [Origin] = []) {
        self.origins = origins.sorted { $0.origin.description < $1.origin.description }
    }

    /// The number of open connections.
    public var open: Int { origins.reduce(0) { $0 + $1.open } }
    /// The number of open connections without a request.
    public var idle: Int { origins.reduce(0) { $0 + $1.idle } }
    /// The number of requests that wait for a connection.
    public var waiting: Int { origins.reduce(0) { $0 + $1.waiting } }

    /// The state of an origin.
    ///
    /// - Parameter origin: A URL of the origin, such as `https://api.example`. Its path is ignored.
    /// - Returns: Nil if there is neither a connection nor a waiting request.
    public subscript(origin: String) -> Origin? {
        guard let origin = try? RequestLocation(parsing: origin).origin else { return nil }
        return origins.first { $0.origin == origin }
    }

    /// The connections to one origin, and the requests that wait for one.
    public struct Origin: Sendable, Hashable {
        /// The scheme, host and port.
        public let origin: HTTPOrigin
        /// The open connections, the oldest first.
        public let connections: [Connection]
        /// The number of requests without a connection: they wait for their turn, or for a connection to be established.
        public let waiting: Int
        /// The number of connections that are being established.
        public let connecting: Int

        package init(origin: HTTPOrigin, connections: [Connection], waiting: Int, connecting: Int) {
            self.origin = origin
            self.connections = connections
            self.waiting = waiting
            self.connecting = connecting
        }

        /// The number of open connections.
        public var open: Int { connections.count }
        /// The number of open connections without a request.
        public var idle: Int { connections.count { $0.idleTime != nil } }
    }

    /// An open connection.
    public struct Connection: Sendable, Hashable {
        /// The version of HTTP.
        public let version: HTTPVersion
        /// The address and port of the peer. With a proxy, the proxy's; with a unix-domain socket, its path.
        public let remoteAddress: String
        /// The time since the connection began to be established.
        public let age: Duration
        /// The time since the last request; nil while there is one.
        public let idleTime: Duration?
        /// The number of requests in progress: at most 1 with HTTP/1.1, and the number of streams with HTTP/2. A
        /// connection that takes no further requests counts as 1 until it closes.
        public let requests: Int

        package init(version: HTTPVersion, remoteAddress: String, age: Duration, idleTime: Duration?, requests: Int) {
            self.version = version
            self.remoteAddress = remoteAddress
            self.age = age
            self.idleTime = idleTime
            self.requests = requests
        }
    }
}

extension ConnectionSnapshot: CustomStringConvertible {
    /// The counts, in total and of each origin, on one line.
    public var description: String {
        let total = "\(open) open, \(idle) idle, \(waiting) waiting"
        if origins.isEmpty { return total }
        return "\(total): \(origins.map(\.description).joined(separator: "; "))"
    }
}

extension ConnectionSnapshot.Origin: CustomStringConvertible {
    /// The origin with its counts.
    public var description: String {
        var text = "\(origin) \(open) open"
        let shared = connections.count { $0.version == .http2 }
        if shared > 0 { text += " (\(shared) HTTP/2)" }
        text += ", \(idle) idle"
        if connecting > 0 { text += ", \(connecting) connecting" }
        if waiting > 0 { text += ", \(waiting) waiting" }
        return text
    }
}

import SluiceHTTP

/// The connections without TLS that are HTTP/2 from their first byte (RFC 9113 §3.3), by which further requests may go.
struct CleartextConnections {
    private var connecting: [HTTPOrigin: Int] = [:]
    private var open: [UInt16: HTTPOrigin] = [:]

    /// Whether a request may hope for a connection that is there, or is being made.
    func mayBeShared(to origin: HTTPOrigin) -> Bool {
        connecting[origin] != nil || open.values.contains(origin)
    }

    /// Whether it is one of them that leads there from a port on this side.
    func contains(_ port: UInt16, to origin: HTTPOrigin) -> Bool {
        open[port] == origin
    }

    /// A connection is being made.
    mutating func begins(to origin: HTTPOrigin) {
        connecting[origin, default: 0] += 1
    }

    /// A connection that was being made is, or has come to nothing.
    ///
    /// - Parameters:
    ///   - origin: Where it leads.
    ///   - port: Its port on this side; nil if there is no connection. One of port 0, that of a Unix socket, is not told from others,
    ///     and is not shared.
    mutating func ends(to origin: HTTPOrigin, port: UInt16?) {
        if let count = connecting[origin] { connecting[origin] = count > 1 ? count - 1 : nil }
        if let port, port != 0 { open[port] = origin }
    }

    /// A connection of any kind has closed.
    mutating func closed(_ port: @autoclosure () -> UInt16) {
        if !open.isEmpty { open[port()] = nil }
    }
}

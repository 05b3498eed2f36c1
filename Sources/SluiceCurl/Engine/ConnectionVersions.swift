import SluiceHTTP

/// What is known of connections that libcurl does not tell apart by their versions, by their ports on this side.
///
/// A port may be that of several connections that lead to different places. So this may be wrong of one, for which it costs no more than
/// a new connection. Those of Unix sockets have no port, and are not known.
struct ConnectionVersions {
    private var connecting: [HTTPOrigin: Int] = [:]
    private var cleartext: [UInt16: HTTPOrigin] = [:]
    private var http1: Set<UInt16> = []

    /// Whether there is a connection of HTTP/2 without TLS to an origin, or one is being made.
    func mayShareCleartext(to origin: HTTPOrigin) -> Bool {
        connecting[origin] != nil || cleartext.values.contains(origin)
    }

    /// Whether one is being made.
    func isConnectingCleartext(to origin: HTTPOrigin) -> Bool {
        connecting[origin] != nil
    }

    /// Whether it is one of them that leads to an origin from a port.
    func isCleartext(_ port: UInt16, to origin: HTTPOrigin) -> Bool {
        cleartext[port] == origin
    }

    /// A connection of HTTP/2 without TLS is being made.
    mutating func beginCleartext(to origin: HTTPOrigin) {
        connecting[origin, default: 0] += 1
    }

    /// One that was being made is there, or has come to nothing.
    mutating func endCleartext(to origin: HTTPOrigin) {
        if let count = connecting[origin] { connecting[origin] = count > 1 ? count - 1 : nil }
    }

    /// There is one.
    mutating func noteCleartext(_ port: UInt16, to origin: HTTPOrigin) {
        if port != 0 { cleartext[port] = origin }
    }

    /// Whether a connection with TLS is for HTTP/1 alone.
    func isHTTP1(_ port: UInt16) -> Bool {
        http1.contains(port)
    }

    /// A connection with TLS is used by who speaks HTTP/1 alone.
    mutating func noteHTTP1(_ port: UInt16) {
        if port != 0 { http1.insert(port) }
    }

    /// A connection of any kind has closed.
    mutating func close(_ port: @autoclosure () -> UInt16) {
        if cleartext.isEmpty, http1.isEmpty { return }
        let port = port()
        cleartext[port] = nil
        http1.remove(port)
    }
}

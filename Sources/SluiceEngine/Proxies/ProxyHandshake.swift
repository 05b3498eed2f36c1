#if os(Linux)
import SluiceHTTP

/// The exchange with a proxy by which a connection to it becomes one to the origin; a value without effects.
///
/// ```
/// begin ──▶ send ──▶ receive* ─┬─▶ done
///   ▲         ▲                ├─▶ failed
///   │         └──── send ──────┤
///   └──── a new connection ────┴─▶ reconnect
/// ```
package protocol ProxyHandshake: Sendable {
    /// The most bytes to read next, so that none are taken that belong to the origin; at least 1.
    var wanted: Int { get }

    /// Begins on a new connection.
    ///
    /// - Returns: The first message to the proxy.
    mutating func begin() -> [UInt8]

    /// Takes bytes of the proxy's.
    ///
    /// - Parameter input: At most ``wanted`` bytes, and at least one.
    /// - Returns: The next thing to do.
    mutating func receive(_ input: UnsafeRawBufferPointer) -> ProxyHandshakeAction

    /// Takes note that the proxy has closed the connection; returns `reconnect` or `failed`.
    mutating func closed() -> ProxyHandshakeAction

    /// The flaw of bytes behind the last answer where none can be the origin's.
    var surplus: ProxyFlaw { get }
}

/// The next thing to do in a handshake with a proxy.
package enum ProxyHandshakeAction: Sendable, Equatable {
    /// Send the bytes, then read on.
    case send([UInt8])
    case needsMore
    /// The connection is the origin's.
    case done
    /// Close the connection, and begin again on a new one to the same proxy.
    case reconnect
    case failed(ProxyFlaw)
}

/// The credentials for a proxy, and the decision when they are sent: one of them serves one attempt to connect, reconnects included.
package protocol ProxyAuthenticator: Sendable {
    /// The value of `Proxy-Authorization` for a request that no challenge has just been received for; nil to send none.
    mutating func authorization(method: String, uri: String) -> String?

    /// The value of `Proxy-Authorization` that answers a 407.
    ///
    /// - Parameters:
    ///   - challenge: The fields of the response.
    ///   - method: The method of the request, `CONNECT` for a tunnel.
    ///   - uri: The request's target as it was sent.
    /// - Returns: The value, or nil where there is no answer, or the last one was refused.
    mutating func answer(_ challenge: HTTPHeaders, method: String, uri: String) -> String?

    /// Takes the fields of a response to a request that the proxy has let in.
    mutating func accept(_ headers: HTTPHeaders, method: String, uri: String)
}
#endif

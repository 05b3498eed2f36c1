#if os(Linux)
import SluiceHTTP

/// The handshake with a proxy that turns a connection to the proxy into one to the origin. It has no side effects.
///
/// ```
/// begin ──▶ send ──▶ receive* ─┬─▶ done
///   ▲         ▲                ├─▶ failed
///   │         └──── send ──────┤
///   └──── a new connection ────┴─▶ reconnect
/// ```
package protocol ProxyHandshake: Sendable {
    /// The maximum number of bytes to read next, so that no bytes of the origin are consumed. At least 1.
    var maximumRead: Int { get }

    /// Starts on a new connection.
    ///
    /// - Returns: The first message to the proxy.
    mutating func begin() -> [UInt8]

    /// Processes bytes from the proxy.
    ///
    /// - Parameter input: At least one and at most ``maximumRead`` bytes.
    /// - Returns: The next action.
    mutating func receive(_ input: UnsafeRawBufferPointer) -> ProxyHandshakeAction

    /// Records that the proxy has closed the connection. Returns `reconnect` or `failed`.
    mutating func closed() -> ProxyHandshakeAction

    /// The error for bytes after the last answer that cannot come from the origin.
    var unexpectedData: ProxyError { get }
}

/// The next action in a handshake with a proxy.
package enum ProxyHandshakeAction: Sendable, Equatable {
    /// Send the bytes, then continue reading.
    case send([UInt8])
    case needsMore
    /// The connection now leads to the origin.
    case done
    /// Close the connection, and start again on a new one to the same proxy.
    case reconnect
    case failed(ProxyError)
}

/// The credentials for a proxy. One instance is used for one attempt to connect, including reconnects.
package protocol ProxyAuthenticator: Sendable {
    /// Returns the value of `Proxy-Authorization` for a request that does not answer a challenge, or nil to send none.
    mutating func authorization(method: String, uri: String) -> String?

    /// Returns the value of `Proxy-Authorization` that answers a 407 response.
    ///
    /// - Parameters:
    ///   - challenge: The fields of the response.
    ///   - method: The method of the request, `CONNECT` for a tunnel.
    ///   - uri: The request target.
    /// - Returns: The value, or nil if there is no answer or the last one was refused.
    mutating func answer(_ challenge: HTTPHeaders, method: String, uri: String) -> String?

    /// Processes the fields of a response to a request that the proxy has accepted.
    mutating func accept(_ headers: HTTPHeaders, method: String, uri: String)
}

/// The credentials for tunnels through a proxy, with Basic or Digest. An accepted nonce is reused for further tunnels.
package struct TunnelAuthenticator: ProxyAuthenticator {
    private var authenticator: Authenticator
    private let spaces: Locked<ProtectionSpaces>

    /// Creates the credentials, or returns nil if the proxy has none.
    package init?(_ proxy: Proxy, in spaces: Locked<ProtectionSpaces>) {
        guard let credentials = AuthenticationCredentials(proxy) else { return nil }
        authenticator = Authenticator(credentials)
        self.spaces = spaces
    }

    package mutating func authorization(method: String, uri: String) -> String? {
        authenticator.fieldValue(for: AuthenticatedMessage(method: method, uri: uri), in: spaces)
    }

    package mutating func answer(_ challenge: HTTPHeaders, method: String, uri: String) -> String? {
        let message = AuthenticatedMessage(method: method, uri: uri)
        let decision = spaces.withLockUnchecked { authenticator.processChallenge(challenge, to: message, in: &$0) }
        return decision == .sendAgain ? authenticator.fieldValue(for: message, in: spaces) : nil
    }

    package mutating func accept(_ headers: HTTPHeaders, method: String, uri: String) {
        let message = AuthenticatedMessage(method: method, uri: uri)
        spaces.withLockUnchecked { authenticator.recordAcceptance(headers, to: message, in: &$0) }
    }
}
#endif

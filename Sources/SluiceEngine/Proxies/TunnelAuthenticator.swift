#if os(Linux)
import SluiceHTTP

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
        let decision = spaces.withLockUnchecked { authenticator.takeChallenge(challenge, to: message, in: &$0) }
        return decision == .sendAgain ? authenticator.fieldValue(for: message, in: spaces) : nil
    }

    package mutating func accept(_ headers: HTTPHeaders, method: String, uri: String) {
        let message = AuthenticatedMessage(method: method, uri: uri)
        spaces.withLockUnchecked { authenticator.takeAcceptance(headers, to: message, in: &$0) }
    }
}
#endif

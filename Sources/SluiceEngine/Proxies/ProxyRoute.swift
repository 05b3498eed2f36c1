#if os(Linux)
import SluiceHTTP

/// The way of a request by a proxy: where to connect to, the handshake that follows there, and the form of the request's target.
///
/// | proxy | http | https |
/// |---|---|---|
/// | HTTP, https | no handshake; absolute form (RFC 9112 §3.2.2) | CONNECT; origin form |
/// | SOCKS | its handshake; origin form | its handshake; origin form |
package struct ProxyRoute: Sendable {
    package enum Passage: Sendable, Equatable {
        /// The proxy passes each request on.
        case absoluteForm
        /// The proxy makes a tunnel by CONNECT.
        case tunnel
        /// The proxy connects by SOCKS.
        case socks
    }

    package let proxy: Proxy
    /// The proxy's host without brackets.
    package let host: String
    /// The proxy's port.
    package let port: UInt16
    package let passage: Passage
    private let origin: HTTPOrigin

    /// Creates the way to an origin; nil where there is no proxy.
    package init?(_ plan: ConnectionPlan, to origin: HTTPOrigin) {
        guard let proxy = plan.proxy, let address = proxy.address else { return nil }
        self.proxy = proxy
        let place = HTTPOrigin(scheme: "http", authority: address)
        host = place.host
        port = UInt16(clamping: place.port)
        self.origin = origin
        passage = proxy.scheme.isSOCKS ? .socks : origin.scheme == "https" ? .tunnel : .absoluteForm
    }

    /// The policy for TLS to the proxy itself; nil where it is reached without.
    package var tls: TLSConfiguration? {
        proxy.scheme == .https ? TLSConfiguration(trust: proxy.trust) : nil
    }

    /// True if the client finds the origin's addresses, which the proxy is told in place of the name.
    package var resolvesOrigin: Bool { proxy.scheme == .socks4 || proxy.scheme == .socks5 }

    /// Prepares the handshake.
    ///
    /// - Parameters:
    ///   - addresses: The addresses of the origin, where the client finds them.
    ///   - spaces: The protection spaces that are known.
    /// - Returns: The handshake; nil where none is needed.
    /// - Throws: A flaw where the handshake cannot be made whatever the proxy answers.
    package func handshake(
        for addresses: [SocketAddress],
        in spaces: Locked<ProtectionSpaces> = Locked(ProtectionSpaces())
    ) throws(ProxyFlaw) -> (any ProxyHandshake)? {
        switch passage {
        case .absoluteForm: return nil
        case .tunnel:
            return ConnectHandshake(to: originAuthority, authenticator: TunnelAuthenticator(proxy, in: spaces))
        case .socks:
            let destinations: [SOCKSHandshake.Destination] =
                resolvesOrigin ? addresses.map { .address($0.address) } : [.init(host: origin.host)]
            let isVersion4 = proxy.scheme == .socks4 || proxy.scheme == .socks4a
            return try SOCKSHandshake(
                isVersion4 ? .four : .five,
                to: destinations,
                port: UInt16(clamping: origin.port),
                credentials: proxy.credentials.map { .init(user: $0.user, password: $0.password) }
            )
        }
    }

    /// Host and port of the origin: always with a port, an address of version 6 in brackets and without its zone.
    private var originAuthority: String {
        let host = origin.host
        guard host.utf8.contains(UInt8(ascii: ":")) else { return "\(host):\(origin.port)" }
        return "[\(host.prefix { $0 != "%" })]:\(origin.port)"
    }

    // MARK: Errors

    /// The proxy as errors name it.
    package var name: String { proxy.displayName }

    /// The error for a name of the proxy's that does not resolve.
    package func notResolved(_ failure: Resolver.Failure) -> SluiceError {
        SluiceError(
            .proxyFailed,
            "The name of \(name) does not resolve; check its spelling and the DNS.",
            underlyingError: failure
        )
    }

    /// The error for a proxy that no socket could be connected to.
    package func notConnected(_ cause: SystemError) -> SluiceError {
        SluiceError(.proxyFailed, "No connection to \(name): \(cause.words).", underlyingError: cause)
    }

    /// The error for a failure of TLS to the proxy itself.
    package func error(of failure: TLSFailure) -> SluiceError {
        let reason = "No TLS connection to \(name): \(failure.reason(of: "proxy"))."
        return SluiceError(.proxyFailed, reason, underlyingError: failure)
    }

    /// The error for a handshake of TLS with the proxy that failed by an error of its stream.
    package func error(ofHandshake error: SluiceError) -> SluiceError {
        if let failure = error.underlyingError as? TLSFailure { return self.error(of: failure) }
        return SluiceError(
            .proxyFailed,
            "No TLS connection to \(name): the connection was lost in the handshake.",
            underlyingError: error
        )
    }
}

extension Proxy {
    /// The proxy as errors name it: neither user nor password.
    var displayName: String { "the proxy at \(address ?? "")" }
}
#endif

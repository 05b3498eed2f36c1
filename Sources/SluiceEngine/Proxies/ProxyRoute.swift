#if os(Linux)
import SluiceHTTP

/// The route of a request through a proxy: the address to connect to, the handshake, and the form of the request target.
///
/// | proxy | http | https |
/// |---|---|---|
/// | HTTP, https | no handshake; absolute form (RFC 9112 §3.2.2) | CONNECT; origin form |
/// | SOCKS | its handshake; origin form | its handshake; origin form |
package struct ProxyRoute: Sendable {
    /// The way in which the proxy carries requests.
    package enum Mode: Sendable, Equatable {
        /// The proxy forwards each request.
        case absoluteForm
        /// The proxy establishes a tunnel with CONNECT.
        case tunnel
        case socks
    }

    package let proxy: Proxy
    /// The proxy's host without brackets.
    package let host: String
    package let port: UInt16
    package let mode: Mode
    private let origin: HTTPOrigin

    /// Creates the route to an origin, or returns nil if there is no proxy.
    package init?(_ plan: ConnectionPlan, to origin: HTTPOrigin) {
        guard let proxy = plan.proxy, let address = proxy.address else { return nil }
        self.proxy = proxy
        // The scheme only determines the default port.
        let proxyOrigin = HTTPOrigin(scheme: "http", authority: address)
        host = proxyOrigin.host
        port = UInt16(clamping: proxyOrigin.port)
        self.origin = origin
        mode = proxy.scheme.isSOCKS ? .socks : origin.scheme == "https" ? .tunnel : .absoluteForm
    }

    /// The protocols that connections to proxies offer.
    static let protocols = ["http/1.1"]

    /// The TLS policy for the connection to the proxy, or nil without TLS.
    package var tls: TLSConfiguration? { Self.tls(proxy) }

    /// Returns the TLS policy for connections to a proxy, or nil without TLS.
    static func tls(_ proxy: Proxy) -> TLSConfiguration? {
        proxy.scheme == .https ? TLSConfiguration(trust: proxy.trust) : nil
    }

    /// True if the client resolves the origin's name and sends an address to the proxy.
    package var resolvesOrigin: Bool { proxy.scheme == .socks4 || proxy.scheme == .socks5 }

    /// Creates the handshake.
    ///
    /// - Parameters:
    ///   - addresses: The addresses of the origin, if the client resolves them.
    ///   - spaces: The known protection spaces.
    /// - Returns: The handshake, or nil if none is needed.
    /// - Throws: A ``ProxyError`` if the handshake cannot succeed with any answer of the proxy.
    package func handshake(
        for addresses: [SocketAddress],
        in spaces: Locked<ProtectionSpaces> = Locked(ProtectionSpaces())
    ) throws(ProxyError) -> (any ProxyHandshake)? {
        switch mode {
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
                credentials: proxy.credentials.map { .init(user: $0.user, password: $0.password.reveal()) }
            )
        }
    }

    /// The host and port of the origin. The port is always present, and an IPv6 address has brackets and no zone.
    private var originAuthority: String {
        let host = origin.host
        guard host.utf8.contains(UInt8(ascii: ":")) else { return "\(host):\(origin.port)" }
        return "[\(host.prefix { $0 != "%" })]:\(origin.port)"
    }

    // MARK: Errors

    /// The name of the proxy in error messages.
    package var name: String { proxy.displayName }

    /// Returns the error for a proxy name that cannot be resolved.
    package func resolutionError(_ failure: Resolver.Failure) -> SluiceError {
        SluiceError(.proxyFailed, failure.reason(of: "The name of \(name)"), underlyingError: failure)
    }

    /// Returns the error for a proxy that cannot be reached.
    package func connectionError(_ cause: SystemError) -> SluiceError {
        SluiceError(
            .proxyFailed,
            "The connection to \(name) could not be established: \(cause.message).",
            underlyingError: cause
        )
    }

    package func error(of failure: TLSFailure) -> SluiceError {
        let reason = "The TLS connection to \(name) could not be established: \(failure.reason(of: "proxy"))."
        return SluiceError(.proxyFailed, reason, underlyingError: failure)
    }

    /// Returns the error for a TLS handshake with the proxy that failed with a stream error.
    package func error(ofHandshake error: SluiceError) -> SluiceError {
        if let failure = error.underlyingError as? TLSFailure { return self.error(of: failure) }
        return SluiceError(
            .proxyFailed,
            "The TLS connection to \(name) could not be established: the connection was lost during the handshake.",
            underlyingError: error
        )
    }
}

extension Proxy {
    /// The name of the proxy in error messages, without user name and password.
    var displayName: String { "the proxy at \(address ?? "")" }
}
#endif

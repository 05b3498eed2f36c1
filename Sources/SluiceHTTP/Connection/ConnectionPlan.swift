/// The connection parameters for one origin, computed from a client's options.
///
/// A class, so that an engine can compare plans by identity.
package final class ConnectionPlan: Sendable {
    package let tls: TLSConfiguration
    package let proxy: Proxy?
    package let unixSocket: String?
    /// The addresses to connect to in place of DNS; empty to use DNS.
    package let hostAddresses: [IPAddress]
    /// The origin's port, used with `hostAddresses`.
    package let port: Int
    package let httpVersion: HTTPVersionPolicy
    package let addresses: AddressPolicy

    /// The plan of a client with default options and no proxy.
    package static let standard = ConnectionPlan()

    private init() {
        tls = TLSConfiguration()
        proxy = nil
        unixSocket = nil
        hostAddresses = []
        port = 0
        httpVersion = .automatic
        addresses = .any
    }

    init(_ options: ConnectionOptions, for origin: HTTPOrigin) throws(SluiceError) {
        let host = HostPattern.normalized(origin.host)
        tls = HostPattern.value(for: host, in: options.tlsByHost) ?? options.tls
        unixSocket = options.unixSocket
        proxy = options.unixSocket == nil ? try options.proxy.proxy(for: origin) : nil
        let isDirect = options.unixSocket == nil && proxy == nil
        hostAddresses = isDirect ? HostPattern.value(for: host, in: options.hostAddresses) ?? [] : []
        port = origin.port
        httpVersion = options.httpVersion
        addresses = options.addresses
        try check()
        if let proxy, [.http, .https].contains(proxy.scheme), httpVersion == .http2PriorKnowledge,
            origin.scheme == "http"
        {
            throw SluiceError(
                .unsupported,
                "HTTP/2 without TLS is not supported through an HTTP proxy. Connect without a proxy, or use https or another HTTP version."
            )
        }
    }

    private init(_ plan: ConnectionPlan, httpVersion: HTTPVersionPolicy) {
        tls = plan.tls
        proxy = plan.proxy
        unixSocket = plan.unixSocket
        hostAddresses = plan.hostAddresses
        port = plan.port
        self.httpVersion = httpVersion
        addresses = plan.addresses
    }

    /// Returns the same plan with another HTTP version.
    package func with(_ httpVersion: HTTPVersionPolicy) -> ConnectionPlan {
        ConnectionPlan(self, httpVersion: httpVersion)
    }

    /// Returns true if connections made for one plan may carry requests of the other.
    package func sharesConnections(with other: ConnectionPlan) -> Bool {
        self === other
            || unixSocket == other.unixSocket && hostAddresses == other.hostAddresses && port == other.port
                && addresses == other.addresses && proxy == other.proxy && httpVersion == other.httpVersion
                && tls.isEquivalent(to: other.tls)
    }

    private func check() throws(SluiceError) {
        if let pins = tls.pins, let pin = pins.pins.first(where: { !$0.isValid }) {
            throw SluiceError(
                .invalidConfiguration,
                "“\(pin)” is not a valid pin. Write sha256/ followed by 32 bytes in base64."
            )
        }
        if let problem = proxy?.problem { throw SluiceError(.invalidConfiguration, problem) }
        if let unixSocket { try check(unixSocket) }
        if proxy != nil, addresses != .any {
            throw SluiceError(
                .addressRefused,
                "The request would use a proxy, and the client cannot check that the proxy connects only to allowed addresses."
            )
        }
    }

    /// Checks that the path fits into `sockaddr_un`, with its terminating NUL.
    private func check(_ unixSocket: String) throws(SluiceError) {
        #if os(Linux)
        let maximumLength = 107
        #else
        let maximumLength = 103
        #endif
        guard !unixSocket.isEmpty, unixSocket.utf8.count <= maximumLength, !unixSocket.utf8.contains(0) else {
            throw SluiceError(
                .invalidConfiguration,
                "The path of the unix-domain socket is empty, is longer than \(maximumLength) bytes, or contains a NUL character."
            )
        }
    }
}

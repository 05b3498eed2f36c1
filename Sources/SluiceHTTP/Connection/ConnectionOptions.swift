/// The connection options of a client: TLS, proxies, host and address rules, HTTP version.
///
/// ```swift
/// let docker = APIClient(baseURL: "http://docker/v1.47") { $0.connection.unixSocket = "/var/run/docker.sock" }
/// ```
///
/// `SocketTransport` supports all of them. With `URLSessionTransport`, requests fail with
/// ``SluiceError/Code/unsupported`` if an option that it does not support is set. A transport of your own must apply them
/// itself.
public struct ConnectionOptions: Sendable {
    private struct Values: Sendable {
        var tls = TLSConfiguration()
        var tlsByHost: [HostPattern: TLSConfiguration] = [:]
        var proxy = ProxySelection.environment
        var unixSocket: String?
        var hostAddresses: [HostPattern: [IPAddress]] = [:]
        var httpVersion = HTTPVersionPolicy.automatic
        var addresses = AddressPolicy.any
        var hosts = HostRules.all
    }

    /// The values in one allocation, so that copies of the options stay small and unchanged copies compare by identity.
    private final class Storage: Sendable {
        /// The maximum number of entries in each cache.
        static let cacheLimit = 1024

        let values: Values
        /// The connection plans by origin, as far as they have been computed.
        let plans = Locked<[HTTPOrigin: ConnectionPlan]>([:])
        /// The decisions of ``ConnectionOptions/hosts`` by authority, as far as they have been made.
        private let decisions = Locked<[String: Bool]>([:])

        init(_ values: Values) {
            self.values = values
        }

        func allows(_ request: HTTPRequest) -> Bool {
            if let isAllowed = decisions.withLock({ $0[request.authority] }) { return isAllowed }
            let isAllowed = values.hosts.allows(request.origin.host)
            decisions.withLock { decisions in
                // Limits the memory of a client that sends requests to very many hosts.
                if decisions.count >= Storage.cacheLimit { decisions.removeAll() }
                decisions[request.authority] = isAllowed
            }
            return isAllowed
        }
    }

    private static let standard = Storage(Values())
    private var storage = ConnectionOptions.standard

    private var values: Values {
        get { storage.values }
        set { storage = Storage(newValue) }
    }

    /// Creates the default options.
    public init() {}

    /// The TLS configuration: trusted authorities, pins, client certificate and minimum version.
    public var tls: TLSConfiguration {
        get { values.tls }
        set { values.tls = newValue }
    }

    /// TLS configurations that replace ``tls`` for some hosts. If several patterns match, the most specific one
    /// applies.
    public var tlsByHost: [HostPattern: TLSConfiguration] {
        get { values.tlsByHost }
        set { values.tlsByHost = newValue }
    }

    /// The proxy that requests use. The default is the one that the process's environment names: see
    /// ``ProxySelection/environment``.
    public var proxy: ProxySelection {
        get { values.proxy }
        set { values.proxy = newValue }
    }

    /// The path of a unix-domain socket that all requests use, whatever host their URL names; nil, the default, for the
    /// network.
    ///
    /// Redirects stay on the socket, and no proxy is used. The host of the URL determines the `Host` field and, over
    /// https, the name that the server's certificate must have. A path has at most 107 bytes, 103 on Apple's platforms.
    public var unixSocket: String? {
        get { values.unixSocket }
        set { values.unixSocket = newValue }
    }

    /// Addresses of hosts, used in place of DNS. TLS and the `Host` field still use the host name.
    ///
    /// The port is the URL's. If a host has several addresses, the client uses the first connection that succeeds. It
    /// tries IPv6 and IPv4 addresses in parallel (RFC 8305), each family in order; the family of the first address
    /// starts 200 milliseconds earlier. Hosts that are reached through a proxy or a unix-domain socket ignore this
    /// table.
    ///
    /// ```swift
    /// $0.connection.hostAddresses["api.example"] = [IPAddress(192, 0, 2, 10), IPAddress(192, 0, 2, 11)]
    /// ```
    public var hostAddresses: [HostPattern: [IPAddress]] {
        get { values.hostAddresses }
        set { values.hostAddresses = newValue }
    }

    /// The HTTP version; by default HTTP/2 over TLS if the server supports it, otherwise HTTP/1.1.
    public var httpVersion: HTTPVersionPolicy {
        get { values.httpVersion }
        set { values.httpVersion = newValue }
    }

    /// The addresses that may be connected to; any by default.
    public var addresses: AddressPolicy {
        get { values.addresses }
        set { values.addresses = newValue }
    }

    /// The hosts that requests may go to; all by default.
    public var hosts: HostRules {
        get { values.hosts }
        set { values.hosts = newValue }
    }

    /// Returns the error of a request whose host is not allowed; nil if it is allowed.
    package func refusal(of request: HTTPRequest) -> SluiceError? {
        if storage === ConnectionOptions.standard || storage.allows(request) { return nil }
        return SluiceError(
            .hostRefused,
            "This client is not allowed to send requests to \(request.authority).",
            request: request
        )
    }

    /// Returns the text that tells the server of a request from the one that its URL names: the socket or the addresses
    /// that the options connect to instead; nil if DNS or a proxy decides.
    package func replacedServer(of request: HTTPRequest) -> String? {
        if storage === ConnectionOptions.standard { return nil }
        return (try? plan(for: request.origin))?.server
    }

    /// Returns lines that select another resource than the URL of a request alone: its `Host` field and the server in place
    /// of the one that the URL names. Each begins with a line feed, which no URL and no field contains.
    package func selection(of request: HTTPRequest) -> String {
        let host = request.headers[.host].map { "\nhost: \($0)" } ?? ""
        return replacedServer(of: request).map { "\(host)\nserver: \($0)" } ?? host
    }

    /// Returns a digest of the certificate that the client presents to the server of a request; nil if there is none. The
    /// path of a file stands for its contents.
    package func certificateDigest(for request: HTTPRequest) -> [UInt8]? {
        if storage === ConnectionOptions.standard { return nil }
        return (try? plan(for: request.origin))?.certificateDigest
    }

    /// Returns the connection plan for an origin, cached so that repeated calls return the same object.
    ///
    /// - Throws: ``SluiceError/Code/addressRefused`` and ``SluiceError/Code/invalidConfiguration``.
    package func plan(for origin: HTTPOrigin) throws(SluiceError) -> ConnectionPlan {
        // Most clients change no option; their plan needs no look-up.
        if storage === ConnectionOptions.standard, ProxyEnvironment.processHasNone { return .standard }
        if let plan = storage.plans.withLock({ $0[origin] }) { return plan }
        var plan = try ConnectionPlan(self, for: origin)
        // Default options also give the standard plan for a host that the environment exempts from the proxy.
        if storage === ConnectionOptions.standard, plan.proxy == nil { plan = .standard }
        storage.plans.withLock { [plan] plans in
            if plans.count >= Storage.cacheLimit { plans.removeAll() }
            plans[origin] = plan
        }
        return plan
    }

    /// True if the host of an origin is on the loopback interface, and no proxy or replaced address leads elsewhere, so
    /// that nobody on the network can read what is sent to it.
    package func keepsOnLoopback(_ origin: HTTPOrigin) -> Bool {
        guard HostPattern.isLoopback(normalized: HostPattern.normalized(origin.host)) else { return false }
        return (try? plan(for: origin))?.leadsToHost == true
    }
}

/// The version of HTTP that a client uses.
public enum HTTPVersionPolicy: Sendable, Hashable {
    /// HTTP/2 over TLS if the server supports it (RFC 9113 §3.2), otherwise HTTP/1.1.
    case automatic
    /// Always HTTP/1.1, even if the server supports HTTP/2.
    case http1
    /// Always HTTP/2, also without TLS (RFC 9113 §3.3), for servers that are known to support it. Without TLS it does
    /// not work through an HTTP proxy; such a request fails with ``SluiceError/Code/unsupported``.
    case http2PriorKnowledge
}

// MARK: - Connection plan

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
    /// The text of the socket or the addresses to connect to; nil if DNS or a proxy decides.
    let server: String?
    /// The digest of the client certificate, or of its path; nil if there is none.
    let certificateDigest: [UInt8]?

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
        server = nil
        certificateDigest = nil
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
        let addressTexts = hostAddresses.map(\.description).sorted().joined(separator: ", ")
        server =
            options.unixSocket.map { "socket \($0)" } ?? (addressTexts.isEmpty ? nil : "addresses \(addressTexts)")
        certificateDigest = tls.clientCertificate.map { SystemSHA256.digest(of: $0.identity) ?? $0.identity }
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
        server = plan.server
        certificateDigest = plan.certificateDigest
    }

    /// Returns the same plan with another HTTP version.
    package func with(_ httpVersion: HTTPVersionPolicy) -> ConnectionPlan {
        ConnectionPlan(self, httpVersion: httpVersion)
    }

    /// True if connections to a loopback host stay on this machine. A proxy may be elsewhere, as may a replaced address.
    package var leadsToHost: Bool { proxy == nil && hostAddresses.allSatisfy(\.isLoopback) }

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

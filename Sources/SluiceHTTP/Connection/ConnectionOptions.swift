/// How a client reaches its servers: TLS, proxies, names and addresses, versions of HTTP.
///
/// ```swift
/// let docker = APIClient(baseURL: "http://docker/v1.47") { $0.connection.unixSocket = "/var/run/docker.sock" }
/// ```
///
/// Transports that cannot do something of it fail requests with ``SluiceError/Code/unsupported`` rather than do without.
public struct ConnectionOptions: Sendable {
    private struct Values: Sendable {
        var tls = TLSConfiguration()
        var tlsByHost: [HostPattern: TLSConfiguration] = [:]
        var proxy = ProxySelection.environment
        var unixSocket: String?
        var hostAddresses: [HostPattern: [IPAddress]] = [:]
        var httpVersion = HTTPVersionChoice.automatic
        var addresses = AddressPolicy.any
        var hosts = HostRules.all
    }

    /// All in one allocation, so that what carries options stays small and those who have the same can tell.
    private final class Storage: Sendable {
        let values: Values
        /// What has been worked out for origins already.
        let plans = Locked<[HTTPOrigin: ConnectionPlan]>([:])
        /// Whether hosts may be asked that somebody wanted to ask, by their authorities.
        private let verdicts = Locked<[String: Bool]>([:])

        init(_ values: Values) {
            self.values = values
        }

        func allows(_ request: HTTPRequest) -> Bool {
            if let verdict = verdicts.withLock({ $0[request.authority] }) { return verdict }
            let verdict = values.hosts.allows(request.origin.host)
            verdicts.withLock { verdicts in
                // A client that asks every host there is must not remember them all.
                if verdicts.count >= 1024 { verdicts.removeAll() }
                verdicts[request.authority] = verdict
            }
            return verdict
        }
    }

    private static let standard = Storage(Values())
    private var storage = ConnectionOptions.standard

    private var values: Values {
        get { storage.values }
        set { storage = Storage(newValue) }
    }

    /// Makes options of the defaults.
    public init() {}

    /// Whom the client trusts over TLS, and how it shows who it is itself.
    public var tls: TLSConfiguration {
        get { values.tls }
        set { values.tls = newValue }
    }

    /// What holds in place of ``tls`` for some hosts; of several patterns that match the narrowest is meant.
    public var tlsByHost: [HostPattern: TLSConfiguration] {
        get { values.tlsByHost }
        set { values.tlsByHost = newValue }
    }

    /// By which proxy requests go; by default the one that the process's environment names, if any: see ``ProxyEnvironment``.
    public var proxy: ProxySelection {
        get { values.proxy }
        set { values.proxy = newValue }
    }

    /// The path of a unix-domain socket that all requests go to, whatever host their URL names; nil, the default, for the network.
    ///
    /// Redirects stay on the socket, and no proxy is used. The host of the URL is what the `Host` field and, over https, the server's
    /// certificate go by. A path has at most 107 bytes, 103 on Apple's platforms.
    public var unixSocket: String? {
        get { values.unixSocket }
        set { values.unixSocket = newValue }
    }

    /// Addresses of hosts, in place of what the name resolves to; TLS and the `Host` field go by the name all the same.
    ///
    /// The port is the URL's. Of several addresses the first that answers is used: they are tried in turn, those of version 6 and those
    /// of version 4 side by side (RFC 8305), the family of the first ahead of the other by 200 milliseconds. A host that is
    /// reached by a proxy or a unix-domain socket is not looked up here.
    ///
    /// ```swift
    /// $0.connection.hostAddresses["api.example"] = [IPAddress(192, 0, 2, 10), IPAddress(192, 0, 2, 11)]
    /// ```
    public var hostAddresses: [HostPattern: [IPAddress]] {
        get { values.hostAddresses }
        set { values.hostAddresses = newValue }
    }

    /// Which version of HTTP is spoken; by default HTTP/2 over TLS with servers that have it, and else HTTP/1.1.
    public var httpVersion: HTTPVersionChoice {
        get { values.httpVersion }
        set { values.httpVersion = newValue }
    }

    /// Which addresses may be connected to; any by default.
    public var addresses: AddressPolicy {
        get { values.addresses }
        set { values.addresses = newValue }
    }

    /// Which hosts may be asked; all by default.
    public var hosts: HostRules {
        get { values.hosts }
        set { values.hosts = newValue }
    }

    /// Why a request may not go to its host; nil where it may.
    package func refusal(of request: HTTPRequest) -> SluiceError? {
        if storage === ConnectionOptions.standard || storage.allows(request) { return nil }
        return SluiceError(
            .hostRefused,
            "\(request.authority) is not among the hosts that this client may ask.",
            request: request
        )
    }

    /// What they come to for one origin; the same object for as long as neither changes.
    ///
    /// - Throws: ``SluiceError/Code/addressRefused`` and ``SluiceError/Code/invalidConfiguration``.
    package func plan(for origin: HTTPOrigin) throws(SluiceError) -> ConnectionPlan {
        // Most clients set nothing, and so have nothing to work out.
        if storage === ConnectionOptions.standard, ProxyEnvironment.processHasNone { return .standard }
        if let plan = storage.plans.withLock({ $0[origin] }) { return plan }
        var plan = try ConnectionPlan(self, for: origin)
        // For a host that the environment excepts nothing is left to set either.
        if storage === ConnectionOptions.standard, plan.proxy == nil { plan = .standard }
        let result = plan
        storage.plans.withLock { plans in
            if plans.count >= 1024 { plans.removeAll() }
            plans[origin] = result
        }
        return result
    }
}

/// Which version of HTTP is spoken.
public enum HTTPVersionChoice: Sendable, Hashable {
    /// HTTP/2 over TLS where the server has it (RFC 9113 §3.2), and else HTTP/1.1.
    case automatic
    /// HTTP/1.1 always, though the server may have HTTP/2.
    case http1
    /// HTTP/2 always, without TLS too (RFC 9113 §3.3): for servers that are known to speak it. Without TLS it goes by no HTTP proxy;
    /// such a request fails with ``SluiceError/Code/unsupported``.
    case http2PriorKnowledge
}

/// The choice of a proxy for requests: none, one, or the one that the environment names, which is the default.
///
/// ```swift
/// $0.connection.proxy = .none
/// $0.connection.proxy = .socks5("proxy.example:1080")
/// $0.connection.proxy = .always(.http("proxy.example:3128"), except: ["localhost", "*.internal.example"])
/// ```
public struct ProxySelection: Sendable {
    private enum Form: Sendable {
        case none
        case environment(ProxyEnvironment?)
        case always(Proxy, except: [HostPattern])
        case choosing(@Sendable (HTTPOrigin) -> Proxy?)
    }

    private let form: Form

    /// The proxy of ``always(_:except:)``; nil for the other selections.
    package var fixed: Proxy? {
        if case .always(let proxy, _) = form { proxy } else { nil }
    }

    /// No proxy: every request connects to its server directly.
    public static let none = ProxySelection(form: .none)

    /// The proxies that the process's environment names, read once; see ``environment(_:)`` for the variables.
    public static let environment = ProxySelection(form: .environment(nil))

    /// Uses the proxies that variables name, by the conventions of Go, wget and others, in place of those of the
    /// process's environment.
    ///
    /// | variable | |
    /// |---|---|
    /// | `https_proxy`, `HTTPS_PROXY` | the proxy for https |
    /// | `http_proxy` | the proxy for http |
    /// | `all_proxy`, `ALL_PROXY` | the proxy for either, if it has none of its own |
    /// | `no_proxy`, `NO_PROXY` | the hosts reached without a proxy |
    ///
    /// Values have the format of ``Proxy/init(_:)``. The lowercase spelling takes precedence, and empty variables are
    /// ignored. `HTTP_PROXY` is not read: in a CGI program it holds the request's `Proxy` field, which the sender of the
    /// request controls (CVE-2016-5385). This computer itself, `localhost` with its subdomains, `127.0.0.0/8` and `::1`, is
    /// reached without a proxy.
    ///
    /// `no_proxy` is a list whose entries are separated by commas or spaces:
    ///
    /// | entry | |
    /// |---|---|
    /// | `*` | everything |
    /// | `example.com`, `.example.com` | that host and all below it |
    /// | `192.0.2.1`, `2001:db8::1` | that address, where a URL has it; names are not resolved |
    /// | `10.0.0.0/8`, `fd00::/8` | all addresses of the block |
    /// | `example.com:8080`, `[2001:db8::1]:8080` | of these, that port only |
    ///
    /// Any other entry is ignored.
    ///
    /// A request whose proxy variable cannot be parsed fails with ``SluiceError/Code/invalidConfiguration``.
    ///
    /// - Parameter variables: The values of the variables by their names.
    /// - Returns: A selection.
    public static func environment(_ variables: [String: String]) -> ProxySelection {
        ProxySelection(form: .environment(ProxyEnvironment(variables)))
    }

    /// Uses one proxy for all requests.
    ///
    /// - Parameters:
    ///   - proxy: The proxy.
    ///   - exceptions: Hosts that are reached without the proxy, none by default. Loopback hosts use the proxy unless
    ///     listed.
    /// - Returns: A selection.
    public static func always(_ proxy: Proxy, except exceptions: [HostPattern] = []) -> ProxySelection {
        ProxySelection(form: .always(proxy, except: exceptions))
    }

    /// Uses the proxies that a closure chooses.
    ///
    /// - Parameter choose: Returns the proxy for an origin, or nil for a direct connection. Its results are cached: it
    ///   is called once or a few times for an origin. It must not block.
    /// - Returns: A selection.
    public static func choosing(_ choose: @escaping @Sendable (HTTPOrigin) -> Proxy?) -> ProxySelection {
        ProxySelection(form: .choosing(choose))
    }

    /// Uses one HTTP proxy for all requests: see ``Proxy/http(_:user:password:methods:)``.
    public static func http(_ address: String, user: String? = nil, password: (any SecretConvertible)? = nil)
        -> ProxySelection
    {
        .always(.http(address, user: user, password: password))
    }

    /// Uses one SOCKS proxy of version 5, which resolves host names, for all requests: see
    /// ``Proxy/socks5(_:user:password:names:)``.
    public static func socks5(_ address: String, user: String? = nil, password: (any SecretConvertible)? = nil)
        -> ProxySelection
    {
        .always(.socks5(address, user: user, password: password))
    }

    /// True if this is the default, for which an engine may use the system's own proxy settings.
    package var isProcessEnvironment: Bool {
        if case .environment(nil) = form { true } else { false }
    }

    /// Returns the proxy for an origin; nil for a direct connection.
    ///
    /// - Throws: ``SluiceError/Code/invalidConfiguration`` for a variable of the environment that cannot be parsed.
    package func proxy(for origin: HTTPOrigin) throws(SluiceError) -> Proxy? {
        switch form {
        case .none: nil
        case .environment(let environment): try (environment ?? .process).proxy(for: origin)
        case .always(let proxy, let exceptions):
            exceptions.contains { $0.matches(origin.host) } ? nil : proxy
        case .choosing(let choose): choose(origin)
        }
    }
}

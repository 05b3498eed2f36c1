import SluiceLibc

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

    /// The proxies that the variables of the process's environment name, by the conventions of Go, wget and others. The
    /// variables are read once.
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
    public static let environment = ProxySelection(form: .environment(nil))

    /// Uses the proxies that variables name, in place of those of the process's environment.
    ///
    /// - Parameter variables: The values of the variables by their names.
    /// - Returns: A selection.
    package static func environment(_ variables: [String: String]) -> ProxySelection {
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
    /// ``Proxy/socks5(_:user:password:resolvesNames:)``.
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

// MARK: - Proxy environment

/// The proxies that environment variables name: see ``ProxySelection/environment``.
package struct ProxyEnvironment: Sendable {
    private enum Setting: Sendable {
        case none
        case proxy(Proxy)
        /// The name of the variable.
        case unreadable(String)
    }

    /// The variables in the order of precedence.
    private static let httpNames = ["http_proxy", "all_proxy", "ALL_PROXY"]
    private static let httpsNames = ["https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"]
    private static let exceptionNames = ["no_proxy", "NO_PROXY"]

    private let http: Setting
    private let https: Setting
    private let exceptions: ProxyExceptions

    /// The proxies of the process's environment, read once.
    static let process: ProxyEnvironment = {
        // The whole environment would take much longer to read.
        let names = httpNames + httpsNames + exceptionNames
        return ProxyEnvironment(
            Dictionary(names.compactMap { name in getenv(name).map { (name, String(cString: $0)) } }) { $1 }
        )
    }()
    /// True if the process's environment names no proxy, the usual case.
    static let processHasNone = process.isEmpty

    /// Reads the proxies from variables.
    package init(_ variables: [String: String]) {
        let setting = { (names: [String]) -> Setting in
            guard let name = names.first(where: { !(variables[$0] ?? "").isEmpty }), let text = variables[name] else {
                return .none
            }
            guard let proxy = Proxy(reading: text), proxy.problem == nil else { return .unreadable(name) }
            return .proxy(proxy)
        }
        http = setting(Self.httpNames)
        https = setting(Self.httpsNames)
        let list = Self.exceptionNames.lazy.compactMap { variables[$0] }.first { !$0.isEmpty }
        exceptions = ProxyExceptions(list ?? "")
    }

    /// True if the variables name no proxy.
    var isEmpty: Bool {
        if case .none = http, case .none = https { true } else { false }
    }

    /// Returns the proxy for an origin; nil for a direct connection.
    ///
    /// - Throws: ``SluiceError/Code/invalidConfiguration`` for a variable that cannot be parsed. The error names the
    ///   variable.
    package func proxy(for origin: HTTPOrigin) throws(SluiceError) -> Proxy? {
        let setting = origin.scheme == "https" ? https : http
        if case .none = setting { return nil }
        let host = HostPattern.normalized(origin.host)
        if HostPattern.isLoopback(normalized: host) || exceptions.contains(host, port: origin.port) { return nil }
        switch setting {
        case .none: return nil
        case .proxy(let proxy): return proxy
        case .unreadable(let name):
            throw SluiceError(
                .invalidConfiguration,
                "The environment variable \(name) is not a valid proxy URL. Write it as http://proxy.example:3128, or unset the variable."
            )
        }
    }
}

/// The hosts reached without a proxy, in the format of `NO_PROXY`: see ``ProxySelection/environment``.
package struct ProxyExceptions: Sendable {
    private enum Target: Sendable {
        case all
        /// A host and all hosts below it, without a leading dot.
        case name(String)
        case network(IPNetwork)
    }

    private struct Entry: Sendable {
        let target: Target
        /// Nil for all ports.
        let port: Int?
    }

    private let entries: [Entry]

    /// Parses a list.
    package init(_ text: String) {
        entries = text.split { $0 == "," || $0.isWhitespace }.compactMap { ProxyExceptions.entry(String($0)) }
    }

    /// Returns true if a host is reached without a proxy.
    ///
    /// - Parameters:
    ///   - host: A name, or an address with or without brackets.
    ///   - port: The port of the request.
    /// - Returns: True if an entry matches both.
    package func contains(_ host: String, port: Int) -> Bool {
        if entries.isEmpty { return false }
        let host = HostPattern.normalized(host)
        let address = IPAddress(host)
        return entries.contains { entry in
            if let only = entry.port, only != port { return false }
            switch entry.target {
            case .all: return true
            case .name(let name):
                return address == nil && host.hasSuffix(name)
                    && (host.utf8.count == name.utf8.count
                        || host.utf8.dropLast(name.utf8.count).last == UInt8(ascii: "."))
            case .network(let network): return address.map(network.contains) ?? false
            }
        }
    }

    private static func entry(_ text: String) -> Entry? {
        // Checked before ports, since an IPv6 address without brackets contains colons.
        if let network = IPNetwork(text) { return Entry(target: .network(network), port: nil) }
        var host = text[...]
        var port: Int?
        if text.utf8.first == UInt8(ascii: "[") {
            guard let end = text.utf8.firstIndex(of: UInt8(ascii: "]")) else { return nil }
            host = text[..<end].dropFirst()
            let rest = text[end...].dropFirst()
            if !rest.isEmpty {
                guard rest.utf8.first == UInt8(ascii: ":"), let number = Int(rest.dropFirst()) else { return nil }
                port = number
            }
        } else if let colon = text.utf8.lastIndex(of: UInt8(ascii: ":")) {
            guard let number = Int(text[colon...].dropFirst()) else { return nil }
            host = text[..<colon]
            port = number
        }
        if host == "*" { return Entry(target: .all, port: port) }
        if let network = IPNetwork(String(host)) { return Entry(target: .network(network), port: port) }
        if host.hasPrefix("*.") { host.removeFirst() }
        if host.hasPrefix(".") { host.removeFirst() }
        let name = HostPattern.normalized(String(host))
        guard !name.isEmpty, !name.utf8.contains(where: { "*/:[]".utf8.contains($0) }) else { return nil }
        return Entry(target: .name(name), port: port)
    }
}

/// By which proxy a request goes: none, one, or the one that the environment names, which is the default.
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

    /// None: every request goes straight to its server.
    public static let none = ProxySelection(form: .none)

    /// What the variables of the process's environment say, which are read once; see ``ProxyEnvironment``.
    public static let environment = ProxySelection(form: .environment(nil))

    /// What other variables say, as if they were the environment's.
    public static func environment(_ environment: ProxyEnvironment) -> ProxySelection {
        ProxySelection(form: .environment(environment))
    }

    /// One proxy for all.
    ///
    /// - Parameters:
    ///   - proxy: The proxy.
    ///   - exceptions: Hosts that are reached without it, none by default; this computer's own are no exception.
    /// - Returns: A selection.
    public static func always(_ proxy: Proxy, except exceptions: [HostPattern] = []) -> ProxySelection {
        ProxySelection(form: .always(proxy, except: exceptions))
    }

    /// What a closure says.
    ///
    /// - Parameter choose: Given an origin, the proxy to reach it by, or nil for none. What it said is kept, so it is asked about once
    ///   an origin, or a few times; it must not block.
    /// - Returns: A selection.
    public static func choosing(_ choose: @escaping @Sendable (HTTPOrigin) -> Proxy?) -> ProxySelection {
        ProxySelection(form: .choosing(choose))
    }

    /// One HTTP proxy for all: see ``Proxy/http(_:user:password:methods:)``.
    public static func http(_ address: String, user: String? = nil, password: String = "") -> ProxySelection {
        .always(.http(address, user: user, password: password))
    }

    /// One SOCKS proxy of version 5 for all, which finds the addresses of hosts itself: see ``Proxy/socks5(_:user:password:names:)``.
    public static func socks5(_ address: String, user: String? = nil, password: String = "") -> ProxySelection {
        .always(.socks5(address, user: user, password: password))
    }

    /// Whether it is the default, by which an engine may have means of its own.
    package var isProcessEnvironment: Bool {
        if case .environment(nil) = form { true } else { false }
    }

    /// The proxy for an origin; nil for none.
    ///
    /// - Throws: ``SluiceError/Code/invalidConfiguration`` for a variable of the environment that cannot be read.
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

/// Who forwards requests in the client's stead.
///
/// ```swift
/// $0.connection.proxy = .http("proxy.example:3128", user: "ada", password: password)
/// ```
///
/// What goes by https goes through a tunnel (RFC 9110 §9.3.6) that the proxy cannot look into. A request that the proxy does not carry
/// fails with ``SluiceError/Code/proxyFailed``, and one whose proxy is no valid one with ``SluiceError/Code/invalidConfiguration``.
///
/// An address is a host and a port, `proxy.example:3128` or `[::1]:1080`. Without a port it is 80, 443 by TLS, and 1080 of SOCKS.
public struct Proxy: Sendable, Hashable {
    package enum Scheme: String, Sendable, Hashable {
        case http, https, socks4, socks4a, socks5, socks5h

        package var isSOCKS: Bool { self != .http && self != .https }

        var usualPort: Int {
            switch self {
            case .http: 80
            case .https: 443
            case .socks4, .socks4a, .socks5, .socks5h: 1080
            }
        }
    }

    /// Who finds the addresses of the hosts that requests go to.
    public enum NameResolution: Sendable, Hashable {
        /// The proxy is told the name: it may know names that the client does not, and nobody else learns of them.
        case byProxy
        /// The client asks its own DNS, and tells the proxy an address.
        case byClient
    }

    /// Credentials, which are shown in no description.
    package struct Credentials: Sendable, Hashable, CustomStringConvertible, CustomReflectable {
        package let user: String
        package let password: String
        package let methods: ChallengeCredentials.Methods

        package var description: String { "credentials of “\(user)”" }
        package var customMirror: Mirror { Mirror(self, children: ["user": user]) }
    }

    package let scheme: Scheme
    /// The host, in brackets where it is an address of version 6, and the port; nil where the address is none.
    package let address: String?
    package let credentials: Credentials?
    /// Who vouches for the proxy itself, where it is reached by TLS.
    package let trust: TLSConfiguration.Trust

    init(
        _ scheme: Scheme,
        _ address: String,
        _ credentials: Credentials?,
        trust: TLSConfiguration.Trust = .system
    ) {
        self.scheme = scheme
        self.address = Proxy.normalized(address[...], port: scheme.usualPort)
        self.credentials = credentials
        self.trust = trust
    }

    /// A proxy that is spoken to in HTTP.
    ///
    /// - Parameters:
    ///   - address: Where it is.
    ///   - user: The name that it asks for; nil where it asks for none.
    ///   - password: The password.
    ///   - methods: How it may ask. By Basic alone, the default, the password goes out with the first request; with Digest among them
    ///     the proxy is asked first, which costs a round trip, and a body that was sent must be able to be sent again.
    /// - Returns: A proxy.
    public static func http(
        _ address: String,
        user: String? = nil,
        password: String = "",
        methods: ChallengeCredentials.Methods = .basic
    ) -> Proxy {
        Proxy(.http, address, Credentials(user, password, methods))
    }

    /// A proxy that is spoken to in HTTP over TLS, so that nobody on the way to it sees the credentials and which hosts are asked.
    ///
    /// - Parameters:
    ///   - address: Where it is.
    ///   - user: The name that it asks for; nil where it asks for none.
    ///   - password: The password.
    ///   - methods: How it may ask; see ``http(_:user:password:methods:)``.
    ///   - trust: Who vouches for the proxy; ``ConnectionOptions/tls`` is for servers.
    /// - Returns: A proxy.
    public static func https(
        _ address: String,
        user: String? = nil,
        password: String = "",
        methods: ChallengeCredentials.Methods = .basic,
        trust: TLSConfiguration.Trust = .system
    ) -> Proxy {
        Proxy(.https, address, Credentials(user, password, methods), trust: trust)
    }

    /// A SOCKS proxy of version 5 (RFC 1928, RFC 1929).
    ///
    /// - Parameters:
    ///   - address: Where it is.
    ///   - user: The name that it asks for, up to 255 bytes; nil where it asks for none.
    ///   - password: The password, up to 255 bytes; it is sent as it is.
    ///   - names: Who finds the addresses of hosts; the proxy by default.
    /// - Returns: A proxy.
    public static func socks5(
        _ address: String,
        user: String? = nil,
        password: String = "",
        names: NameResolution = .byProxy
    ) -> Proxy {
        Proxy(names == .byProxy ? .socks5h : .socks5, address, Credentials(user, password))
    }

    /// A SOCKS proxy of version 4, which reaches addresses of version 4 only.
    ///
    /// - Parameters:
    ///   - address: Where it is.
    ///   - user: The user whom it may ask about; it knows no passwords.
    ///   - names: Who finds the addresses of hosts; the proxy by default, by the extension 4a.
    /// - Returns: A proxy.
    public static func socks4(_ address: String, user: String? = nil, names: NameResolution = .byProxy) -> Proxy {
        Proxy(names == .byProxy ? .socks4a : .socks4, address, Credentials(user, ""))
    }

    /// Why it cannot be used, as a sentence; nil where it can.
    package var problem: String? {
        // What was written may hold a password, so it is not shown.
        if address == nil { return "The proxy's address is none; write host and port, as in proxy.example:3128." }
        guard let credentials else { return nil }
        let isControl = { (byte: UInt8) in byte < 0x20 || byte == 0x7F }
        let texts = [credentials.user.utf8, credentials.password.utf8]
        if texts.contains(where: { $0.contains(where: isControl) }) {
            return "The proxy's credentials hold a control character, which cannot be sent."
        }
        if !scheme.isSOCKS, credentials.methods.contains(.basic), credentials.user.utf8.contains(UInt8(ascii: ":")) {
            return "The name of the proxy's user holds a colon, which cannot be sent by Basic (RFC 7617 §2)."
        }
        if scheme.isSOCKS, texts.contains(where: { $0.count > 255 }) {
            return "The proxy's credentials are longer than the 255 bytes that SOCKS has room for (RFC 1929)."
        }
        return nil
    }
}

extension Proxy.Credentials {
    init?(_ user: String?, _ password: String, _ methods: ChallengeCredentials.Methods = .basic) {
        guard let user else { return nil }
        self.init(user: user, password: password, methods: methods)
    }
}

extension Proxy: CustomStringConvertible, CustomReflectable {
    /// Its scheme and address; neither user nor password.
    public var description: String {
        "\(scheme.rawValue)://\(address ?? "?")"
    }

    /// Its scheme and address.
    public var customMirror: Mirror { Mirror(self, children: ["proxy": description]) }
}

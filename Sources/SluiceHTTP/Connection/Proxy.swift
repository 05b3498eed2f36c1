/// A proxy server that forwards requests.
///
/// ```swift
/// $0.connection.proxy = .http("proxy.example:3128", user: "ada", password: password)
/// ```
///
/// https requests use a tunnel (RFC 9110 §9.3.6), whose contents the proxy cannot read. A request that the proxy fails
/// to forward fails with ``SluiceError/Code/proxyFailed``. A request whose proxy is not valid fails with
/// ``SluiceError/Code/invalidConfiguration``.
///
/// An address is a host and a port, `proxy.example:3128` or `[::1]:1080`. The default port is 80, 443 with TLS, and
/// 1080 for SOCKS.
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

    /// Credentials for the proxy. Descriptions omit the password.
    package struct Credentials: Sendable, Hashable, CustomStringConvertible, RedactedMirror {
        package let user: String
        package let password: Secret
        package let methods: ChallengeCredentials.Methods

        package var description: String { "credentials of “\(user)”" }
    }

    package let scheme: Scheme
    /// The host, in brackets if it is an IPv6 address, and the port; nil if the address is not valid.
    package let address: String?
    package let credentials: Credentials?
    /// The trusted authorities for the proxy's own certificate, if it is reached over TLS.
    package let trust: TLSConfiguration.Trust

    init(_ scheme: Scheme, _ address: String, _ credentials: Credentials?, trust: TLSConfiguration.Trust = .system) {
        self.scheme = scheme
        self.address = Proxy.normalized(address[...], port: scheme.usualPort)
        self.credentials = credentials
        self.trust = trust
    }

    /// Creates an HTTP proxy.
    ///
    /// - Parameters:
    ///   - address: The proxy's host and port.
    ///   - user: The user name; nil if the proxy requires none.
    ///   - password: The password, a `String` or a ``Secret``; nil, the default, for an empty one.
    ///   - methods: The authentication methods to use. With Basic alone, the default, the first request carries the
    ///     password. With Digest the client waits for the proxy's challenge, which costs a round trip, and a body that
    ///     was sent must be replayable.
    /// - Returns: A proxy.
    public static func http(
        _ address: String,
        user: String? = nil,
        password: (any SecretConvertible)? = nil,
        methods: ChallengeCredentials.Methods = .basic
    ) -> Proxy {
        Proxy(.http, address, Credentials(user, password, methods))
    }

    /// Creates an HTTP proxy that is reached over TLS, which hides the credentials and the requested hosts from the
    /// network.
    ///
    /// - Parameters:
    ///   - address: The proxy's host and port.
    ///   - user: The user name; nil if the proxy requires none.
    ///   - password: The password, a `String` or a ``Secret``; nil, the default, for an empty one.
    ///   - methods: The authentication methods to use; see ``http(_:user:password:methods:)``.
    ///   - trust: The trusted authorities for the proxy; ``ConnectionOptions/tls`` applies to servers only.
    /// - Returns: A proxy.
    public static func https(
        _ address: String,
        user: String? = nil,
        password: (any SecretConvertible)? = nil,
        methods: ChallengeCredentials.Methods = .basic,
        trust: TLSConfiguration.Trust = .system
    ) -> Proxy {
        Proxy(.https, address, Credentials(user, password, methods), trust: trust)
    }

    /// Creates a SOCKS proxy of version 5 (RFC 1928, RFC 1929).
    ///
    /// - Parameters:
    ///   - address: The proxy's host and port.
    ///   - user: The user name, up to 255 bytes; nil if the proxy requires none.
    ///   - password: The password, a `String` or a ``Secret``, up to 255 bytes, sent unencrypted; nil, the default, for an
    ///     empty one.
    ///   - resolvesNames: True if the proxy resolves host names, the default. It may know names that the client cannot
    ///     resolve, and no DNS query leaves the client. False if the client resolves names with its own DNS and sends the
    ///     proxy an address.
    /// - Returns: A proxy.
    public static func socks5(
        _ address: String,
        user: String? = nil,
        password: (any SecretConvertible)? = nil,
        resolvesNames: Bool = true
    ) -> Proxy {
        Proxy(resolvesNames ? .socks5h : .socks5, address, Credentials(user, password))
    }

    /// Creates a SOCKS proxy of version 4, which reaches IPv4 addresses only.
    ///
    /// - Parameters:
    ///   - address: The proxy's host and port.
    ///   - user: The user ID, which the proxy may verify; SOCKS 4 has no passwords.
    ///   - resolvesNames: True if the proxy resolves host names, the default, with the extension 4a; false if the client
    ///     does.
    /// - Returns: A proxy.
    public static func socks4(_ address: String, user: String? = nil, resolvesNames: Bool = true) -> Proxy {
        Proxy(resolvesNames ? .socks4a : .socks4, address, Credentials(user, nil))
    }

    /// The reason that the proxy cannot be used, as a sentence; nil if it can be used.
    package var problem: String? {
        // The text may contain a password, so the message omits it.
        if address == nil {
            let hint = "Write the host and the port, as in proxy.example:3128, and an international name in Punycode."
            return "The proxy's address is not valid. \(hint)"
        }
        guard let credentials else { return nil }
        let isControl = { (byte: UInt8) in byte < 0x20 || byte == 0x7F }
        let texts = [credentials.user.utf8, credentials.password.reveal().utf8]
        if texts.contains(where: { $0.contains(where: isControl) }) {
            return "The proxy's credentials contain a control character, which cannot be sent."
        }
        if !scheme.isSOCKS, credentials.methods.contains(.basic), credentials.user.utf8.contains(UInt8(ascii: ":")) {
            return
                "The user name for the proxy contains a colon, which Basic authentication does not allow (RFC 7617 §2)."
        }
        if scheme.isSOCKS, texts.contains(where: { $0.count > 255 }) {
            return "The proxy's credentials are longer than 255 bytes, the limit of SOCKS (RFC 1929)."
        }
        return nil
    }
}

extension Proxy.Credentials {
    init?(_ user: String?, _ password: (any SecretConvertible)?, _ methods: ChallengeCredentials.Methods = .basic) {
        guard let user else { return nil }
        self.init(user: user, password: password?.asSecret() ?? "", methods: methods)
    }
}

extension Proxy: CustomStringConvertible, CustomReflectable, RedactedMirror {
    /// The scheme and address, without user or password.
    public var description: String {
        "\(scheme.rawValue)://\(address ?? "?")"
    }
}

// MARK: - URLs of proxies

extension Proxy {
    /// Parses a proxy's URL, as used in settings and environment variables: `http://user:password@proxy.example:3128`.
    ///
    /// - Parameter text: A URL whose scheme is `http`, `https`, `socks4`, `socks4a`, `socks5` or `socks5h`; without a
    ///   scheme it is an HTTP proxy. With `socks4` and `socks5` the client resolves host names, otherwise the proxy
    ///   does, as in other tools. Percent-encode characters of name and password that have a meaning in a URL.
    /// - Throws: ``SluiceError/Code/invalidConfiguration``. The error omits the text, which may contain a password.
    public init(_ text: String) throws(SluiceError) {
        guard let proxy = Proxy(reading: text) else {
            throw SluiceError(
                .invalidConfiguration,
                "The proxy's URL is not valid, or its scheme is not supported. Write it as http://proxy.example:3128 or socks5h://proxy.example:1080.",
                step: .building
            )
        }
        if let problem = proxy.problem { throw SluiceError(.invalidConfiguration, problem, step: .building) }
        self = proxy
    }

    /// Parses a proxy's URL; nil for any other text.
    init?(reading text: String) {
        var rest = text[...]
        var scheme = Scheme.http
        if let end = rest.utf8.firstRange(of: "://".utf8) {
            guard let known = Scheme(rawValue: rest[..<end.lowerBound].lowercased()) else { return nil }
            scheme = known
            rest = rest[end.upperBound...]
        }
        // A trailing slash is common and has no meaning.
        if rest.utf8.last == UInt8(ascii: "/") { rest.removeLast() }
        var credentials: Credentials?
        if let at = rest.utf8.lastIndex(of: UInt8(ascii: "@")) {
            let parts = rest[..<at].utf8.split(
                separator: UInt8(ascii: ":"),
                maxSplits: 1,
                omittingEmptySubsequences: false
            )
            let texts = parts.compactMap { part in
                PercentEncoding.strictlyDecoded(part).flatMap { String(validating: $0, as: UTF8.self) }
            }
            guard texts.count == parts.count, let user = texts.first else { return nil }
            credentials = Credentials(user, texts.count > 1 ? texts[1] : "")
            rest = rest[at...].dropFirst()
        }
        self.init(scheme, String(rest), credentials)
        if address == nil { return nil }
    }

    /// Returns `host:port` with the default port added; nil if the text is not a valid host name or address.
    static func normalized(_ text: Substring, port: Int) -> String? {
        let isBracketed = text.utf8.first == UInt8(ascii: "[")
        guard
            let end = isBracketed
                ? text.utf8.firstIndex(of: UInt8(ascii: "]")) : text.utf8.firstIndex(of: UInt8(ascii: ":"))
        else {
            return !isBracketed && isName(text) ? "\(text):\(port)" : nil
        }
        var host = text[..<end]
        var rest = text[end...]
        if isBracketed {
            guard let address = IPAddress(String(host.dropFirst())), !address.isIPv4 else { return nil }
            host = "[\(address)]"
            rest.removeFirst()
            if rest.isEmpty { return "\(host):\(port)" }
        } else if !isName(host) {
            return nil
        }
        guard rest.utf8.first == UInt8(ascii: ":"), let port = portNumber(rest.dropFirst()) else { return nil }
        return "\(host):\(port)"
    }

    private static func portNumber(_ digits: Substring) -> Int64? {
        guard digits.utf8.count <= 5, let port = digits.utf8.decimalNumber(), (1...65535).contains(port) else {
            return nil
        }
        return port
    }

    /// Returns true if a text is a host name. An international name is written in Punycode, as in URLs.
    private static func isName(_ text: Substring) -> Bool {
        !text.isEmpty && text.utf8.allSatisfy { $0.isLetter || $0.isDigit || ".-_".utf8.contains($0) }
    }
}

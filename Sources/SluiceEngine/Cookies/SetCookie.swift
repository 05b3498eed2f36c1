#if os(Linux)
import SluiceFoundation
import SluiceHTTP

/// A parsed `Set-Cookie` field (RFC 6265bis §5.6), independent of the server that sent it.
///
/// If an attribute occurs more than once, the last one applies.
package struct SetCookie: Sendable, Hashable {
    /// The maximum combined length of name and value, in bytes.
    private static let pairLimit = 4096
    /// The maximum length of an attribute value in bytes. Longer attributes are ignored.
    private static let attributeLimit = 1024
    /// The maximum lifetime of a cookie in seconds: 400 days.
    private static let maximumLifetime: Int64 = 400 * 86_400

    /// The original name. Empty for a field without an equals sign.
    package let name: [UInt8]
    package let value: [UInt8]
    /// The `Max-Age` in seconds, 0 for one that is not positive. Nil without the attribute.
    package private(set) var maxAge: Int64?
    /// The `Expires` time in seconds since 1970. Nil without the attribute or with an invalid date.
    package private(set) var expires: Int64?
    /// The domain without its leading dot; empty if the attribute is missing.
    package private(set) var domain: [UInt8] = []
    /// The path, or nil for the default path.
    package private(set) var path: [UInt8]?
    /// True if there is a `Path` attribute, valid or not.
    package private(set) var hasPath = false
    package private(set) var isSecure = false
    package private(set) var isHTTPOnly = false
    package private(set) var sameSite = Cookie.SameSite.unspecified

    /// Parses the value of a field. Returns nil if it sets no cookie: it contains a control character other than a tab, has neither name
    /// nor value, or its pair exceeds the limit.
    package init?(_ field: [UInt8]) {
        let end = field.firstIndex(of: UInt8(ascii: ";")) ?? field.endIndex
        let pair = field[..<end]
        let equals = pair.firstIndex(of: UInt8(ascii: "="))
        let name = equals.map { pair[..<$0].trimmed } ?? []
        let value = (equals.map { pair[$0...].dropFirst() } ?? pair[...]).trimmed
        guard !name.isEmpty || !value.isEmpty, name.count + value.count <= SetCookie.pairLimit,
            field.allSatisfy({ $0 >= 32 && $0 != 127 || $0 == 9 })
        else { return nil }
        self.name = Array(name)
        self.value = Array(value)
        var rest = field[end...].dropFirst()
        while let start = rest.firstIndex(where: { $0 != UInt8(ascii: ";") }) {
            rest = rest[start...]
            let end = rest.firstIndex(of: UInt8(ascii: ";")) ?? rest.endIndex
            parse(attribute: rest[..<end])
            rest = rest[end...]
        }
    }

    /// Returns the expiration date, or nil for a session cookie. `Max-Age` takes precedence over `Expires`.
    package func end(at now: Date) -> Date? {
        if let maxAge { return maxAge > 0 ? now.addingTimeInterval(Double(maxAge)) : .distantPast }
        guard let expires else { return nil }
        return min(
            Date(timeIntervalSince1970: Double(expires)),
            now.addingTimeInterval(Double(SetCookie.maximumLifetime))
        )
    }

    private mutating func parse(attribute: ArraySlice<UInt8>) {
        let equals = attribute.firstIndex(of: UInt8(ascii: "=")) ?? attribute.endIndex
        let name = attribute[..<equals].trimmed
        let value = attribute[equals...].dropFirst().trimmed
        guard name.count <= 8, value.count <= SetCookie.attributeLimit else { return }
        switch String(decoding: name.map(\.asciiLowercased), as: UTF8.self) {
        case "expires": expires = CookieDate.seconds(value) ?? expires
        case "max-age": maxAge = SetCookie.age(value) ?? maxAge
        case "domain": domain = value.first == UInt8(ascii: ".") ? Array(value.dropFirst()) : Array(value)
        case "path":
            hasPath = true
            path = value.first == UInt8(ascii: "/") ? Array(value) : nil
        case "secure": isSecure = true
        case "httponly": isHTTPOnly = true
        case "samesite":
            switch String(decoding: value.prefix(8).map(\.asciiLowercased), as: UTF8.self) {
            case "none": sameSite = .none
            case "lax": sameSite = .lax
            case "strict": sameSite = .strict
            default: sameSite = .unspecified
            }
        default: break
        }
    }

    /// Returns a number of seconds between 0 and the maximum lifetime, or nil if the text is not a number.
    private static func age(_ text: ArraySlice<UInt8>) -> Int64? {
        let isNegative = text.first == UInt8(ascii: "-")
        let digits = isNegative ? text.dropFirst() : text[...]
        guard !digits.isEmpty, digits.allSatisfy(\.isDigit) else { return nil }
        if isNegative { return 0 }
        return digits.reduce(0) { min($0 * 10 + Int64($1 - 48), maximumLifetime) }
    }
}

// MARK: - Cookie origin

/// The properties of a request that select its cookies and validate those of its responses: host, path and security.
package struct CookieOrigin: Sendable, Hashable {
    /// The host in lower case, without brackets and without a trailing dot.
    package let host: String
    /// True for an IP address, which has no parent domains.
    package let isAddress: Bool
    /// The path without the query.
    package let path: [UInt8]
    /// True for https, and for http to this computer, as in browsers.
    package let isSecure: Bool

    /// The maximum length of a DNS name (RFC 1035 §2.3.4).
    private static let maximumHostLength = 255

    /// Creates the origin of a request, or returns nil if its host cannot have cookies.
    ///
    /// A `Host` field of the request takes precedence over the URL, because it names the site that the server answers for. It does not
    /// affect `isSecure`.
    ///
    /// - Parameters:
    ///   - request: The request.
    ///   - isDirect: False if the connection leads elsewhere than to the host, such as to a proxy.
    package init?(_ request: HTTPRequest, isDirect: Bool = true) {
        let hostField = request.headers.values(for: .host).first
        guard let host = CookieOrigin.host(of: hostField ?? request.authority) else { return nil }
        self.init(
            host: host,
            path: Array(request.path.utf8.prefix { $0 != UInt8(ascii: "?") && $0 != UInt8(ascii: "#") }),
            isSecure: request.scheme == "https"
                || isDirect && hostField == nil && HostPattern.isLoopback(normalized: host)
        )
    }

    /// Creates an origin from its parts. The host has the form of ``host``.
    package init(host: String, path: [UInt8], isSecure: Bool) {
        self.host = host
        self.path = path
        self.isSecure = isSecure
        isAddress = CookieOrigin.isAddress(host)
    }

    /// The domains that the cookies of the host may belong to: the host and its parent domains.
    var domains: [String] {
        if isAddress { return [host] }
        var domains = [host]
        var rest = host.utf8[...]
        while let dot = rest.firstIndex(of: UInt8(ascii: ".")) {
            rest = rest[dot...].dropFirst()
            if !rest.isEmpty { domains.append(String(Substring(rest))) }
        }
        return domains
    }

    /// The default path of cookies without a `Path` attribute (RFC 6265bis §5.1.4).
    package var defaultPath: [UInt8] {
        let slash = UInt8(ascii: "/")
        guard path.first == slash, let last = path.lastIndex(of: slash), last > 0 else { return [slash] }
        return Array(path[..<last])
    }

    /// Returns true if the host is the domain or a subdomain of it (RFC 6265bis §5.1.3).
    func matches(domain: String) -> Bool {
        host == domain || !isAddress && CookieOrigin.isSubdomain(host, of: domain)
    }

    /// Returns true if a path equals the cookie path or is below it (RFC 6265bis §5.1.4).
    static func path(_ path: [UInt8], isWithin cookiePath: [UInt8]) -> Bool {
        guard path.starts(with: cookiePath) else { return false }
        return path.count == cookiePath.count || cookiePath.last == UInt8(ascii: "/")
            || path[cookiePath.count] == UInt8(ascii: "/")
    }

    /// Returns true if a name ends with a dot and the other name.
    static func isSubdomain(_ name: String, of domain: String) -> Bool {
        let prefixLength = name.utf8.count - domain.utf8.count
        guard prefixLength > 0, !domain.isEmpty, name.hasSuffix(domain) else { return false }
        return name.utf8.dropFirst(prefixLength - 1).first == UInt8(ascii: ".")
    }

    /// Returns a domain in lower case, without a trailing dot.
    static func canonical(_ domain: some Collection<UInt8>) -> String {
        var bytes = domain.map(\.asciiLowercased)
        if bytes.last == UInt8(ascii: ".") { bytes.removeLast() }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Returns the host of an authority in the form of ``host``, or nil if it is not valid.
    private static func host(of authority: String) -> String? {
        let bytes = Array(authority.utf8)
        // Unlike a URL, the value of the field has not been validated. A port has at most six bytes, and brackets have two.
        guard bytes.count <= maximumHostLength + 8, Authority.problem(in: authority) == nil else { return nil }
        let host: String
        if bytes.first == UInt8(ascii: "[") {
            host = canonical(bytes.dropFirst().prefix { $0 != UInt8(ascii: "]") })
        } else {
            host = canonical(bytes.prefix { $0 != UInt8(ascii: ":") })
        }
        return host.isEmpty ? nil : host
    }

    /// Returns true for IPv6, and for a name whose last label is a number, which is a form of IPv4.
    private static func isAddress(_ host: String) -> Bool {
        if host.utf8.contains(UInt8(ascii: ":")) { return true }
        let bytes = Array(host.utf8)
        let label = bytes[(bytes.lastIndex(of: UInt8(ascii: ".")).map { $0 + 1 } ?? 0)...]
        let isHexadecimal = label.starts(with: "0x".utf8)
        return !label.isEmpty
            && label.dropFirst(isHexadecimal ? 2 : 0).allSatisfy { byte in
                byte.isDigit || isHexadecimal && (UInt8(ascii: "a")...UInt8(ascii: "f")).contains(byte)
            }
    }
}
#endif

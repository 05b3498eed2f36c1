#if os(Linux)
import SluiceHTTP

/// The properties of a request that select its cookies and validate those of its responses: host, path and security.
package struct CookieOrigin: Sendable, Hashable {
    /// The host in lower case, without brackets and without a trailing dot.
    package let host: String
    /// True for an IP address, which has no parent domains.
    package let isAddress: Bool
    /// The path without the query.
    package let path: [UInt8]
    /// True for https, and for http to the local host, as in browsers.
    package let isSecure: Bool

    /// The maximum length of a DNS name (RFC 1035 §2.3.4).
    private static let maximumHostLength = 255

    /// Creates the origin of a request, or returns nil if its host cannot have cookies.
    ///
    /// A `Host` field of the request takes precedence over the URL, because it names the site that the server answers for. It does not
    /// affect `isSecure`.
    package init?(_ request: HTTPRequest) {
        let hostField = request.headers.values(for: .host).first
        guard let host = CookieOrigin.host(of: hostField ?? request.authority) else { return nil }
        self.init(
            host: host,
            path: Array(request.path.utf8.prefix { $0 != UInt8(ascii: "?") && $0 != UInt8(ascii: "#") }),
            isSecure: request.scheme == "https" || hostField == nil && HostPattern.isLoopback(normalized: host)
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

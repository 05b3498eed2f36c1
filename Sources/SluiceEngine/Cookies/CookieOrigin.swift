#if os(Linux)
import SluiceHTTP

/// The parts of a request by which its cookies are chosen, and those of its response judged: host, path, and protection on the way.
package struct CookieOrigin: Sendable, Hashable {
    /// The host in small letters, without brackets and without a dot at its end.
    package let host: String
    /// True for an IP address, which has no domains above it.
    package let isAddress: Bool
    /// The path without the query.
    package let path: [UInt8]
    /// True if nobody on the way can read or change anything: over https, and over http to this computer itself, as for browsers.
    package let isSecure: Bool

    /// Names of DNS are shorter.
    private static let longestHost = 255

    /// Takes what a request says; nil if its host is none that could have cookies.
    ///
    /// A `Host` field of the request's own goes before the URL, since it names the site that the server answers for. It does not make the
    /// way there a safe one.
    package init?(_ request: HTTPRequest) {
        let own = request.headers.values(for: .host).first
        guard let host = CookieOrigin.host(of: own ?? request.authority) else { return nil }
        let isLoopback = own == nil && ["localhost", "127.0.0.1", "::1"].contains(host)
        self.init(
            host: host,
            path: Array(request.path.utf8.prefix { $0 != UInt8(ascii: "?") && $0 != UInt8(ascii: "#") }),
            isSecure: request.scheme == "https" || isLoopback
        )
    }

    /// Creates an origin of its parts; the host as ``host`` has it.
    package init(host: String, path: [UInt8], isSecure: Bool) {
        self.host = host
        self.path = path
        self.isSecure = isSecure
        isAddress = CookieOrigin.isAddress(host)
    }

    /// The domains whose cookies may belong to the host: itself, and those above it.
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

    /// The path of cookies that name none (RFC 6265bis §5.1.4).
    package var defaultPath: [UInt8] {
        let slash = UInt8(ascii: "/")
        guard path.first == slash, let last = path.lastIndex(of: slash), last > 0 else { return [slash] }
        return Array(path[..<last])
    }

    /// Returns true if the host is a domain or lies below it (RFC 6265bis §5.1.3).
    func matches(domain: String) -> Bool {
        host == domain || !isAddress && CookieOrigin.isSubdomain(host, of: domain)
    }

    /// Returns true if a path is the other or lies below it (RFC 6265bis §5.1.4).
    static func path(_ path: [UInt8], isWithin cookiePath: [UInt8]) -> Bool {
        guard path.starts(with: cookiePath) else { return false }
        return path.count == cookiePath.count || cookiePath.last == UInt8(ascii: "/")
            || path[cookiePath.count] == UInt8(ascii: "/")
    }

    /// Returns true if a name ends with another and a dot before it.
    static func isSubdomain(_ name: String, of domain: String) -> Bool {
        let room = name.utf8.count - domain.utf8.count
        guard room > 0, !domain.isEmpty, name.hasSuffix(domain) else { return false }
        return name.utf8.dropFirst(room - 1).first == UInt8(ascii: ".")
    }

    /// A domain in small letters, without a dot at its end.
    static func canonical(_ domain: some Collection<UInt8>) -> String {
        var bytes = domain.map(\.asciiLowercased)
        if bytes.last == UInt8(ascii: ".") { bytes.removeLast() }
        return String(decoding: bytes, as: UTF8.self)
    }

    private static func host(of authority: String) -> String? {
        let bytes = Array(authority.utf8)
        // A field's value was not judged as the URL was.
        guard bytes.count <= longestHost + 8, Authority.flaw(of: authority) == nil else { return nil }
        let host: String
        if bytes.first == UInt8(ascii: "[") {
            host = canonical(bytes.dropFirst().prefix { $0 != UInt8(ascii: "]") })
        } else {
            host = canonical(bytes.prefix { $0 != UInt8(ascii: ":") })
        }
        return host.isEmpty ? nil : host
    }

    /// True for IPv6, and for a name whose last label is a number, which is IPv4 in one of its forms.
    private static func isAddress(_ host: String) -> Bool {
        if host.utf8.contains(UInt8(ascii: ":")) { return true }
        let bytes = Array(host.utf8)
        let label = bytes[(bytes.lastIndex(of: UInt8(ascii: ".")).map { $0 + 1 } ?? 0)...]
        let isHexadecimal = label.starts(with: "0x".utf8)
        return !label.isEmpty
            && label.dropFirst(isHexadecimal ? 2 : 0).allSatisfy { byte in
                byte &- 48 < 10 || isHexadecimal && (UInt8(ascii: "a")...UInt8(ascii: "f")).contains(byte)
            }
    }
}
#endif

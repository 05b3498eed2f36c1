#if os(Linux)
import SluiceFoundation
import SluiceHTTP

/// A cookie in a table (RFC 6265bis §5.7).
struct StoredCookie: Sendable {
    let name: [UInt8]
    let value: [UInt8]
    /// The domain in lower case, without a leading or trailing dot.
    let domain: String
    let path: [UInt8]
    let isHostOnly: Bool
    let expires: Date?
    let isSecure: Bool
    let isHTTPOnly: Bool
    let sameSite: Cookie.SameSite
    /// The position in the order of creation. A cookie that replaces another keeps its position.
    var created: UInt64 = 0
    /// The position in the order of last use.
    var lastUse: UInt64 = 0

    /// The maximum length of a path in bytes. A server can lead to a URL of any length, whose path is the default.
    static let pathLimit = 1024

    /// Applies the rules that do not depend on other cookies. Returns nil if the server must not set the cookie.
    ///
    /// - Parameters:
    ///   - field: The parsed field.
    ///   - origin: The origin of the request.
    ///   - now: The current time.
    ///   - isPublicSuffix: Returns true for a public suffix.
    init?(_ field: SetCookie, from origin: CookieOrigin, at now: Date, isPublicSuffix: (String) -> Bool) {
        guard let scope = StoredCookie.scope(of: field, origin, isPublicSuffix) else { return nil }
        let path = field.path ?? origin.defaultPath
        guard path.count <= StoredCookie.pathLimit else { return nil }
        let isPermitted = CookiePrefix.permits(
            name: field.name,
            value: field.value,
            isSecure: field.isSecure,
            isHostOnly: scope.isHostOnly,
            hasRootPath: field.hasPath && path == [UInt8(ascii: "/")]
        )
        guard isPermitted, origin.isSecure || !field.isSecure else { return nil }
        name = field.name
        value = field.value
        domain = scope.domain
        isHostOnly = scope.isHostOnly
        self.path = path
        expires = field.end(at: now)
        isSecure = field.isSecure
        isHTTPOnly = field.isHTTPOnly
        sameSite = field.sameSite
    }

    /// Creates a cookie from the program or a file.
    init(_ line: CookieLine) {
        name = line.name
        value = line.value
        domain = CookieOrigin.canonical(line.cookie.domain.utf8)
        isHostOnly = !line.cookie.includesSubdomains
        path = line.path
        expires = line.cookie.expires
        isSecure = line.cookie.isSecure
        isHTTPOnly = line.cookie.isHTTPOnly
        sameSite = line.cookie.sameSite
    }

    /// Returns the domain of a server's cookie, or nil if the server must not set cookies for it.
    private static func scope(
        of field: SetCookie,
        _ origin: CookieOrigin,
        _ isPublicSuffix: (String) -> Bool
    ) -> (domain: String, isHostOnly: Bool)? {
        if field.domain.isEmpty { return (origin.host, true) }
        guard field.domain.allSatisfy({ $0 < 0x80 }) else { return nil }
        let domain = CookieOrigin.canonical(field.domain)
        // This check comes first, because it limits the length of the domain that is looked up.
        guard !domain.isEmpty, origin.matches(domain: domain) else { return nil }
        if origin.isAddress { return (domain, true) }
        guard isPublicSuffix(domain) else { return (domain, false) }
        return domain == origin.host ? (domain, true) : nil
    }

    /// Returns true if the cookie is sent with a request. `isHost` is true if the request's host equals the cookie's domain.
    func matches(_ origin: CookieOrigin, isHost: Bool, at now: Date) -> Bool {
        (isHost || !isHostOnly) && (!isSecure || origin.isSecure) && !isExpired(at: now)
            && CookieOrigin.path(origin.path, isWithin: path)
    }

    /// Returns true if the other cookie, which has the same domain, replaces this one.
    func hasSameIdentity(as other: StoredCookie) -> Bool {
        name == other.name && path == other.path && isHostOnly == other.isHostOnly
    }

    func isExpired(at now: Date) -> Bool { expires.map { $0 <= now } ?? false }

    /// The length of the cookie pair in the `Cookie` field.
    var pairLength: Int { value.count + (name.isEmpty ? 0 : name.count + 1) }

    /// Appends the cookie pair in the form of the `Cookie` field.
    func appendPair(to bytes: inout [UInt8]) {
        if !name.isEmpty {
            bytes.append(contentsOf: name)
            bytes.append(UInt8(ascii: "="))
        }
        bytes.append(contentsOf: value)
    }

    /// The cookie in the form for the program and the file.
    var line: CookieLine {
        let cookie = Cookie(
            name: String(decoding: name, as: UTF8.self),
            value: String(decoding: value, as: UTF8.self),
            domain: domain,
            path: String(decoding: path, as: UTF8.self),
            includesSubdomains: !isHostOnly,
            expires: expires,
            isSecure: isSecure,
            isHTTPOnly: isHTTPOnly,
            sameSite: sameSite
        )
        return CookieLine(cookie, name: name, value: value, path: path)
    }
}
#endif

#if os(Linux)
#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif
import SluiceHTTP

/// A cookie in a table (RFC 6265bis §5.7).
struct StoredCookie: Sendable {
    let name: [UInt8]
    let value: [UInt8]
    /// In small letters, without dots around it.
    let domain: String
    let path: [UInt8]
    let isHostOnly: Bool
    let expires: Date?
    let isSecure: Bool
    let isHTTPOnly: Bool
    let sameSite: Cookie.SameSite
    /// Its place in the order in which cookies were created; one that replaces another takes over its place.
    var created: UInt64 = 0
    /// Its place in the order in which cookies were last sent or set.
    var used: UInt64 = 0

    /// Applies the rules that need no other cookies; nil for a cookie that the server must not set.
    ///
    /// - Parameters:
    ///   - field: The field that sets it.
    ///   - origin: The request that was answered.
    ///   - now: The time.
    ///   - isPublicSuffix: Returns true for a public suffix.
    init?(_ field: SetCookie, from origin: CookieOrigin, at now: Date, isPublicSuffix: (String) -> Bool) {
        guard let scope = StoredCookie.scope(of: field, origin, isPublicSuffix) else { return nil }
        let path = field.path ?? origin.defaultPath
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

    /// Takes a cookie from the program or a file.
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

    /// The domain that a server's cookie is for; nil if the server has no say over it.
    private static func scope(
        of field: SetCookie,
        _ origin: CookieOrigin,
        _ isPublicSuffix: (String) -> Bool
    ) -> (domain: String, isHostOnly: Bool)? {
        if field.domain.isEmpty { return (origin.host, true) }
        guard field.domain.allSatisfy({ $0 < 0x80 }) else { return nil }
        let domain = CookieOrigin.canonical(field.domain)
        // First, because it bounds the length of what is looked up.
        guard !domain.isEmpty, origin.matches(domain: domain) else { return nil }
        if origin.isAddress { return (domain, true) }
        guard isPublicSuffix(domain) else { return (domain, false) }
        return domain == origin.host ? (domain, true) : nil
    }

    /// Returns true if the cookie goes with a request whose host is the cookie's domain, as `isHost` says, or lies below it.
    func belongs(to origin: CookieOrigin, isHost: Bool, at now: Date) -> Bool {
        (isHost || !isHostOnly) && (!isSecure || origin.isSecure) && !hasEnded(at: now)
            && CookieOrigin.path(origin.path, isWithin: path)
    }

    /// Returns true if the other cookie is to replace this one; both have the same domain.
    func isLike(_ other: StoredCookie) -> Bool {
        name == other.name && path == other.path && isHostOnly == other.isHostOnly
    }

    func hasEnded(at now: Date) -> Bool { expires.map { $0 <= now } ?? false }

    /// The length of the pair in the field.
    var pairLength: Int { value.count + (name.isEmpty ? 0 : name.count + 1) }

    /// Appends the pair as the `Cookie` field has it.
    func appendPair(to bytes: inout [UInt8]) {
        if !name.isEmpty {
            bytes.append(contentsOf: name)
            bytes.append(UInt8(ascii: "="))
        }
        bytes.append(contentsOf: value)
    }

    /// The cookie for the program and for the file.
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

import SluiceFoundation

/// A cookie in a ``CookieJar`` (RFC 6265bis §5.7).
///
/// ```swift
/// try await jar.set(Cookie(name: "theme", value: "dark", domain: "shop.example"))
/// ```
public struct Cookie: Sendable, Hashable {
    /// The name; empty only for a cookie that a server has set without a name.
    public var name: String
    /// The value, usually a secret. Descriptions omit it.
    public var value: String
    /// The host, or the domain if ``includesSubdomains`` is true, without a leading dot.
    public var domain: String
    /// The path prefix of matching requests, by whole segments (RFC 6265 §5.1.4); begins with a slash.
    public var path: String
    /// True if hosts below the domain receive the cookie too. Servers set this with `Domain`.
    public var includesSubdomains: Bool
    /// The expiry date; nil for a session cookie. The session of a jar in memory ends with the program. A jar with a
    /// file keeps session cookies.
    public var expires: Date?
    /// True if the cookie is sent over https only, or over http to this computer.
    public var isSecure: Bool
    /// True if browsers hide the cookie from scripts.
    public var isHTTPOnly: Bool
    /// The `SameSite` attribute, which browsers enforce. A client's requests have no originating site, so the attribute
    /// is stored but not enforced. A jar's file does not store it.
    public var sameSite: SameSite

    /// Creates a cookie; by default a session cookie for one host and all its paths.
    public init(
        name: String,
        value: String,
        domain: String,
        path: String = "/",
        includesSubdomains: Bool = false,
        expires: Date? = nil,
        isSecure: Bool = false,
        isHTTPOnly: Bool = false,
        sameSite: SameSite = .unspecified
    ) {
        self.name = name
        self.value = value
        self.domain = domain
        self.path = path
        self.includesSubdomains = includesSubdomains
        self.expires = expires
        self.isSecure = isSecure
        self.isHTTPOnly = isHTTPOnly
        self.sameSite = sameSite
    }

    /// The values of a cookie's `SameSite` attribute (RFC 6265bis §5.6.7).
    public enum SameSite: Sendable, Hashable {
        /// No attribute, or an unknown value.
        case unspecified
        /// Sent with requests from every site.
        case none
        /// Sent with requests from the cookie's own site, and when a link from another site is followed.
        case lax
        /// Sent with requests from the cookie's own site only.
        case strict
    }
}

extension Cookie: CustomStringConvertible, CustomReflectable, RedactedMirror {
    /// The name, domain and path; the value is omitted.
    public var description: String { "\(name) for \(domain)\(path)" }
}

/// The prefixes of a cookie's name that restrict how the cookie may be set (RFC 6265bis §4.1.3).
package enum CookiePrefix {
    private static let secure: StaticString = "__Secure-"
    private static let host: StaticString = "__Host-"

    /// Returns true if a cookie meets the rules of its name's prefix. Case is ignored, since some servers ignore it
    /// too.
    ///
    /// - Parameters:
    ///   - name: The cookie's name. If it is empty, the value must not have a prefix, because servers would read it as
    ///     the name.
    ///   - value: The cookie's value.
    ///   - isSecure: True if the cookie is sent over https only.
    ///   - isHostOnly: True if the cookie is sent to one host only.
    ///   - hasRootPath: True if the path is `/` and was given explicitly.
    /// - Returns: False for a cookie that must not be stored.
    package static func permits(
        name: [UInt8],
        value: [UInt8],
        isSecure: Bool,
        isHostOnly: Bool,
        hasRootPath: Bool
    ) -> Bool {
        if name.isEmpty { return !begins(value, with: secure) && !begins(value, with: host) }
        if begins(name, with: secure) { return isSecure }
        if begins(name, with: host) { return isSecure && isHostOnly && hasRootPath }
        return true
    }

    private static func begins(_ bytes: [UInt8], with prefix: StaticString) -> Bool {
        let count = prefix.utf8CodeUnitCount
        guard bytes.count >= count else { return false }
        return prefix.withUTF8Buffer { prefix in
            zip(bytes, prefix).allSatisfy { $0.asciiLowercased == $1.asciiLowercased }
        }
    }
}

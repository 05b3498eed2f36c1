#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// A cookie as a ``CookieJar`` keeps it (RFC 6265bis §5.7).
///
/// ```swift
/// try await jar.set(Cookie(name: "theme", value: "dark", domain: "shop.example"))
/// ```
public struct Cookie: Sendable, Hashable {
    /// Its name; empty for a cookie that a server has set without one, and for no other.
    public var name: String
    /// Its value, which is a secret as a rule: descriptions leave it out.
    public var value: String
    /// The host it is for, or the domain whose hosts it is for; without a dot before it.
    public var domain: String
    /// The path that those of requests must begin with, by whole segments (RFC 6265 §5.1.4); begins with a slash.
    public var path: String
    /// Whether the hosts below the domain get it as well. A server says so with `Domain`.
    public var includesSubdomains: Bool
    /// When it ends; nil for the end of the session, which a jar in memory has with the program and one with a file does not have.
    public var expires: Date?
    /// True if it goes over https only, and over http to this computer itself.
    public var isSecure: Bool
    /// Whether browsers keep it from a page's scripts.
    public var isHTTPOnly: Bool
    /// The requests, by the site they come from, to which browsers limit it. A client's requests come from no site: the attribute is kept,
    /// and not enforced. A jar's file has no place for it.
    public var sameSite: SameSite

    /// Makes a cookie for one host and all its paths, until the session ends, unless told otherwise.
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
        /// No attribute, or one of another value.
        case unspecified
        /// Requests from every site.
        case none
        /// Requests from its own site, and following a link from another.
        case lax
        /// Requests from its own site.
        case strict
    }
}

extension Cookie: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// Its name, and where it goes.
    public var description: String { "\(name) for \(domain)\(path)" }
    /// The same.
    public var debugDescription: String { description }
    /// Without the value, which `dump` would show.
    public var customMirror: Mirror { Mirror(self, children: ["name": name, "domain": domain, "path": path]) }
}

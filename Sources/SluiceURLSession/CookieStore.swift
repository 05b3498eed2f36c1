import Foundation
import SluiceHTTP

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// The cookies of one jar in Foundation's storage. Cookies are sent and received in header fields, without the
/// session's own cookie handling.
///
/// For Apple's Foundation only. Foundation on Linux accepts cookies for any domain from any host, and keeps and sends
/// expired cookies.
struct CookieStore: CookieStorage {
    private let storage: HTTPCookieStorage

    init?(_ lines: [CookieLine] = []) {
        // An ephemeral configuration has its own storage, which is never written to disk.
        guard let storage = URLSessionConfiguration.ephemeral.httpCookieStorage else { return nil }
        self.storage = storage
        add(lines)
    }

    func perform(_ change: CookieChange, _ completion: @escaping @Sendable ([CookieLine]?) -> Void) {
        if case .removeAll = change {
            for cookie in storage.cookies ?? [] { storage.deleteCookie(cookie) }
        }
        add(change.additions(to: lines))
        completion(lines)
    }

    private var lines: [CookieLine] { (storage.cookies ?? []).compactMap { CookieLine(Cookie($0)) } }

    private func add(_ lines: [CookieLine]) {
        for line in lines {
            if let cookie = HTTPCookie(line.cookie) { storage.setCookie(cookie) }
        }
    }

    /// Returns the store of a jar; nil if there is no jar, or the request has its own `Cookie` field.
    static func store(of jar: CookieJar?, for request: HTTPRequest) throws(SluiceError) -> CookieStore? {
        guard let jar, !request.headers.contains(.cookie) else { return nil }
        #if canImport(FoundationNetworking)
        throw SluiceError(
            .unsupported,
            "Foundation on Linux does not handle cookies safely. Use SocketTransport, or no cookie jar.",
            request: request
        )
        #else
        return jar.store { CookieStore($0) }
        #endif
    }

    /// Adds the cookies that match a request.
    func add(to message: inout URLRequest) {
        guard let url = message.url, let cookies = storage.cookies(for: url), !cookies.isEmpty else { return }
        for (name, value) in HTTPCookie.requestHeaderFields(with: cookies) {
            message.setValue(value, forHTTPHeaderField: name)
        }
    }

    /// Stores the cookies of a response.
    func store(_ head: HTTPResponse, from url: URL?) {
        guard let url else { return }
        for value in head.headers.values(for: .setCookie) {
            let cookies = HTTPCookie.cookies(withResponseHeaderFields: ["Set-Cookie": value], for: url)
            storage.setCookies(cookies, for: url, mainDocumentURL: nil)
        }
    }
}

extension Cookie {
    fileprivate init(_ cookie: HTTPCookie) {
        let isWide = cookie.domain.hasPrefix(".")
        self.init(
            name: cookie.name,
            value: cookie.value,
            domain: isWide ? String(cookie.domain.dropFirst()) : cookie.domain,
            path: cookie.path,
            includesSubdomains: isWide,
            expires: cookie.expiresDate,
            isSecure: cookie.isSecure,
            isHTTPOnly: cookie.isHTTPOnly
        )
    }
}

extension HTTPCookie {
    /// Creates a Foundation cookie; nil if Foundation rejects the properties.
    fileprivate convenience init?(_ cookie: Cookie) {
        var properties: [HTTPCookiePropertyKey: Any] = [
            .name: cookie.name, .value: cookie.value, .path: cookie.path,
            .domain: cookie.includesSubdomains ? "." + cookie.domain : cookie.domain,
        ]
        if let expires = cookie.expires { properties[.expires] = expires } else { properties[.discard] = "TRUE" }
        if cookie.isSecure { properties[.secure] = "TRUE" }
        // Foundation has no constant for this key but reads it.
        if cookie.isHTTPOnly { properties[HTTPCookiePropertyKey("HttpOnly")] = "TRUE" }
        self.init(properties: properties)
    }
}

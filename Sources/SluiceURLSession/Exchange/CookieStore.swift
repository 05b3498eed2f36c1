import Foundation
import SluiceHTTP

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// The cookies of one jar, as Foundation keeps them. The session knows nothing of them: they go by the header fields.
struct CookieStore: Sendable {
    private let storage: HTTPCookieStorage

    init?() {
        // The storage of an ephemeral configuration is its own and never written to disk.
        guard let storage = URLSessionConfiguration.ephemeral.httpCookieStorage else { return nil }
        self.storage = storage
    }

    /// Adds the cookies that belong to a request, unless it has a field of its own.
    func add(to message: inout URLRequest) {
        guard message.value(forHTTPHeaderField: "Cookie") == nil, let url = message.url,
            let cookies = storage.cookies(for: url)?.filter({ CookieStore.belongs($0, to: url) }), !cookies.isEmpty
        else { return }
        for (name, value) in HTTPCookie.requestHeaderFields(with: cookies) {
            message.setValue(value, forHTTPHeaderField: name)
        }
    }

    /// Whether path and scheme are the cookie's (RFC 6265 §5.4); Foundation on Linux looks at the domain only.
    private static func belongs(_ cookie: HTTPCookie, to url: URL) -> Bool {
        let path = url.path.isEmpty ? "/" : url.path
        guard path.hasPrefix(cookie.path), !cookie.isSecure || url.scheme == "https" else { return false }
        return path == cookie.path || cookie.path.hasSuffix("/") || path.dropFirst(cookie.path.count).hasPrefix("/")
    }

    /// Keeps what a response sets.
    func keep(_ head: HTTPResponse, from url: URL?) {
        guard let url else { return }
        for value in head.headers.values(for: .setCookie) {
            for cookie in HTTPCookie.cookies(withResponseHeaderFields: ["Set-Cookie": value], for: url) {
                // Foundation on Linux keeps what has expired.
                if let expiry = cookie.expiresDate, expiry <= Date() {
                    storage.deleteCookie(cookie)
                } else {
                    storage.setCookie(cookie)
                }
            }
        }
    }
}

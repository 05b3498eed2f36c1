import Foundation
import SluiceHTTP

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// The cookies of one jar, as Foundation keeps them. The session knows nothing of them: they go by the header fields.
///
/// Only for Apple's Foundation: on Linux it takes cookies for any domain from any host, and keeps and sends those that have
/// expired.
struct CookieStore: Sendable {
    private let storage: HTTPCookieStorage

    init?() {
        // The storage of an ephemeral configuration is its own and never written to disk.
        guard let storage = URLSessionConfiguration.ephemeral.httpCookieStorage else { return nil }
        self.storage = storage
    }

    /// The store of a jar; nil without one, and for a request that has a field of its own.
    static func store(of jar: CookieJar?, for request: HTTPRequest) throws(SluiceError) -> CookieStore? {
        guard let jar, !request.headers.contains(.cookie) else { return nil }
        #if canImport(FoundationNetworking)
        throw SluiceError(
            .unsupported,
            "Foundation on Linux cannot be trusted with cookies; use CurlTransport, or no cookie jar.",
            request: request
        )
        #else
        return jar.store { CookieStore() }
        #endif
    }

    /// Adds the cookies that belong to a request.
    func add(to message: inout URLRequest) {
        guard let url = message.url, let cookies = storage.cookies(for: url), !cookies.isEmpty else { return }
        for (name, value) in HTTPCookie.requestHeaderFields(with: cookies) {
            message.setValue(value, forHTTPHeaderField: name)
        }
    }

    /// Keeps what a response sets.
    func keep(_ head: HTTPResponse, from url: URL?) {
        guard let url else { return }
        for value in head.headers.values(for: .setCookie) {
            let cookies = HTTPCookie.cookies(withResponseHeaderFields: ["Set-Cookie": value], for: url)
            storage.setCookies(cookies, for: url, mainDocumentURL: nil)
        }
    }
}

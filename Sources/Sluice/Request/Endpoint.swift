import SluiceHTTP

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// A description that a request can be created from: a path, a ``URITemplate`` with its variables, or a ``Target``.
public protocol Endpoint: Sendable {
    /// Returns the description of the request.
    ///
    /// - Returns: The description of the request.
    /// - Throws: Any error. The request fails with it when it is sent.
    func draft() throws -> RequestDraft
}

/// A path that is appended to the base URL, optionally with a query, or a whole URL that replaces it.
extension String: Endpoint {
    /// Returns a GET request to this path.
    public func draft() -> RequestDraft { RequestDraft(path: self) }
}

/// A whole URL that replaces the base URL, or a path if the URL is relative.
extension URL: Endpoint {
    /// Returns a GET request to this URL.
    public func draft() -> RequestDraft { RequestDraft(path: relativeString) }
}

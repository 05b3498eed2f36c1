import SluiceHTTP

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// What a request can be made of: a path, a ``URITemplate`` with its variables, a ``Target``.
public protocol Endpoint: Sendable {
    /// Describes the request.
    ///
    /// - Returns: What the endpoint says of the request.
    /// - Throws: Whatever keeps it from being described; the request fails with it when it is sent.
    func draft() throws -> RequestDraft
}

/// A path that is appended to the base URL, with a query if it has one; or a whole URL in its place.
extension String: Endpoint {
    /// A GET request to this path.
    public func draft() -> RequestDraft { RequestDraft(path: self) }
}

/// A whole URL in the base URL's place, or a path if it is relative.
extension URL: Endpoint {
    /// A GET request to this URL.
    public func draft() -> RequestDraft { RequestDraft(path: relativeString) }
}

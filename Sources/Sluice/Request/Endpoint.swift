import SluiceHTTP

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

import SluiceHTTP

/// Adds headers to requests that do not have them.
///
/// ```swift
/// .intercept(DefaultHeaders(["Accept-Language": "en"]))
/// ```
///
/// The headers are sent to any origin. For secrets use a ``BearerToken`` or a ``CustomToken``, which are limited to
/// certain origins.
public struct DefaultHeaders: RequestAdapter {
    private let headers: HTTPHeaders

    /// Creates an adapter.
    public init(_ headers: HTTPHeaders) {
        self.headers = headers
    }

    /// Adds the fields whose names the request does not have, including all values of a repeated name.
    ///
    /// - Parameters:
    ///   - request: The request from the previous interceptors.
    ///   - context: Not used.
    public func adapt(_ request: inout HTTPRequest, context: RequestContext) {
        let existing = request.headers
        for field in headers where !existing.contains(field.name) { request.headers.append(field) }
    }
}

/// Sets headers of requests, replacing those with the same names.
///
/// ```swift
/// .intercept(SetHeaders(["Accept": "application/json"]))
/// ```
public struct SetHeaders: RequestAdapter {
    private let headers: HTTPHeaders

    /// Creates an adapter.
    public init(_ headers: HTTPHeaders) {
        self.headers = headers
    }

    /// Removes the request's fields with these names, then adds the new ones.
    ///
    /// - Parameters:
    ///   - request: The request from the previous interceptors.
    ///   - context: Not used.
    public func adapt(_ request: inout HTTPRequest, context: RequestContext) {
        for field in headers { request.headers.remove(field.name) }
        request.headers.append(contentsOf: headers)
    }
}

import SluiceHTTP

/// Adds headers to requests that do not have them.
///
/// ```swift
/// .intercept(DefaultHeaders(["Accept-Language": "en"]))
/// ```
///
/// They go wherever a request goes: secrets belong into a ``BearerToken`` or ``CustomToken``, which know their origins.
public struct DefaultHeaders: RequestAdapter {
    private let headers: HTTPHeaders

    /// Makes an adapter.
    public init(_ headers: HTTPHeaders) {
        self.headers = headers
    }

    /// Adds the fields whose names the request does not have; all values of a name that is repeated here.
    ///
    /// - Parameters:
    ///   - request: The request as the interceptors before have left it.
    ///   - context: Of no concern.
    public func adapt(_ request: inout HTTPRequest, context: RequestContext) {
        let own = request.headers
        for field in headers where !own.contains(field.name) { request.headers.append(field) }
    }
}

/// Puts headers into requests in place of those they have of the same names.
///
/// ```swift
/// .intercept(SetHeaders(["Accept": "application/json"]))
/// ```
public struct SetHeaders: RequestAdapter {
    private let headers: HTTPHeaders

    /// Makes an adapter.
    public init(_ headers: HTTPHeaders) {
        self.headers = headers
    }

    /// Removes the fields of these names, then adds these.
    ///
    /// - Parameters:
    ///   - request: The request as the interceptors before have left it.
    ///   - context: Of no concern.
    public func adapt(_ request: inout HTTPRequest, context: RequestContext) {
        for field in headers { request.headers.remove(field.name) }
        request.headers.append(contentsOf: headers)
    }
}

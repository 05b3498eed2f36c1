import SluiceHTTP

/// A request interceptor that never waits, as most do not; a client that has no other kind spares each request a task.
///
/// ```swift
/// struct Tenant: RequestAdapter {
///     let id: String
///     func adapt(_ request: inout HTTPRequest, context: RequestContext) { request.headers["X-Tenant"] = id }
/// }
/// ```
public protocol RequestAdapter: RequestInterceptor {
    /// Changes the request in place; must not block.
    ///
    /// - Parameters:
    ///   - request: The request as the interceptors before have left it.
    ///   - context: The request as the pipeline was given it, and its limits.
    /// - Throws: Anything; it fails the request as what ``RequestInterceptor/intercept(_:context:)`` throws does.
    func adapt(_ request: inout HTTPRequest, context: RequestContext) throws
}

extension RequestAdapter {
    /// The adapted request.
    public func intercept(_ request: HTTPRequest, context: RequestContext) async throws -> HTTPRequest {
        var request = request
        try adapt(&request, context: context)
        return request
    }
}

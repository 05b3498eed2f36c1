import SluiceHTTP

/// A request interceptor that never waits. A client that uses only adapters needs no task per request.
///
/// ```swift
/// struct Tenant: RequestAdapter {
///     let id: String
///     func adapt(_ request: inout HTTPRequest, context: RequestContext) { request.headers["X-Tenant"] = id }
/// }
/// ```
public protocol RequestAdapter: RequestInterceptor {
    /// Changes the request in place. Must not block.
    ///
    /// - Parameters:
    ///   - request: The request from the previous interceptors.
    ///   - context: The request as it was given to the pipeline, and its limits.
    /// - Throws: Any error. It fails the request as an error of ``RequestInterceptor/intercept(_:context:)`` does.
    func adapt(_ request: inout HTTPRequest, context: RequestContext) throws
}

extension RequestAdapter {
    /// Returns the adapted request.
    public func intercept(_ request: HTTPRequest, context: RequestContext) async throws -> HTTPRequest {
        var request = request
        try adapt(&request, context: context)
        return request
    }
}

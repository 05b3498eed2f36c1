import SluiceHTTP

/// Changes a request after the gates have admitted it and before it is sent.
public protocol RequestInterceptor: Sendable {
    /// Gives the request to send in place of this one.
    ///
    /// - Parameters:
    ///   - request: The request as the interceptors before have left it.
    ///   - context: The request as the pipeline was given it, and its limits.
    /// - Returns: The request that goes on.
    /// - Throws: Anything; it fails the request, a ``SluiceError`` as it is, others as the underlying error of
    ///   ``SluiceError/Code/interceptorFailed``.
    func intercept(_ request: HTTPRequest, context: RequestContext) async throws -> HTTPRequest
}

import SluiceHTTP

/// Changes a request after the gates have admitted it and before it is sent.
public protocol RequestInterceptor: Sendable {
    /// Returns the request to send in place of this one.
    ///
    /// - Parameters:
    ///   - request: The request from the previous interceptors.
    ///   - context: The request as it was given to the pipeline, and its limits.
    /// - Returns: The request to send.
    /// - Throws: Any error. A ``SluiceError`` fails the request as it is, any other as the underlying error of
    ///   ``SluiceError/Code/interceptorFailed``.
    func intercept(_ request: HTTPRequest, context: RequestContext) async throws -> HTTPRequest
}

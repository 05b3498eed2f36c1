import SluiceHTTP

/// Changes an outcome before validation: may turn success into failure and back.
public protocol ResponseInterceptor: Sendable {
    /// Gives the outcome that goes on in place of this one.
    ///
    /// - Parameters:
    ///   - outcome: What came of the request, as the interceptors before have left it.
    ///   - context: The request as the pipeline was given it, and its limits.
    /// - Returns: The outcome that goes on.
    func intercept(_ outcome: TransportOutcome, context: RequestContext) async -> TransportOutcome
}

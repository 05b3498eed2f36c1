import SluiceHTTP

/// Changes an outcome before validation. It may turn a success into a failure and vice versa.
public protocol ResponseInterceptor: Sendable {
    /// Returns the outcome to use in place of this one.
    ///
    /// - Parameters:
    ///   - outcome: The outcome from the previous interceptors.
    ///   - context: The request as it was given to the pipeline, and its limits.
    /// - Returns: The new outcome.
    func intercept(_ outcome: TransportOutcome, context: RequestContext) async -> TransportOutcome
}

import SluiceHTTP

/// A response interceptor that never waits.
public protocol OutcomeAdapter: ResponseInterceptor {
    /// Changes the outcome in place. Must not block.
    ///
    /// - Parameters:
    ///   - outcome: The outcome from the previous interceptors.
    ///   - context: The request as it was given to the pipeline, and its limits.
    func adapt(_ outcome: inout TransportOutcome, context: RequestContext)
}

extension OutcomeAdapter {
    /// Returns the adapted outcome.
    public func intercept(_ outcome: TransportOutcome, context: RequestContext) async -> TransportOutcome {
        var outcome = outcome
        adapt(&outcome, context: context)
        return outcome
    }
}

import SluiceHTTP

/// A response interceptor that never waits.
public protocol OutcomeAdapter: ResponseInterceptor {
    /// Changes the outcome in place; must not block.
    ///
    /// - Parameters:
    ///   - outcome: What came of the request, as the interceptors before have left it.
    ///   - context: The request as the pipeline was given it, and its limits.
    func adapt(_ outcome: inout TransportOutcome, context: RequestContext)
}

extension OutcomeAdapter {
    /// The adapted outcome.
    public func intercept(_ outcome: TransportOutcome, context: RequestContext) async -> TransportOutcome {
        var outcome = outcome
        adapt(&outcome, context: context)
        return outcome
    }
}

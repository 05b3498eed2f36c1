import SluiceHTTP

/// Receives a response's body instead of collecting it in memory, for example into a file or a stream.
///
/// One sink serves all attempts of a request. A body that it declines is collected in memory, so that a failed response
/// can be decoded into an error model.
protocol ResponseSink: Sendable {
    /// Changes the request at the start of an attempt, before any interceptor sees it.
    func adapt(_ request: inout HTTPRequest)

    /// Receives the body and returns when it is done with it.
    ///
    /// - Parameters:
    ///   - response: Head and body.
    ///   - request: The request of the response.
    /// - Returns: True if the sink has taken the body; false if it is to be collected in memory.
    /// - Throws: An error if the body is not usable or cannot be received.
    func receive(_ response: TransportResponse, to request: HTTPRequest) async throws(SluiceError) -> Bool

    /// Returns the delay before another attempt that resumes the transfer, regardless of the retry policy.
    ///
    /// - Parameter outcome: The outcome of the failed attempt.
    /// - Returns: The delay, or nil for no resumption.
    func resumption(after outcome: TransportOutcome) -> Duration?

    /// True if a response from the HTTP cache can be used, and the received response may be stored there.
    var isCacheable: Bool { get }

    /// The time at which the last bytes were received; nil before the first. The retry policy counts attempts and time
    /// from there.
    var lastProgress: ContinuousClock.Instant? { get }
}

extension ResponseSink {
    func adapt(_ request: inout HTTPRequest) {}
    func resumption(after outcome: TransportOutcome) -> Duration? { nil }
    var lastProgress: ContinuousClock.Instant? { nil }
    var isCacheable: Bool { true }
}

import SluiceHTTP

// Arguments of other libraries. None can be passed: each says what to write.

extension RateLimit {
    /// Unavailable: the message says what to write.
    @available(*, unavailable, message: "Write \"RateLimit(10, every: .seconds(1))\".")
    public convenience init(_ requests: Int, per interval: Duration) { self.init(requests, every: interval) }

    /// Unavailable: the message says what to write.
    @available(*, unavailable, message: "Write \"RateLimit(10, every: .seconds(1))\".")
    public convenience init(requestsPerSecond: Int) { self.init(requestsPerSecond, every: .seconds(1)) }
}

extension ConcurrencyLimit {
    /// Unavailable: the message says what to write.
    @available(*, unavailable, message: "Write the limit of all hosts first: \"ConcurrencyLimit(64, perHost: 6)\".")
    public convenience init(perHost: Int) { self.init(perHost) }
}

extension CircuitBreaker {
    /// Unavailable: the message says what to write.
    @available(
        *,
        unavailable,
        message: "Write the ratio of failures: \"CircuitBreaker(failureRatio: 0.5, of: 20, openFor: .seconds(30))\"."
    )
    public convenience init(failureThreshold: Int, resetTimeout: Duration) { self.init() }
}

import SluiceHTTP

/// Takes a response's body in memory's place: into a file, or on to whoever reads it while it comes.
///
/// One takes part in all attempts of one sending. What it does not take is collected in memory, so that a failed response can
/// be read into an error model.
protocol ResponseSink: Sendable {
    /// Changes the request at the beginning of an attempt, before any interceptor sees it.
    func adapt(_ request: inout HTTPRequest)

    /// Takes the body, and comes back when it has what it wants.
    ///
    /// - Parameters:
    ///   - response: Head and body.
    ///   - request: The request it answers.
    /// - Returns: Whether it has taken the body; false leaves it to be collected.
    /// - Throws: Why the body is of no use, or cannot be taken.
    func receive(_ response: TransportResponse, to request: HTTPRequest) async throws(SluiceError) -> Bool

    /// Whether an attempt that has failed should be followed by one that goes on where it stopped, whatever the retry policy says.
    ///
    /// - Parameter outcome: What the attempt came to.
    /// - Returns: How long to wait before it, or nil.
    func resumption(after outcome: TransportOutcome) -> Duration?

    /// Whether a response that HTTP's cache has will do, and what is taken may be kept there.
    var isCacheable: Bool { get }

    /// When the last bytes came: a retry policy counts its tries and its time from there; nil before there were any.
    var lastProgress: ContinuousClock.Instant? { get }
}

extension ResponseSink {
    func adapt(_ request: inout HTTPRequest) {}
    func resumption(after outcome: TransportOutcome) -> Duration? { nil }
    var lastProgress: ContinuousClock.Instant? { nil }
    var isCacheable: Bool { true }
}

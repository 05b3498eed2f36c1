import SluiceFoundation
import SluiceHTTP

/// The effect of an attempt on the limit that has admitted it.
package enum QuotaEffect: Sendable, Hashable {
    case none
    /// The server has certainly not seen the request, so its permit is unused.
    case unused
    /// The server asks for a pause of the requests with a key.
    case pause(String, Duration)

    /// Creates the effect of an attempt.
    ///
    /// - Parameters:
    ///   - outcome: The outcome of the attempt.
    ///   - key: The key of the limit that has admitted it.
    ///   - request: The attempt.
    ///   - scope: The scope of the limit. A redirect may have led to another key.
    ///   - maximumPause: The longest pause; nil to ignore the server's headers.
    ///   - now: The current date.
    package init(
        of outcome: TransportOutcome,
        on key: String,
        of request: RequestContext,
        in scope: GateScope,
        atMost maximumPause: Duration?,
        now: @autoclosure () -> Date
    ) {
        let (head, answered): (HTTPResponse?, HTTPRequest?)
        switch outcome {
        // A stored response keeps the fields that a 304 does not repeat.
        case .success(let response): (head, answered) = (response.serverHead ?? response.head, response.request)
        case .failure(let error):
            if error.response == nil, error.isBeforeSending {
                self = .unused
                return
            }
            (head, answered) = (error.response, error.request)
        }
        guard let head, let maximumPause, let pause = QuotaHeaders.pause(in: head, now: now()) else {
            self = .none
            return
        }
        let answeredKey = answered.map { scope.key(key, of: request, answeredBy: $0) } ?? key
        self = .pause(answeredKey, min(pause, maximumPause))
    }
}

import Sluice

/// A failure of the upstream. The response to the caller contains only its kind. The log contains the details.
struct UpstreamError: ErrorSerializable, CustomStringConvertible {
    enum Kind: Sendable, Hashable {
        /// The upstream does not know the requested resource.
        case notFound
        /// The upstream cannot be reached, fails, refuses the service, or returns an invalid response.
        case unavailable
        /// A limit or an open circuit refused the request, for the given time if it is known.
        case limited(retryAfter: Duration?)
        /// The deadline passed before the upstream answered.
        case timedOut
        /// The caller has disconnected.
        case cancelled
    }

    let kind: Kind
    /// A description for the log, without query, headers and body.
    let description: String

    init(_ failure: RequestFailure) {
        kind = Kind(failure.error)
        description = failure.error.description
    }
}

extension UpstreamError.Kind {
    init(_ error: SluiceError) {
        switch error.code {
        case .cancelled: self = .cancelled
        case .timedOut, .connectTimedOut, .idleTimedOut: self = .timedOut
        case .circuitOpen, .queueFull, .rateLimited:
            self = .limited(retryAfter: (error.underlyingError as? GateRefusal)?.retryAfter)
        case .unacceptableStatus where error.response?.status == .notFound: self = .notFound
        default: self = .unavailable
        }
    }
}

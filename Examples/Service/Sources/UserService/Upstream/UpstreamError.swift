import Sluice

/// What kind of failure of the upstream it is. The caller is told no more than that: what the upstream said of it is for the log.
struct UpstreamError: ErrorSerializable, CustomStringConvertible {
    enum Kind: Sendable, Hashable {
        /// The upstream does not know what was asked for.
        case notFound
        /// It cannot be reached, fails, refuses the service, or answers what makes no sense.
        case unavailable
        /// It is being spared, and is not to be asked before some time has passed, where that is known.
        case spared(retryAfter: Duration?)
        /// The time was up before it had answered.
        case timedOut
        /// The caller has left.
        case cancelled
    }

    let kind: Kind
    /// One sentence for the log, without query, headers and body.
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
            self = .spared(retryAfter: (error.underlyingError as? GateRefusal)?.retryAfter)
        case .unacceptableStatus where error.response?.status == .notFound: self = .notFound
        default: self = .unavailable
        }
    }
}

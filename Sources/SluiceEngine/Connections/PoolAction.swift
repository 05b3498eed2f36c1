import SluiceHTTP

/// The results of the pool's decisions.
extension PoolState {
    package enum Action {
        /// Send the request on the connection.
        case start(Call, Connection)
        /// Connect for the request of the group, then call ``dialStarted(_:for:in:)``.
        case dial(Call, GroupID)
        /// Cancel the dial, because no request waits for it.
        case cancel(Dial)
        /// Close the connection, because idle connections are no longer kept.
        case discard(Connection)
        /// Fail the request.
        case fail(Call, Failure)
    }

    package enum Failure: Equatable {
        /// The connection time-out has passed. The value is the unfinished dial, if there was one.
        case connectTimedOut(Dial?)
        case timedOut
        case failed(SluiceError)

        package static func == (lhs: Self, rhs: Self) -> Bool {
            switch (lhs, rhs) {
            case (.connectTimedOut, .connectTimedOut), (.timedOut, .timedOut): true
            case (.failed(let lhs), .failed(let rhs)): lhs.code == rhs.code
            default: false
            }
        }
    }

    package enum Acquisition {
        case connection(Connection)
        case dial
        case waiting
        /// The maximum number of requests is already waiting.
        case refused
    }
}

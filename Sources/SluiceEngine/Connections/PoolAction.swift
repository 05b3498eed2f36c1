#if os(Linux)
import SluiceHTTP

extension PoolState {
    /// An action that a change of the pool's state requires.
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

    /// The reason for which a request without a connection fails.
    package enum Failure: Equatable {
        /// The connection time-out has passed. The value is the unfinished dial, if there was one.
        case connectTimedOut(Dial?)
        /// The total time-out has passed.
        case timedOut
        /// The dial has failed.
        case failed(SluiceError)

        package static func == (lhs: Self, rhs: Self) -> Bool {
            switch (lhs, rhs) {
            case (.connectTimedOut, .connectTimedOut), (.timedOut, .timedOut): true
            case (.failed(let lhs), .failed(let rhs)): lhs.code == rhs.code
            default: false
            }
        }
    }

    /// The result of the search for a connection.
    package enum Acquisition {
        /// Send the request on the connection.
        case connection(Connection)
        /// Connect for the request, then call ``dialStarted(_:for:in:)``.
        case dial
        /// A later action starts or fails the request.
        case waiting
        /// The maximum number of requests is already waiting.
        case refused
    }
}
#endif

#if os(Linux)
import Sluice
import SluiceHTTP

/// The state of one connection to a server, with its breaker: after a failure, commands fail at once until a pause is over.
///
///     idle         a command comes                        → connecting
///     connecting   the greeting succeeds                  → ready
///                  the connection or the greeting fails   → resting
///     ready        the server closes after good replies   → idle
///                  no good reply, or many time-outs       → resting
///                  the client closes                      → idle
///     resting      the pause is over and a command comes  → connecting, with that command only
package struct LinkHealth: Sendable {
    private enum State {
        case idle
        /// With a trial, further commands are refused.
        case connecting(isTrial: Bool)
        case ready
        case resting(until: MonotonicTime)
    }

    /// The treatment of a command.
    package enum Admission: Equatable, Sendable {
        /// The command can be written.
        case write
        /// The command waits for the connection.
        case wait
        /// The command waits, and the caller connects.
        case connect
        /// The command fails.
        case refuse
    }

    /// The number of time-outs without a reply in between after which the server counts as dead. Commands that wait at the same time
    /// have one.
    package static let maximumTimeouts = 8

    private let backoff: Backoff
    private var state = State.idle
    private var failures = 0
    private var timeouts = 0
    /// True if this connection has had a good reply.
    private var hasAnswered = false

    package init(_ backoff: Backoff) {
        self.backoff = backoff
    }

    package var isReady: Bool {
        if case .ready = state { true } else { false }
    }

    /// The time until which commands are refused; the distant future while one command tries to connect after a pause.
    package var refusalEnd: MonotonicTime {
        switch state {
        case .idle, .connecting(isTrial: false), .ready: MonotonicTime(nanoseconds: .min)
        case .connecting(isTrial: true): .distantFuture
        case .resting(let end): end
        }
    }

    package mutating func admit(at now: MonotonicTime) -> Admission {
        switch state {
        case .ready: return .write
        case .connecting(let isTrial): return isTrial ? .refuse : .wait
        case .idle: state = .connecting(isTrial: false)
        case .resting(let end):
            if now < end { return .refuse }
            state = .connecting(isTrial: true)
        }
        return .connect
    }

    /// Records a completed greeting. The failures count until there is a good reply to a command.
    package mutating func connected() {
        state = .ready
        timeouts = 0
        hasAnswered = false
    }

    /// Records a reply that shows that the server works.
    package mutating func answered() {
        (failures, timeouts, hasAnswered) = (0, 0, true)
    }

    /// Records a time-out. Returns true if the connection must be closed as failed.
    package mutating func timedOut() -> Bool {
        timeouts += 1
        return isReady && timeouts >= LinkHealth.maximumTimeouts
    }

    /// Records that the server has closed the connection, as it does when it is restarted.
    package mutating func closed(at now: MonotonicTime, random: UInt64) {
        if isReady, hasAnswered { state = .idle } else { failed(at: now, random: random) }
    }

    /// Records that the client closes the connection, although the server works.
    package mutating func released() {
        if case .resting = state { return }
        state = .idle
    }

    /// Records a failed connection, greeting or server.
    package mutating func failed(at now: MonotonicTime, random: UInt64) {
        failures += 1
        timeouts = 0
        state = .resting(until: now + backoff.delay(before: failures, random: random))
    }
}
#endif

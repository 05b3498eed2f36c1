import SluiceHTTP

/// The liveness check of a connection: the last input, and the times at which a PING is sent (RFC 9113 §6.7).
///
/// ```
///             silence                no answer
/// alive ─────────────────▶ asked ─────────────────▶ lost
///   ▲                        │
///   └───── anything comes ───┘
/// ```
///
/// While a response is outstanding, a PING is sent after a time without input. The interval increases while only PING answers arrive,
/// because some servers close a connection that sends too many PINGs.
struct HTTP2Liveness {
    /// The next action.
    enum Step: Equatable {
        case nothing
        case ping
        /// The server has not answered the PING.
        case lost
    }

    /// The intervals between PINGs, as multiples of the first.
    private static let factors = [1, 2, 4, 30]

    /// The time without input before the first PING, and the time allowed for its answer.
    private let interval: Duration
    private var pings = 0
    private var asked: MonotonicTime?
    /// The time of the last input.
    private(set) var lastInput: MonotonicTime
    /// True if a request has timed out and nothing was received since, so the connection may be dead.
    private(set) var isSuspect = false

    init(interval: Duration, at now: MonotonicTime) {
        self.interval = interval
        lastInput = now
    }

    /// Records that a request is sent on a connection that had no active request.
    mutating func begin(at now: MonotonicTime) {
        lastInput = now
    }

    /// Records input. Returns true if the connection was suspect.
    mutating func hear(at now: MonotonicTime) -> Bool {
        lastInput = now
        asked = nil
        defer { isSuspect = false }
        return isSuspect
    }

    /// Records input for a request.
    mutating func progress() {
        pings = 0
    }

    /// Records the time-out of a request that began at the given time. Returns true if the connection became suspect.
    mutating func requestTimedOut(began: MonotonicTime) -> Bool {
        guard lastInput <= began, !isSuspect else { return false }
        isSuspect = true
        return true
    }

    /// Returns the time of the next step.
    func deadline(owesAnswer: Bool) -> MonotonicTime {
        if let asked { return asked + interval }
        guard owesAnswer || isSuspect else { return .distantFuture }
        if isSuspect { return lastInput }
        return lastInput + interval * HTTP2Liveness.factors[min(pings, HTTP2Liveness.factors.count - 1)]
    }

    /// Returns the action to take when the deadline has passed.
    mutating func step(owesAnswer: Bool, at now: MonotonicTime) -> Step {
        guard deadline(owesAnswer: owesAnswer) <= now else { return .nothing }
        if asked != nil { return .lost }
        asked = now
        pings += 1
        return .ping
    }
}

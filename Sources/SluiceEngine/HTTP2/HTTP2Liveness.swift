import SluiceHTTP

/// The signs of life of a connection's server, and the moments at which it is asked for one by PING (RFC 9113 §6.7).
///
/// ```
///             silence                no answer
/// alive ─────────────────▶ asked ─────────────────▶ lost
///   ▲                        │
///   └───── anything comes ───┘
/// ```
///
/// While a server owes an answer, it is asked after a silence, and less often each time that nothing but its answer to the PING comes:
/// some servers end a connection that asks too often.
struct HTTP2Liveness {
    /// The next thing to do.
    enum Step: Equatable {
        case nothing
        case ping
        /// The server has not answered.
        case lost
    }

    /// The silences before a PING, each a multiple of the first.
    private static let factors = [1, 2, 4, 30]

    /// The silence before the first PING, and the time that its answer may take.
    private let interval: Duration
    private var pings = 0
    private var asked: MonotonicTime?
    /// The moment at which anything came last.
    private(set) var lastInput: MonotonicTime
    /// True while nothing has come since a request ran out of time, so that the connection may be dead.
    private(set) var isSuspect = false

    init(interval: Duration, at now: MonotonicTime) {
        self.interval = interval
        lastInput = now
    }

    /// Notes that a request is sent on a connection that had none.
    mutating func begin(at now: MonotonicTime) {
        lastInput = now
    }

    /// Notes that anything has come; returns true if the connection was suspect.
    mutating func hear(at now: MonotonicTime) -> Bool {
        lastInput = now
        asked = nil
        defer { isSuspect = false }
        return isSuspect
    }

    /// Notes that something has come for a request.
    mutating func progress() {
        pings = 0
    }

    /// Notes that a request that began at a moment has run out of time; returns true if the connection is suspect now and was not.
    mutating func requestTimedOut(began: MonotonicTime) -> Bool {
        guard lastInput <= began, !isSuspect else { return false }
        isSuspect = true
        return true
    }

    /// The moment of the next step.
    func deadline(owesAnswer: Bool) -> MonotonicTime {
        if let asked { return asked + interval }
        guard owesAnswer || isSuspect else { return .distantFuture }
        if isSuspect { return lastInput }
        return lastInput + interval * HTTP2Liveness.factors[min(pings, HTTP2Liveness.factors.count - 1)]
    }

    /// Decides on what to do once the deadline has come.
    mutating func step(owesAnswer: Bool, at now: MonotonicTime) -> Step {
        guard deadline(owesAnswer: owesAnswer) <= now else { return .nothing }
        if asked != nil { return .lost }
        asked = now
        pings += 1
        return .ping
    }
}

#if os(Linux)
import SluiceHTTP

/// The liveness check of a connection: the last input, and the times at which a PING is sent (RFC 9113 §6.7).
///
/// ```
///             silence                no answer
/// alive ────────────────▶ PING sent ──────────────▶ lost
///   ▲                        │
///   └───────── input ────────┘
/// ```
///
/// While a response is outstanding, a PING is sent after a time without input. The interval increases while only PING answers arrive,
/// because some servers close a connection that sends too many PINGs. The time allowed for an answer begins when the PING has left the
/// send buffer, which can take long behind a large request body.
struct HTTP2Liveness {
    /// The next action.
    enum Step: Equatable {
        case nothing
        case ping
        /// The server has not answered the PING, or has not closed the connection after an error.
        case lost
    }

    /// The intervals before the first and later PINGs, as multiples of ``interval``.
    private static let factors = [1, 2, 4, 30]

    /// The time without input after which further requests use another connection if bytes are sent again.
    private static let stall = Duration.seconds(2)

    /// The time for which requests may still be answered after a GOAWAY with an error.
    private static let grace = Duration.seconds(1)

    /// The time without input before the first PING, and the time allowed for its answer.
    private let interval: Duration
    /// The number of PINGs since the last input for a request.
    private var pings = 0
    /// The time at which the unanswered PING was sent, or of a later acknowledgement.
    private var pingSent: MonotonicTime?
    private var pingWait = AcknowledgementWait()
    /// The time of the last input.
    private(set) var lastInput: MonotonicTime
    /// The time of the first request since the last input.
    private var waitStart: MonotonicTime
    /// True if a request was cancelled and nothing was received since it began.
    private var isSilent = false
    /// True if the connection may be dead: a request has timed out, or bytes are sent again and again, and nothing was received since.
    private(set) var isSuspect = false
    /// True until ``takeSuspicion()``.
    private var hasSuspicion = false
    /// The time at which a connection is lost that the server has ended with an error.
    private var end = MonotonicTime.distantFuture

    init(interval: Duration, at now: MonotonicTime) {
        self.interval = interval
        lastInput = now
        waitStart = now
    }

    /// Records that a request is sent. The next PING follows after one interval without input, however many were answered before.
    ///
    /// - Parameters:
    ///   - isFirst: True if the connection had no active request.
    ///   - now: The current time.
    mutating func begin(isFirst: Bool, at now: MonotonicTime) {
        pings = 0
        if isFirst, !isSilent { lastInput = now }
        if !isSilent, waitStart <= lastInput { waitStart = now }
    }

    /// Records the cancellation of a request that began at the given time. If nothing was received since, the next request continues the
    /// silence. Otherwise, requests that are cancelled early would never find a dead connection.
    mutating func requestCancelled(began: MonotonicTime) {
        if lastInput <= began { isSilent = true }
    }

    /// Records input. Returns true if the connection was suspect.
    mutating func recordInput(at now: MonotonicTime) -> Bool {
        lastInput = now
        isSilent = false
        pingSent = nil
        defer { (isSuspect, hasSuspicion) = (false, false) }
        return isSuspect
    }

    /// Records input for a request.
    mutating func recordProgress() {
        pings = 0
    }

    /// Begins the time for the answer again if the PING may have been in the send buffer until the last acknowledgement.
    mutating func recordAcknowledgement(on socket: SocketStream) {
        guard let sent = pingSent, let time = socket.progress(of: &pingWait) else { return }
        pingSent = max(sent, time)
    }

    /// Records the time-out of a request that began at the given time. Returns true if the connection became suspect, because nothing was
    /// received since then or for a second.
    mutating func requestTimedOut(began: MonotonicTime, at now: MonotonicTime) -> Bool {
        guard lastInput <= began || now.since(lastInput) >= .seconds(1), !isSuspect else { return false }
        isSuspect = true
        return true
    }

    /// Checks the connection before another request is sent beside active ones. Returns true if the connection became suspect, because
    /// nothing was received for two seconds, and the system sends bytes again.
    mutating func suspect(at now: MonotonicTime, if isRetransmitting: @autoclosure () -> Bool) -> Bool {
        guard now.since(max(lastInput, waitStart)) >= HTTP2Liveness.stall, isRetransmitting() else { return false }
        (isSuspect, hasSuspicion) = (true, true)
        return true
    }

    /// Returns true once after ``suspect(at:if:)``, unless something was received since. The loop tells the pool, in the order of events.
    mutating func takeSuspicion() -> Bool {
        defer { hasSuspicion = false }
        return hasSuspicion
    }

    /// Records a GOAWAY with an error, after which the server must close the connection (RFC 9113 §5.4.1).
    mutating func serverFailed(at now: MonotonicTime) {
        end = min(end, now + HTTP2Liveness.grace)
    }

    /// Returns the time of the next step. `awaitsResponse` is true if a request is active.
    func deadline(awaitsResponse: Bool) -> MonotonicTime {
        if let pingSent { return min(end, pingSent + interval) }
        guard awaitsResponse || isSuspect else { return end }
        if isSuspect { return min(end, lastInput) }
        let factor = HTTP2Liveness.factors[min(pings, HTTP2Liveness.factors.count - 1)]
        return min(end, max(lastInput, waitStart) + interval * factor)
    }

    /// Returns the action to take when the deadline has passed.
    mutating func step(awaitsResponse: Bool, at now: MonotonicTime) -> Step {
        guard deadline(awaitsResponse: awaitsResponse) <= now else { return .nothing }
        if pingSent != nil || end <= now { return .lost }
        pingSent = now
        pingWait = AcknowledgementWait()
        pings += 1
        return .ping
    }
}

extension SluiceError {
    static let unresponsive = SluiceError(.connectionLost, "The connection was lost: the server no longer responds.")
}
#endif

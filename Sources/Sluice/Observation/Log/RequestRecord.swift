import SluiceHTTP

/// The details of an open request that a log needs for its last line.
struct RequestRecord: Sendable {
    /// A wait of an attempt at a gate.
    private struct GateWait {
        let gate: String
        let attempt: Int
        let since: ContinuousClock.Instant
    }

    /// The request as it was created.
    private(set) var request: HTTPRequest?
    /// The request as it was last sent.
    private(set) var sent: HTTPRequest?
    private(set) var attempts = 1
    private(set) var redirects = 0
    private(set) var hedges = 0
    /// The total of the pauses between attempts.
    private(set) var pause = Duration.zero
    /// The time spent at each gate, in the order of the first wait.
    private(set) var waits: [(gate: String, duration: Duration)] = []
    private var openWaits: [GateWait] = []

    /// Records an event.
    ///
    /// - Parameters:
    ///   - event: The event.
    ///   - observed: The attempt and the time of the event.
    /// - Returns: The time that the attempt waited at the gate that it leaves; nil if it leaves none.
    mutating func add(_ event: RequestEvent, of observed: ObservedRequest) -> Duration? {
        attempts = max(attempts, observed.attempt)
        switch event {
        case .began(let request): self.request = request
        case .waiting(let gate):
            openWaits.append(GateWait(gate: gate, attempt: observed.attempt, since: observed.instant))
        case .admitted(let gate), .refused(let gate, _):
            return endWait(at: gate, observed)
        case .sending(let request): sent = request
        case .redirected: redirects += 1
        case .retrying(let delay, _):
            attempts += 1
            pause += delay
        // The event has the number of the new attempt.
        case .hedging: hedges += 1
        case .informational, .received, .cached, .finished: break
        }
        return nil
    }

    private mutating func endWait(at gate: String, _ observed: ObservedRequest) -> Duration? {
        guard let index = openWaits.firstIndex(where: { $0.gate == gate && $0.attempt == observed.attempt }) else {
            return nil
        }
        let duration = openWaits.remove(at: index).since.duration(to: observed.instant)
        if let total = waits.firstIndex(where: { $0.gate == gate }) {
            waits[total].duration += duration
        } else {
            waits.append((gate, duration))
        }
        return duration
    }

    /// Short notes on retries, hedging, redirects and waits.
    var notes: [String] {
        var notes: [String] = []
        if attempts > 1 {
            let rest = pause > .zero ? " with \(LogUnits.text(pause)) between" : ""
            notes.append(LogUnits.text(attempts, "attempt") + rest)
        }
        if hedges > 0 { notes.append("hedged") }
        if redirects > 0 { notes.append(LogUnits.text(redirects, "redirect")) }
        for wait in waits where wait.duration >= .milliseconds(1) {
            notes.append("\(LogUnits.text(wait.duration)) at \(LogEscaping.line(wait.gate, limit: 64))")
        }
        return notes
    }
}

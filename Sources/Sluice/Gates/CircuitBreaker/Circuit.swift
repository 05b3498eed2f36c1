/// The state of one circuit, closed, open or half-open, and the outcomes of its recent requests.
///
///     closed      too many requests fail        → open
///     open        time is up, a request comes   → half-open, with that request as a trial
///     half-open   enough trials succeed         → closed
///                 a trial fails                 → open, possibly for longer
struct Circuit: Sendable {
    typealias Instant = ContinuousClock.Instant

    enum Admission: Equatable {
        /// The ticket is needed to settle the outcome.
        case admitted(Ticket)
        /// The duration is nil if the next admission depends on running trials.
        case refused(after: Duration?)
    }

    /// Identifies the state that a request was admitted in. Outcomes of requests that were admitted in
    /// an earlier state are ignored.
    struct Ticket: Sendable, Equatable {
        fileprivate let generation: Int
    }

    private enum Phase {
        case closed
        case open(until: Instant)
        case halfOpen(running: Int, succeeded: Int)
    }

    private var phase = Phase.closed
    /// The number of state changes so far.
    private(set) var generation = 0
    private var timesOpened = 0
    private var admitted = 0
    private var window: FailureWindow
    /// The current time slice and its end. Comparing with the end is cheaper than computing the slice.
    private var slice: Int64
    private var sliceEnd: Instant

    /// Creates a closed circuit.
    init(at now: Instant, _ policy: Policy) {
        slice = policy.slice(of: now)
        sliceEnd = policy.end(of: slice)
        window = FailureWindow(at: slice)
    }

    var state: CircuitBreaker.State {
        switch phase {
        case .closed: .closed
        case .open(let until): .open(until: until)
        case .halfOpen: .halfOpen
        }
    }

    /// True if the circuit is closed, has no running requests and remembers no outcomes, like a new one.
    func isFresh(at slice: Int64) -> Bool {
        if case .closed = phase { admitted == 0 && window.isOver(at: slice) } else { false }
    }

    mutating func admit(now: Instant, _ policy: Policy) -> Admission {
        switch phase {
        case .closed:
            break
        case .open(let until):
            if now < until { return .refused(after: until - now) }
            change(to: .halfOpen(running: 1, succeeded: 0))
        case .halfOpen(let running, let succeeded):
            if running + succeeded >= policy.trials { return .refused(after: nil) }
            phase = .halfOpen(running: running + 1, succeeded: succeeded)
        }
        admitted += 1
        return .admitted(Ticket(generation: generation))
    }

    mutating func settle(_ ticket: Ticket, _ judgement: CircuitBreaker.Judgement, now: Instant, _ policy: Policy) {
        admitted -= 1
        guard ticket.generation == generation else { return }
        switch (phase, judgement) {
        case (.closed, .ignored), (.open, _):
            break
        case (.closed, .success):
            window.count(failed: false, at: slice(of: now, policy))
        case (.closed, .failure):
            window.count(failed: true, at: slice(of: now, policy))
            if window.total >= policy.minimumRequests, window.failureRatio >= policy.failureRatio { open(now, policy) }
        case (.halfOpen(let running, let succeeded), .ignored):
            phase = .halfOpen(running: running - 1, succeeded: succeeded)
        case (.halfOpen(let running, let succeeded), .success):
            if succeeded + 1 < policy.trials {
                phase = .halfOpen(running: running - 1, succeeded: succeeded + 1)
            } else {
                change(to: .closed)
                timesOpened = 0
                window = FailureWindow(at: slice(of: now, policy))
            }
        case (.halfOpen, .failure):
            open(now, policy)
        }
    }

    private mutating func slice(of now: Instant, _ policy: Policy) -> Int64 {
        if now >= sliceEnd {
            slice = policy.slice(of: now)
            sliceEnd = policy.end(of: slice)
        }
        return slice
    }

    private mutating func open(_ now: Instant, _ policy: Policy) {
        timesOpened += 1
        change(to: .open(until: now + policy.pause(opened: timesOpened)))
    }

    private mutating func change(to phase: Phase) {
        self.phase = phase
        generation += 1
    }
}

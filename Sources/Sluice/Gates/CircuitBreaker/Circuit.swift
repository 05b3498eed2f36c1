/// The state of one circuit: closed, open or half-open, and what came of its requests lately.
///
///     closed      too much fails                → open
///     open        its time is up, one asks      → half-open, with that one as a trial
///     half-open   enough trials succeed         → closed
///                 a trial fails                 → open, perhaps for longer
struct Circuit: Sendable {
    typealias Instant = ContinuousClock.Instant

    enum Admission: Equatable {
        /// With what the outcome is to be settled.
        case admitted(Ticket)
        /// Nil where it depends on the trials that are under way.
        case refused(after: Duration?)
    }

    /// Tells requests admitted before a change of the circuit's state from those admitted after it, as the outcomes of the
    /// former say nothing about the latter.
    struct Ticket: Sendable, Equatable {
        fileprivate let generation: Int
    }

    private enum Phase {
        case closed
        case open(until: Instant)
        case halfOpen(running: Int, succeeded: Int)
    }

    private var phase = Phase.closed
    /// How many states it has been in before.
    private(set) var generation = 0
    private var timesOpened = 0
    private var admitted = 0
    private var window: FailureWindow
    /// The slice of the window that was now when last asked, and its end, which is cheaper to ask for.
    private var slice: Int64
    private var sliceEnd: Instant

    /// Makes a circuit that is closed.
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

    /// Whether it is as good as a new one.
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

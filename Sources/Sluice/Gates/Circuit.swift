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
    /// The time at which trials closed the circuit last; nil if they never have.
    private var closedAt: Instant?
    /// The time of the last trial while the circuit is half-open.
    private var lastTrial: Instant
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
        lastTrial = now
    }

    var state: CircuitBreaker.State {
        switch phase {
        case .closed: .closed
        case .open(let until): .open(until: until)
        case .halfOpen: .halfOpen
        }
    }

    /// True if the circuit is not needed any longer: closed before the given time, without running requests and outcomes,
    /// or open until a time before the given one, or half-open without a trial since then.
    func isFresh(at slice: Int64, openBefore time: Instant) -> Bool {
        switch phase {
        case .closed: admitted == 0 && window.isOver(at: slice) && (closedAt.map { $0 < time } ?? true)
        case .open(let until): admitted == 0 && until < time
        case .halfOpen: admitted == 0 && lastTrial < time
        }
    }

    mutating func admit(now: Instant, _ policy: Policy) -> Admission {
        switch phase {
        case .closed:
            break
        case .open(let until):
            if now < until { return .refused(after: until - now) }
            change(to: .halfOpen(running: 1, succeeded: 0))
            lastTrial = now
        case .halfOpen(let running, let succeeded):
            // A long trial, such as a download, keeps others back for a limited time.
            let isRecent = lastTrial.duration(to: now) < max(policy.openFor, .seconds(1))
            if running + succeeded >= policy.trials, isRecent { return .refused(after: nil) }
            phase = .halfOpen(running: running + 1, succeeded: succeeded)
            lastTrial = now
        }
        admitted += 1
        return .admitted(Ticket(generation: generation))
    }

    mutating func settle(
        _ ticket: Ticket,
        _ classification: CircuitBreaker.Classification,
        now: Instant,
        _ policy: Policy
    ) {
        admitted -= 1
        guard ticket.generation == generation else { return }
        switch (phase, classification) {
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
                closedAt = now
                timesOpened = 0
                window = FailureWindow(at: slice(of: now, policy))
            }
        case (.halfOpen, .failure):
            open(now, policy)
        }
    }

    /// Opens the circuit because that of another process has opened, if it is closed and trials did not close it a short
    /// time ago: the outcomes of its own requests say more. One process whose trials keep failing, again and again, would
    /// otherwise keep all others from the server.
    mutating func open(for duration: Duration, now: Instant, _ policy: Policy) {
        guard case .closed = phase else { return }
        if let closedAt, now < closedAt + policy.maximumOpenFor { return }
        change(to: .open(until: now + min(duration, policy.maximumOpenFor)))
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

extension Circuit {
    /// The rules by which a circuit opens, stays open and closes. Values out of range are clamped.
    struct Policy: Sendable {
        let failureRatio: Double
        let minimumRequests: Int
        let openFor: Duration
        let growth: Double
        let maximumOpenFor: Duration
        let trials: Int
        private let sliceLength: Duration
        private let start: Instant

        init(
            failureRatio: Double,
            minimumRequests: Int,
            window: Duration,
            openFor: Duration,
            growth: Double,
            maximumOpenFor: Duration,
            trials: Int,
            start: Instant = .now
        ) {
            let longest = RetryAfter.longest
            self.failureRatio = failureRatio.isNaN ? 1 : min(max(0, failureRatio), 1)
            self.minimumRequests = max(1, minimumRequests)
            self.openFor = min(max(.zero, openFor), longest)
            self.growth = growth.isNaN ? 1 : max(1, growth)
            self.maximumOpenFor = min(max(openFor, maximumOpenFor), longest)
            self.trials = max(1, trials)
            sliceLength = max(.milliseconds(1), min(window, longest) / FailureWindow.sliceCount)
            self.start = start
        }

        /// The number of the time slice that contains a time.
        func slice(of now: Instant) -> Int64 {
            let slices = ((now - start) / sliceLength).rounded(.down)
            return Int64(min(max(slices, -1e18), 1e18))
        }

        func end(of slice: Int64) -> Instant {
            start + sliceLength * (slice + 1)
        }

        /// The time for which a circuit stays open after it has opened this many times in a row.
        func pause(opened times: Int) -> Duration {
            var seconds = openFor / .seconds(1)
            let maximum = maximumOpenFor / .seconds(1)
            // With any noticeable growth, 1,000 steps reach the maximum.
            for _ in 1..<max(1, min(times, 1000)) where seconds < maximum { seconds *= growth }
            return seconds < maximum ? .seconds(seconds) : maximumOpenFor
        }
    }
}

struct Circuits: Sendable {
    private let policy: Circuit.Policy
    private(set) var circuits: [String: Circuit] = [:]
    private var sweepCount = 1024

    init(_ policy: Circuit.Policy) {
        self.policy = policy
    }

    /// Returns the state of a circuit. For nil it is that of all: open until the latest time, else half-open, else closed.
    func state(_ key: String?) -> CircuitBreaker.State {
        if let key { return circuits[key]?.state ?? .closed }
        return circuits.values.reduce(.closed) { worst, circuit in
            switch (worst, circuit.state) {
            case (.open(let latest), .open(let time)): .open(until: max(latest, time))
            case (.open, _), (.halfOpen, .closed): worst
            case (_, let state): state
            }
        }
    }

    /// Admits or refuses a request. Also returns the new state if the state changed.
    mutating func admit(_ key: String, now: Circuit.Instant) -> (Circuit.Admission, CircuitBreaker.State?) {
        guard let index = circuits.index(forKey: key) else {
            sweep(now)
            var circuit = Circuit(at: now, policy)
            let admission = circuit.admit(now: now, policy)
            circuits[key] = circuit
            return (admission, nil)
        }
        let policy = policy
        return circuits.values[index].reportingChange { $0.admit(now: now, policy) }
    }

    /// Opens a circuit that another process has opened, as ``Circuit/open(for:now:_:)`` does. Returns the new state if the
    /// state changed.
    mutating func open(_ key: String, for duration: Duration, now: Circuit.Instant) -> CircuitBreaker.State? {
        if circuits[key] == nil {
            sweep(now)
            circuits[key] = Circuit(at: now, policy)
        }
        guard let index = circuits.index(forKey: key) else { return nil }
        let policy = policy
        return circuits.values[index].reportingChange { $0.open(for: duration, now: now, policy) }.1
    }

    /// Records the outcome of a request. Returns the new state if the state changed.
    mutating func settle(
        _ key: String,
        _ ticket: Circuit.Ticket,
        _ classification: CircuitBreaker.Classification,
        now: Circuit.Instant
    ) -> CircuitBreaker.State? {
        guard let index = circuits.index(forKey: key) else { return nil }
        let policy = policy
        return circuits.values[index].reportingChange { $0.settle(ticket, classification, now: now, policy) }.1
    }

    /// Removes the circuits that behave like a new one, when the number of circuits has doubled since the last sweep.
    private mutating func sweep(_ now: Circuit.Instant) {
        if circuits.count < sweepCount { return }
        let slice = policy.slice(of: now)
        // A circuit that could have been tried again long ago is not in use.
        let time = now - policy.maximumOpenFor
        circuits = circuits.filter { !$0.value.isFresh(at: slice, openBefore: time) }
        sweepCount = max(1024, circuits.count * 2)
    }
}

extension Circuit {
    /// Applies a change. Also returns the new state if the state changed.
    fileprivate mutating func reportingChange<Result>(
        _ change: (inout Circuit) -> Result
    ) -> (Result, CircuitBreaker.State?) {
        let before = generation
        let result = change(&self)
        return (result, generation == before ? nil : state)
    }
}

// MARK: - Failure window

/// The recent successes and failures, in a ring of time slices.
struct FailureWindow: Sendable {
    private struct Slice: Sendable {
        var successes = 0
        var failures = 0
    }

    /// The number of slices.
    static let sliceCount = 10

    private var slices = [Slice](repeating: Slice(), count: sliceCount)
    private var latest: Int64
    private var successes = 0
    private(set) var failures = 0

    /// Creates an empty window.
    ///
    /// - Parameter slice: The number of the current slice.
    init(at slice: Int64) {
        latest = slice
    }

    /// The number of outcomes.
    var total: Int { successes + failures }
    /// The ratio of failures, from 0 to 1.
    var failureRatio: Double { total == 0 ? 0 : Double(failures) / Double(total) }

    /// True if all outcomes have expired.
    func isOver(at slice: Int64) -> Bool {
        let (age, isBeyondCounting) = slice.subtractingReportingOverflow(latest)
        return slice > latest && (isBeyondCounting || age >= Int64(Self.sliceCount))
    }

    /// Counts an outcome. A slice in the past counts as the latest one.
    mutating func count(failed: Bool, at slice: Int64) {
        advance(to: slice)
        let index = index(of: latest)
        if failed {
            slices[index].failures += 1
            failures += 1
        } else {
            slices[index].successes += 1
            successes += 1
        }
    }

    private mutating func advance(to slice: Int64) {
        if isOver(at: slice) {
            self = FailureWindow(at: slice)
            return
        }
        while latest < slice {
            latest += 1
            let index = index(of: latest)
            successes -= Int(slices[index].successes)
            failures -= Int(slices[index].failures)
            slices[index] = Slice()
        }
    }

    private func index(of slice: Int64) -> Int {
        let remainder = Int(slice % Int64(Self.sliceCount))
        return remainder < 0 ? remainder + Self.sliceCount : remainder
    }
}

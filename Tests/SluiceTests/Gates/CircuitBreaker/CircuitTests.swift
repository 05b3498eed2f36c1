import Testing

@testable import Sluice

@Suite struct CircuitTests {
    private static let start = ContinuousClock.now

    private static func policy(
        ratio: Double = 0.5,
        minimum: Int = 4,
        openFor: Duration = .seconds(5),
        growth: Double = 1,
        upTo maximum: Duration = .seconds(60),
        trials: Int = 2
    ) -> Circuit.Policy {
        Circuit.Policy(
            failureRatio: ratio,
            minimumRequests: minimum,
            window: .seconds(30),
            openFor: openFor,
            growth: growth,
            maximumOpenFor: maximum,
            trials: trials,
            start: start
        )
    }

    /// A circuit and its clock, in seconds.
    private struct CircuitAtTime {
        let policy: Circuit.Policy
        var value: Circuit
        var seconds = 0.0

        init(policy: Circuit.Policy = CircuitTests.policy()) {
            self.policy = policy
            value = Circuit(at: CircuitTests.start, policy)
        }

        var now: ContinuousClock.Instant { CircuitTests.start + .seconds(seconds) }

        mutating func admit() -> Circuit.Ticket? {
            if case .admitted(let ticket) = value.admit(now: now, policy) { ticket } else { nil }
        }

        mutating func settle(_ ticket: Circuit.Ticket?, _ classification: CircuitBreaker.Classification) {
            guard let ticket else { return }
            value.settle(ticket, classification, now: now, policy)
        }

        /// Sends requests one after another, as letters: success, failure, ignored.
        mutating func run(_ outcomes: String) {
            for outcome in outcomes {
                settle(admit(), outcome == "s" ? .success : outcome == "f" ? .failure : .ignored)
            }
        }
    }

    @Test(
        arguments: [
            ("fff", 0.5, 4, false), ("ffff", 0.5, 4, true), ("sfsf", 0.5, 4, true), ("ssff", 0.5, 4, true),
            ("sssf", 0.5, 4, false), ("ffss", 0.5, 4, false), ("ffssf", 0.5, 4, true), ("fiiif", 0.5, 4, false),
            ("iiii", 0.5, 4, false), ("ssss", 0, 4, false), ("sssf", 0, 4, true), ("f", -1, 0, true),
            ("sf", 2, 1, false),
            ("f", 2, 1, true), ("sf", .nan, 1, false), ("f", 1, -5, true),
        ] as [(String, Double, Int, Bool)]
    )
    func opensAtFailureRatioAndMinimumRequests(_ outcomes: String, _ ratio: Double, _ minimum: Int, _ isOpen: Bool) {
        var circuit = CircuitAtTime(policy: Self.policy(ratio: ratio, minimum: minimum))
        circuit.run(outcomes)
        #expect(circuit.value.state == (isOpen ? .open(until: Self.start + .seconds(5)) : .closed))
    }

    @Test func ignoresFailuresBeforeTheWindow() {
        var circuit = CircuitAtTime()
        circuit.run("fff")
        circuit.seconds = 31
        circuit.run("f")
        #expect(circuit.value.state == .closed)
        circuit.run("fff")
        #expect(circuit.value.state != .closed)
    }

    @Test func refusesUntilOpenTimeHasPassed() {
        var circuit = CircuitAtTime()
        circuit.run("ffff")
        #expect(circuit.value.admit(now: circuit.now, circuit.policy) == .refused(after: .seconds(5)))
        circuit.seconds = 4.5
        #expect(circuit.value.admit(now: circuit.now, circuit.policy) == .refused(after: .seconds(0.5)))
        circuit.seconds = 5
        #expect(circuit.value.state == .open(until: circuit.now))
        #expect(circuit.admit() != nil)
        #expect(circuit.value.state == .halfOpen)
    }

    @Test func halfOpenAdmitsLimitedTrialsAndClosesOnSuccess() {
        var circuit = CircuitAtTime()
        circuit.run("ffff")
        circuit.seconds = 5
        let trials = [circuit.admit(), circuit.admit()]
        #expect(circuit.value.admit(now: circuit.now, circuit.policy) == .refused(after: nil))
        circuit.settle(trials[0], .success)
        // One trial has succeeded and one is in progress, so a third is not needed.
        #expect(circuit.admit() == nil)
        circuit.settle(trials[1], .success)
        #expect(circuit.value.state == .closed)
        // Earlier failures no longer count.
        circuit.run("sfs")
        #expect(circuit.value.state == .closed)
    }

    @Test func longTrialsKeepOthersBackForALimitedTime() {
        var circuit = CircuitAtTime()
        circuit.run("ffff")
        circuit.seconds = 5
        for _ in 0..<2 { #expect(circuit.admit() != nil) }
        circuit.seconds = 9
        #expect(circuit.admit() == nil)
        circuit.seconds = 10
        let trial = circuit.admit()
        #expect(trial != nil)
        #expect(circuit.admit() == nil)
        circuit.settle(trial, .success)
        circuit.seconds = 15
        circuit.settle(circuit.admit(), .success)
        #expect(circuit.value.state == .closed)
    }

    @Test func trialsAreLimitedWithoutAnOpenTime() {
        var circuit = CircuitAtTime(policy: Self.policy(openFor: .zero))
        circuit.run("ffff")
        for _ in 0..<2 { #expect(circuit.admit() != nil) }
        circuit.seconds = 0.9
        #expect(circuit.admit() == nil)
        circuit.seconds = 1
        #expect(circuit.admit() != nil)
    }

    @Test func failedTrialReopensAndOtherTrialsNoLongerCount() {
        var circuit = CircuitAtTime()
        circuit.run("ffff")
        circuit.seconds = 5
        let trials = [circuit.admit(), circuit.admit()]
        circuit.settle(trials[0], .failure)
        #expect(circuit.value.state == .open(until: Self.start + .seconds(10)))
        circuit.settle(trials[1], .success)
        #expect(circuit.value.state == .open(until: Self.start + .seconds(10)))
    }

    @Test func ignoredTrialFreesItsPlace() {
        var circuit = CircuitAtTime()
        circuit.run("ffff")
        circuit.seconds = 5
        for _ in 0..<10 {
            let trials = [circuit.admit(), circuit.admit()]
            #expect(circuit.admit() == nil)
            for trial in trials { circuit.settle(trial, .ignored) }
            #expect(circuit.value.state == .halfOpen)
        }
        circuit.run("ss")
        #expect(circuit.value.state == .closed)
    }

    @Test func ignoresOutcomesAdmittedBeforeStateChange() {
        var circuit = CircuitAtTime()
        let old = (0..<10).map { _ in circuit.admit() }
        circuit.run("ffff")
        circuit.settle(old[0], .failure)
        circuit.seconds = 5
        let trial = circuit.admit()
        circuit.settle(old[1], .failure)
        circuit.settle(old[2], .success)
        circuit.settle(old[3], .success)
        #expect(circuit.value.state == .halfOpen)
        circuit.settle(trial, .success)
        circuit.run("s")
        for ticket in old[4...] { circuit.settle(ticket, .failure) }
        #expect(circuit.value.state == .closed)
    }

    @Test(
        arguments: [
            (1, 60, [5, 5, 5]), (2, 60, [5, 10, 20, 40, 60, 60]), (3, 20, [5, 15, 20]), (0.5, 60, [5, 5]),
            (.nan, 60, [5, 5]), (.infinity, 60, [5, 60, 60]), (2, 1, [5, 5]), (2, -1, [5, 5]),
        ] as [(Double, Int, [Int])]
    )
    func openTimeGrowsWithEachFailedTrial(_ growth: Double, _ maximum: Int, _ pauses: [Int]) {
        var circuit = CircuitAtTime(policy: Self.policy(growth: growth, upTo: .seconds(maximum)))
        circuit.run("ffff")
        for pause in pauses {
            #expect(circuit.value.state == .open(until: circuit.now + .seconds(pause)))
            circuit.seconds += Double(pause)
            circuit.run("f")
        }
        circuit.seconds += 60
        circuit.run("ss")
        #expect(circuit.value.state == .closed)
        circuit.run("ffff")
        #expect(circuit.value.state == .open(until: circuit.now + .seconds(5)))
    }

    @Test(arguments: [Duration.zero, .seconds(-1)])
    func admitsTrialAtOnceIfOpenTimeIsZeroOrNegative(_ openFor: Duration) {
        var circuit = CircuitAtTime(policy: Self.policy(openFor: openFor, trials: -1))
        circuit.run("ffff")
        #expect(circuit.value.state == .open(until: circuit.now))
        circuit.run("s")
        #expect(circuit.value.state == .closed)
    }

    @Test func extremeDurationsDoNotTrap() {
        let long = Duration.seconds(Int64.max)
        let policy = Circuit.Policy(
            failureRatio: 0,
            minimumRequests: 1,
            window: .seconds(-1),
            openFor: long,
            growth: .infinity,
            maximumOpenFor: long,
            trials: .max,
            start: Self.start
        )
        #expect(policy.pause(opened: .max) == .seconds(1 << 31))
        #expect(policy.pause(opened: 1) == .seconds(1 << 31))
        #expect(policy.slice(of: Self.start + .seconds(Int64.max)) > 0)
        #expect(policy.slice(of: Self.start - .seconds(Int64.max)) < 0)
        #expect(policy.slice(of: Self.start - .microseconds(1)) == -1)
    }

    @Test func isFreshOnlyIfClosedAndWindowIsOver() {
        var circuit = CircuitAtTime()
        let ticket = circuit.admit()
        #expect(!circuit.value.isFresh(at: 1000, openBefore: Self.start))
        circuit.settle(ticket, .failure)
        #expect(!circuit.value.isFresh(at: 9, openBefore: Self.start))
        #expect(circuit.value.isFresh(at: 10, openBefore: Self.start))
        circuit.run("fff")
        #expect(!circuit.value.isFresh(at: 1000, openBefore: Self.start))
        // A host that failed and was never asked again.
        #expect(circuit.value.isFresh(at: 1000, openBefore: Self.start + .seconds(3600)))
        // One of two trials has succeeded, and the host was never asked again.
        circuit.seconds = 60
        circuit.run("f")
        circuit.seconds = 600
        circuit.run("s")
        #expect(circuit.value.state == .halfOpen)
        #expect(!circuit.value.isFresh(at: 1000, openBefore: Self.start + .seconds(600)))
        #expect(circuit.value.isFresh(at: 1000, openBefore: Self.start + .seconds(601)))
        // Both have, and announcements of other processes are ignored for a time.
        circuit.run("s")
        #expect(circuit.value.state == .closed)
        #expect(!circuit.value.isFresh(at: 1000, openBefore: Self.start + .seconds(600)))
        #expect(circuit.value.isFresh(at: 1000, openBefore: Self.start + .seconds(601)))
    }

    // MARK: Announcements of other processes

    @Test func announcementDuringTrialsIsIgnored() throws {
        var circuits = Circuits(Self.policy(trials: 1))
        #expect(circuits.open("a", for: .seconds(5), now: Self.start) == .open(until: Self.start + .seconds(5)))
        let now = Self.start + .seconds(5)
        guard case (.admitted(let trial), .halfOpen?) = circuits.admit("a", now: now) else {
            Issue.record("There is no trial.")
            return
        }
        #expect(circuits.open("a", for: .seconds(5), now: now) == nil)
        #expect(circuits.settle("a", trial, .success, now: now) == .closed)
    }

    @Test func announcementsAreIgnoredForATimeAfterSuccessfulTrials() throws {
        var circuits = Circuits(Self.policy(upTo: .seconds(60), trials: 1))
        var now = Self.start
        func send(_ classification: CircuitBreaker.Classification) {
            guard case (.admitted(let ticket), _) = circuits.admit("a", now: now) else { return }
            _ = circuits.settle("a", ticket, classification, now: now)
        }
        for _ in 0..<2 {
            #expect(circuits.open("a", for: .seconds(5), now: now) == .open(until: now + .seconds(5)))
            now += .seconds(5)
            send(.success)
            // Another process announces its failed trials.
            for pause in [0, 5, 54] {
                now += .seconds(pause)
                #expect(circuits.open("a", for: .seconds(5), now: now) == nil)
                #expect(circuits.state("a") == .closed)
            }
            now += .seconds(1)
        }
        // Its own failures still open it.
        #expect(circuits.open("a", for: .seconds(5), now: now) != nil)
        now += .seconds(5)
        send(.success)
        for _ in 0..<4 { send(.failure) }
        #expect(circuits.state("a") == .open(until: now + .seconds(5)))
    }
}

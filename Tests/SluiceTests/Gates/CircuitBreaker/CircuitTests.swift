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
    private struct Scene {
        let policy: Circuit.Policy
        var circuit: Circuit
        var seconds = 0.0

        init(policy: Circuit.Policy = CircuitTests.policy()) {
            self.policy = policy
            circuit = Circuit(at: CircuitTests.start, policy)
        }

        var now: ContinuousClock.Instant { CircuitTests.start + .seconds(seconds) }

        mutating func admit() -> Circuit.Ticket? {
            if case .admitted(let ticket) = circuit.admit(now: now, policy) { ticket } else { nil }
        }

        mutating func settle(_ ticket: Circuit.Ticket?, _ judgement: CircuitBreaker.Judgement) {
            guard let ticket else { return }
            circuit.settle(ticket, judgement, now: now, policy)
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
    func aCircuitOpensWhenEnoughHaveFailed(_ outcomes: String, _ ratio: Double, _ minimum: Int, _ isOpen: Bool) {
        var scene = Scene(policy: Self.policy(ratio: ratio, minimum: minimum))
        scene.run(outcomes)
        #expect(scene.circuit.state == (isOpen ? .open(until: Self.start + .seconds(5)) : .closed))
    }

    @Test func failuresOfLongAgoDoNotCount() {
        var scene = Scene()
        scene.run("fff")
        scene.seconds = 31
        scene.run("f")
        #expect(scene.circuit.state == .closed)
        scene.run("fff")
        #expect(scene.circuit.state != .closed)
    }

    @Test func anOpenCircuitRefusesUntilItsTimeIsUp() {
        var scene = Scene()
        scene.run("ffff")
        #expect(scene.circuit.admit(now: scene.now, scene.policy) == .refused(after: .seconds(5)))
        scene.seconds = 4.5
        #expect(scene.circuit.admit(now: scene.now, scene.policy) == .refused(after: .seconds(0.5)))
        scene.seconds = 5
        #expect(scene.circuit.state == .open(until: scene.now))
        #expect(scene.admit() != nil)
        #expect(scene.circuit.state == .halfOpen)
    }

    @Test func aHalfOpenCircuitAdmitsSoManyTrialsAndClosesWhenTheySucceed() {
        var scene = Scene()
        scene.run("ffff")
        scene.seconds = 5
        let trials = [scene.admit(), scene.admit()]
        #expect(scene.circuit.admit(now: scene.now, scene.policy) == .refused(after: nil))
        scene.settle(trials[0], .success)
        // One trial has succeeded and one is in progress, so a third is not needed.
        #expect(scene.admit() == nil)
        scene.settle(trials[1], .success)
        #expect(scene.circuit.state == .closed)
        // Earlier failures no longer count.
        scene.run("sfs")
        #expect(scene.circuit.state == .closed)
    }

    @Test func aTrialThatFailsOpensItAgainAndItsCompanionsSayNothingMore() {
        var scene = Scene()
        scene.run("ffff")
        scene.seconds = 5
        let trials = [scene.admit(), scene.admit()]
        scene.settle(trials[0], .failure)
        #expect(scene.circuit.state == .open(until: Self.start + .seconds(10)))
        scene.settle(trials[1], .success)
        #expect(scene.circuit.state == .open(until: Self.start + .seconds(10)))
    }

    @Test func aTrialThatIsIgnoredLeavesItsPlaceToAnother() {
        var scene = Scene()
        scene.run("ffff")
        scene.seconds = 5
        for _ in 0..<10 {
            let trials = [scene.admit(), scene.admit()]
            #expect(scene.admit() == nil)
            for trial in trials { scene.settle(trial, .ignored) }
            #expect(scene.circuit.state == .halfOpen)
        }
        scene.run("ss")
        #expect(scene.circuit.state == .closed)
    }

    @Test func whatWasAdmittedBeforeAChangeSaysNothingAboutWhatIsAfterIt() {
        var scene = Scene()
        let old = (0..<10).map { _ in scene.admit() }
        scene.run("ffff")
        scene.settle(old[0], .failure)
        scene.seconds = 5
        let trial = scene.admit()
        scene.settle(old[1], .failure)
        scene.settle(old[2], .success)
        scene.settle(old[3], .success)
        #expect(scene.circuit.state == .halfOpen)
        scene.settle(trial, .success)
        scene.run("s")
        for ticket in old[4...] { scene.settle(ticket, .failure) }
        #expect(scene.circuit.state == .closed)
    }

    @Test(
        arguments: [
            (1, 60, [5, 5, 5]), (2, 60, [5, 10, 20, 40, 60, 60]), (3, 20, [5, 15, 20]), (0.5, 60, [5, 5]),
            (.nan, 60, [5, 5]), (.infinity, 60, [5, 60, 60]), (2, 1, [5, 5]), (2, -1, [5, 5]),
        ] as [(Double, Int, [Int])]
    )
    func itStaysOpenForLongerEachTimeATrialFails(_ growth: Double, _ maximum: Int, _ pauses: [Int]) {
        var scene = Scene(policy: Self.policy(growth: growth, upTo: .seconds(maximum)))
        scene.run("ffff")
        for pause in pauses {
            #expect(scene.circuit.state == .open(until: scene.now + .seconds(pause)))
            scene.seconds += Double(pause)
            scene.run("f")
        }
        scene.seconds += 60
        scene.run("ss")
        #expect(scene.circuit.state == .closed)
        scene.run("ffff")
        #expect(scene.circuit.state == .open(until: scene.now + .seconds(5)))
    }

    @Test(arguments: [Duration.zero, .seconds(-1)])
    func aCircuitThatIsOpenForNoTimeIsTriedAtOnce(_ openFor: Duration) {
        var scene = Scene(policy: Self.policy(openFor: openFor, trials: -1))
        scene.run("ffff")
        #expect(scene.circuit.state == .open(until: scene.now))
        scene.run("s")
        #expect(scene.circuit.state == .closed)
    }

    @Test func longTimesDoNotTrap() {
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

    @Test func aCircuitIsAsGoodAsNewOnceItIsClosedAndNothingCounts() {
        var scene = Scene()
        let ticket = scene.admit()
        #expect(!scene.circuit.isFresh(at: 1000))
        scene.settle(ticket, .failure)
        #expect(!scene.circuit.isFresh(at: 9))
        #expect(scene.circuit.isFresh(at: 10))
        scene.run("fff")
        #expect(!scene.circuit.isFresh(at: 1000))
    }
}

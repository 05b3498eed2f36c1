import SluiceTesting
import Testing

@testable import Sluice

@Suite struct CircuitsInterleavingTests {
    @Test(arguments: 0..<40 as Range<UInt64>)
    func keepsTrialLimitAndClosesEveryCircuitAtTheEnd(_ seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let start = ContinuousClock.now
        let trials = Int.random(in: 1...4, using: &random)
        let policy = Circuit.Policy(
            failureRatio: 0.5,
            minimumRequests: 5,
            window: .seconds(30),
            openFor: .seconds(5),
            growth: 2,
            maximumOpenFor: .seconds(20),
            trials: trials,
            start: start
        )
        var circuits = Circuits(policy)
        var now = start
        var running: [(key: String, ticket: Circuit.Ticket, isTrial: Bool)] = []
        var halfOpenSince: [String: Int] = [:]
        var lastTrials: [String: ContinuousClock.Instant] = [:]
        var flaws: [String] = []

        func settle(_ index: Int, _ classification: CircuitBreaker.Classification) {
            let (key, ticket, isTrial) = running.remove(at: index)
            let before = circuits.state(key)
            let after = circuits.settle(key, ticket, classification, now: now)
            if let after, after != circuits.state(key) { flaws.append("reported a change without a new state") }
            if after == nil, before != circuits.state(key) { flaws.append("did not report a change") }
            if classification == .ignored, after != nil { flaws.append("an ignored outcome changed the state") }
            if before == .halfOpen, classification == .failure, isTrial, halfOpenSince[key] != nil, after == nil {
                flaws.append("a trial's failure did not open the circuit")
            }
            if after != nil {
                halfOpenSince[key] = nil
                // Requests from before the change are not trials.
                running = running.map { $0.key == key ? ($0.key, $0.ticket, false) : $0 }
            }
        }

        func admit(_ key: String) {
            let before = circuits.state(key)
            let (admission, change) = circuits.admit(key, now: now)
            switch (admission, before) {
            case (.admitted, .open(let until)) where now < until: flaws.append("admitted while open")
            case (.refused, .closed): flaws.append("refused while closed")
            case (.refused, .open(let until)) where now >= until: flaws.append("refused after the open time")
            default: break
            }
            if case .open = before, change == .halfOpen { halfOpenSince[key] = 0 }
            guard case .admitted(let ticket) = admission else { return }
            let isTrial = circuits.state(key) == .halfOpen
            if isTrial {
                let isLimited = lastTrials[key].map { now < $0 + .seconds(5) } ?? false
                let count = running.count { $0.key == key && $0.isTrial }
                if isLimited, count >= trials { flaws.append("too many trials") }
                lastTrials[key] = now
            }
            running.append((key, ticket, isTrial))
        }

        for _ in 0..<3000 {
            let key = ["a", "b", "c"].randomElement(using: &random) ?? ""
            switch Int.random(in: 0..<5, using: &random) {
            case 0...1: admit(key)
            case 2...3:
                guard let index = running.indices.randomElement(using: &random) else { continue }
                let classification: [CircuitBreaker.Classification] = [.success, .failure, .failure, .ignored]
                settle(index, classification.randomElement(using: &random) ?? .ignored)
            default: now += .milliseconds(Int.random(in: 0..<2000, using: &random))
            }
        }
        while !running.isEmpty { settle(0, .ignored) }
        // The server works again.
        now += .seconds(60)
        for _ in 0..<trials {
            for key in ["a", "b", "c"] {
                admit(key)
                if running.isEmpty { flaws.append("\(key) admits no trial") } else { settle(0, .success) }
            }
        }
        for key in ["a", "b", "c"] { #expect(circuits.state(key) == .closed) }
        #expect(flaws.isEmpty)
    }

    @Test func removesIdleKeys() {
        let start = ContinuousClock.now
        let policy = Circuit.Policy(
            failureRatio: 0.5,
            minimumRequests: 1,
            window: .seconds(30),
            openFor: .seconds(5),
            growth: 1,
            maximumOpenFor: .seconds(5),
            trials: 1,
            start: start
        )
        var circuits = Circuits(policy)
        for host in 0..<20_000 {
            let now = start + .milliseconds(host * 100)
            guard case (.admitted(let ticket), _) = circuits.admit("\(host)", now: now) else { continue }
            _ = circuits.settle("\(host)", ticket, [17, 19_999].contains(host) ? .failure : .success, now: now)
        }
        #expect(circuits.circuits.count <= 1025)
        #expect(circuits.state("19999") != .closed)
        // Nobody has asked for it long after its circuit could have been tried again.
        #expect(circuits.state("17") == .closed)
    }
}

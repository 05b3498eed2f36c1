import SluiceTesting
import Testing

@testable import Sluice

/// Random interleavings in which requests arrive, are checked, satisfied, failed and cancelled.
@Suite struct ConstraintInterleavingTests {
    /// A state with its requests and the pending operations.
    private struct World {
        var state = ConstraintState()
        var here: Set<Int> = []
        var ended: [Int: Int] = [:]
        var question: Int?
        var isSatisfying = false
        var lastID = 0

        mutating func perform(_ actions: [ConstraintState.Action]) throws {
            for action in actions {
                switch action {
                case .check(let id):
                    try #require(question == nil, "two questions at once")
                    question = id
                case .cancelCheck(let id): #expect(question == id)
                case .satisfy:
                    try #require(!isSatisfying, "two satisfactions at once")
                    #expect(state.firstWaiting != nil)
                    isSatisfying = true
                case .cancelSatisfaction: #expect(isSatisfying)
                case .admit(let ids), .fail(let ids): for id in ids { try end(id) }
                }
            }
        }

        private mutating func end(_ id: Int) throws {
            try #require(here.remove(id) != nil, "\(id) ended although it is not pending")
            ended[id, default: 0] += 1
        }

        /// Runs a random event; false if the chosen event is not possible now.
        mutating func step(_ random: inout SeededGenerator) throws -> Bool {
            switch Int.random(in: 0..<8, using: &random) {
            case 0, 1:
                lastID += 1
                here.insert(lastID)
                try perform(state.arrived(lastID))
            case 2, 3:
                guard let id = question else { return false }
                question = nil
                try perform(state.checked(id, Bool.random(using: &random)))
            case 4:
                guard let id = question, Int.random(in: 0..<4, using: &random) == 0 else { return false }
                question = nil
                try perform(state.checkTimedOut(id))
            case 5:
                guard isSatisfying else { return false }
                isSatisfying = false
                try perform(state.satisfied())
            case 6:
                guard isSatisfying else { return false }
                isSatisfying = false
                try perform(state.failed())
            default:
                guard let id = here.sorted().randomElement(using: &random) else { return false }
                here.remove(id)
                ended[id, default: 0] += 1
                try perform(state.cancelled(id))
            }
            return true
        }
    }

    @Test(arguments: 0..<200)
    func endsEveryRequestExactlyOnce(_ seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        var world = World()
        for _ in 0..<400 { _ = try world.step(&random) }
        // No new requests. The pending ones must end.
        var steps = 0
        while !world.here.isEmpty || world.question != nil || world.isSatisfying {
            steps += 1
            try #require(steps < 100_000, "\(world.here.count) requests never end")
            if let id = world.question {
                world.question = nil
                try world.perform(world.state.checked(id, false))
            } else if world.isSatisfying {
                world.isSatisfying = false
                try world.perform(Bool.random(using: &random) ? world.state.satisfied() : world.state.failed())
            } else {
                Issue.record("requests wait without a pending operation")
                return
            }
        }
        #expect(world.ended.count == world.lastID)
        #expect(world.ended.values.allSatisfy { $0 == 1 })
        #expect(world.state.isIdle)
    }
}

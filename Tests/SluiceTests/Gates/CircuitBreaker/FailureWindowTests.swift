import SluiceTesting
import Testing

@testable import Sluice

@Suite struct FailureWindowTests {
    @Test func dropsOutcomesTenSlicesOld() {
        var window = FailureWindow(at: 0)
        window.count(failed: true, at: 0)
        window.count(failed: false, at: 5)
        window.count(failed: false, at: 9)
        #expect(window.total == 3)
        #expect(window.failureRatio == 1.0 / 3)
        window.count(failed: true, at: 10)
        #expect(window.total == 3)
        #expect(window.failures == 1)
        window.count(failed: true, at: 19)
        #expect(window.total == 2)
        #expect(window.failures == 2)
        window.count(failed: false, at: 1_000_000)
        #expect(window.total == 1)
        #expect(window.failureRatio == 0)
    }

    @Test(arguments: [(9, false), (10, true), (Int64.max, true), (0, false), (-1, false), (Int64.min, false)])
    func isOverWhenNoSliceCounts(_ slice: Int64, _ isOver: Bool) {
        #expect(FailureWindow(at: 0).isOver(at: slice) == isOver)
    }

    @Test func extremeSlicesDoNotTrap() {
        var window = FailureWindow(at: -3)
        for slice in [-2, 4, Int64.min, -1_000_000_000_000_000_000, 1_000_000_000_000_000_000, 0, .max, .min] {
            window.count(failed: true, at: slice)
        }
        #expect(window.failures == window.total)
        #expect(FailureWindow(at: .min).isOver(at: .max))
        #expect(FailureWindow(at: 0).failureRatio == 0)
    }

    @Test func matchesArrayModelUnderRandomOutcomes() {
        var random = SeededGenerator(seed: 30)
        var slice: Int64 = -50
        var window = FailureWindow(at: slice)
        var model: [(slice: Int64, failed: Bool)] = []
        for _ in 0..<10_000 {
            slice += [0, 0, 0, 1, 2, 15].randomElement(using: &random) ?? 0
            let failed = Bool.random(using: &random)
            window.count(failed: failed, at: slice)
            model.append((slice, failed))
            model.removeAll { $0.slice <= slice - 10 }
            if window.total != model.count || window.failures != model.count(where: \.failed) {
                Issue.record("\(window) at \(slice)")
                return
            }
        }
    }
}

import SluiceTesting
import Testing

@testable import Sluice

@Suite struct DueTimesTests {
    @Test func keepsEarliestTimeFirst() {
        var random = SeededGenerator(seed: 61)
        let start = ContinuousClock.now
        var dueTimes = DueTimes()
        var model: [Int] = []
        for round in 0..<1000 {
            if Int.random(in: 0..<5, using: &random) < (round < 500 ? 3 : 2) {
                let time = Int.random(in: 0..<100, using: &random)
                dueTimes.insert("\(time)", at: start + .seconds(time))
                model.append(time)
            } else {
                dueTimes.removeFirst()
                if let index = model.indices.min(by: { model[$0] < model[$1] }) { model.remove(at: index) }
            }
            #expect(dueTimes.count == model.count)
            #expect(dueTimes.first?.time == model.min().map { start + .seconds($0) })
            #expect(dueTimes.first?.key == model.min().map(String.init))
        }
    }
}

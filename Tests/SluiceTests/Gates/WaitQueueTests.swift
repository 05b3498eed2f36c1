import SluiceTesting
import Testing

@testable import Sluice

@Suite struct WaitQueueTests {
    @Test func theFirstToComeIsTheFirstToGo() {
        var line = WaitQueue<String>()
        for (id, name) in ["a", "b", "c"].enumerated() { line.append(name, id: id) }
        #expect(line.remove(id: 1) == "b")
        #expect(line.remove(id: 1) == nil)
        #expect(line.count == 2)
        #expect([line.popFirst(), line.popFirst(), line.popFirst()] == ["a", "c", nil])
        #expect(line.isEmpty)
        #expect(line.remove(id: 0) == nil)
    }

    @Test func whoGotItsNumberFirstIsInFrontOfWhoWasFasterIn() {
        var line = WaitQueue<Int>()
        for id in [2, 1, 4, 3] { line.append(id, id: id) }
        #expect((1...4).map { _ in line.popFirst() } == [1, 2, 3, 4])
        line.append(9, id: 9)
        _ = line.popFirst()
        line.append(5, id: 5)
        #expect(line.remove(id: 5) == 5)
    }

    @Test func thoseOfWhomSomethingIsTrueLeaveAndAreToldHowManyStayInFront() {
        var line = WaitQueue<Int>()
        for id in 0..<6 { line.append(id, id: id) }
        _ = line.popFirst()
        var seen: [[Int]] = []
        let left = line.removeAll { position, waiter in
            seen.append([position, waiter])
            return waiter % 2 == 0
        }
        #expect(left == [2, 4])
        #expect(seen == [[0, 1], [1, 2], [1, 3], [2, 4], [2, 5]])
        #expect(line.count == 3)
        #expect((0..<3).map { _ in line.popFirst() } == [1, 3, 5])
    }

    @Test func itIsWhatAListWouldBe() {
        var generator = SeededGenerator(seed: 47)
        var line = WaitQueue<Int>()
        var model: [Int] = []
        for id in 0..<50_000 {
            switch Int.random(in: 0..<5, using: &generator) {
            case 0...1:
                line.append(id, id: id)
                model.append(id)
            case 2:
                #expect(line.popFirst() == (model.isEmpty ? nil : model.removeFirst()))
            case 3:
                let victim = model.randomElement(using: &generator) ?? id
                #expect(line.remove(id: victim) == (model.contains(victim) ? victim : nil))
                model.removeAll { $0 == victim }
            default:
                if id % 100 == 4 {
                    #expect(line.removeAll { $1 % 7 == 0 } == model.filter { $0 % 7 == 0 })
                    model.removeAll { $0 % 7 == 0 }
                }
            }
            #expect(line.count == model.count)
        }
    }

    @Test func thoseWhoComeAndLeaveLeaveNoRoomBehind() {
        var line = WaitQueue<Int>()
        line.append(0, id: 0)
        for id in 1...100_000 {
            line.append(id, id: id)
            _ = line.remove(id: id)
        }
        #expect(line.placeCount < 64)
        #expect(line.popFirst() == 0)
    }
}

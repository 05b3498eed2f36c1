import SluiceTesting
import Testing

@testable import Sluice

@Suite struct WaitQueueTests {
    @Test func popsInOrderOfArrivalAndRemovesByID() {
        var queue = WaitQueue<String>()
        for (id, name) in ["a", "b", "c"].enumerated() { queue.append(name, id: id) }
        #expect(queue.remove(id: 1) == "b")
        #expect(queue.remove(id: 1) == nil)
        #expect(queue.count == 2)
        #expect([queue.popFirst(), queue.popFirst(), queue.popFirst()] == ["a", "c", nil])
        #expect(queue.isEmpty)
        #expect(queue.remove(id: 0) == nil)
    }

    @Test func ordersByIDNotByInsertion() {
        var queue = WaitQueue<Int>()
        for id in [2, 1, 4, 3] { queue.append(id, id: id) }
        #expect((1...4).map { _ in queue.popFirst() } == [1, 2, 3, 4])
        queue.append(9, id: 9)
        _ = queue.popFirst()
        queue.append(5, id: 5)
        #expect(queue.remove(id: 5) == 5)
    }

    @Test func removeAllPassesPositionAmongRemaining() {
        var queue = WaitQueue<Int>()
        for id in 0..<6 { queue.append(id, id: id) }
        _ = queue.popFirst()
        var seen: [[Int]] = []
        let left = queue.removeAll { position, waiter in
            seen.append([position, waiter])
            return waiter % 2 == 0
        }
        #expect(left == [2, 4])
        #expect(seen == [[0, 1], [1, 2], [1, 3], [2, 4], [2, 5]])
        #expect(queue.count == 3)
        #expect((0..<3).map { _ in queue.popFirst() } == [1, 3, 5])
    }

    @Test func matchesArrayModelUnderRandomOperations() {
        var generator = SeededGenerator(seed: 47)
        var queue = WaitQueue<Int>()
        var model: [Int] = []
        for id in 0..<50_000 {
            switch Int.random(in: 0..<5, using: &generator) {
            case 0...1:
                queue.append(id, id: id)
                model.append(id)
            case 2:
                #expect(queue.popFirst() == (model.isEmpty ? nil : model.removeFirst()))
            case 3:
                let removedID = model.randomElement(using: &generator) ?? id
                #expect(queue.remove(id: removedID) == (model.contains(removedID) ? removedID : nil))
                model.removeAll { $0 == removedID }
            default:
                if id % 100 == 4 {
                    #expect(queue.removeAll { $1 % 7 == 0 } == model.filter { $0 % 7 == 0 })
                    model.removeAll { $0 % 7 == 0 }
                }
            }
            #expect(queue.count == model.count)
        }
    }

    @Test func reclaimsPlacesOfRemovedWaiters() {
        var queue = WaitQueue<Int>()
        queue.append(0, id: 0)
        for id in 1...100_000 {
            queue.append(id, id: id)
            _ = queue.remove(id: id)
        }
        #expect(queue.slotCount < 64)
        #expect(queue.popFirst() == 0)
    }
}

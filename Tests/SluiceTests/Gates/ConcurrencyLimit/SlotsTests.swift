import Testing

@testable import Sluice

@Suite struct SlotsTests {
    /// A state, and the numbers of the requests so far.
    private struct Scene {
        var slots: Slots<Int>
        var lastID = 0

        init(_ total: Int?, each: Int? = nil, maximumWaiting: Int = 100) {
            slots = Slots(total: total, each: each, maximumWaiting: maximumWaiting)
        }

        mutating func arrive(_ key: String) -> Slots<Int>.Arrival {
            lastID += 1
            return slots.arrive(lastID, id: lastID, key)
        }
    }

    @Test func asManyRunAsMayAndTheOthersWait() {
        var scene = Scene(2)
        #expect((1...4).map { _ in scene.arrive("a") } == [.admitted, .admitted, .waiting, .waiting])
        #expect(scene.slots.running == 2)
        #expect(scene.slots.waiting == 2)
        #expect(scene.slots.release("a") == 3)
        #expect(scene.slots.running == 2)
        #expect(scene.slots.release("a") == 4)
        #expect(scene.slots.release("a") == nil)
        #expect(scene.slots.release("a") == nil)
        #expect(scene.slots.running == 0)
        #expect(scene.slots.groupCount == 0)
    }

    @Test func noHostHasMoreThanItsShare() {
        var scene = Scene(3, each: 2)
        #expect(
            ["a", "a", "a", "b", "b"].map { scene.arrive($0) } == [.admitted, .admitted, .waiting, .admitted, .waiting]
        )
        // The slot that b releases is not available to a, which is at its limit.
        #expect(scene.slots.release("b") == 5)
        #expect(scene.slots.release("a") == 3)
    }

    @Test func aLimitOfEachHostLeavesOthersAlone() {
        var scene = Scene(nil, each: 1)
        #expect(["a", "a", "b", "c"].map { scene.arrive($0) } == [.admitted, .waiting, .admitted, .admitted])
        #expect(scene.slots.release("b") == nil)
        #expect(scene.slots.release("a") == 2)
        #expect(scene.slots.groupCount == 2)
    }

    @Test func hostsTakeTurnsSoThatAFloodDoesNotStarveTheOthers() {
        var scene = Scene(1)
        _ = scene.arrive("busy")
        for _ in 0..<5 { _ = scene.arrive("flood") }  // 2 to 6
        _ = scene.arrive("b")  // 7
        _ = scene.arrive("c")  // 8
        _ = scene.arrive("b")  // 9
        var order: [Int] = []
        var running = "busy"
        while let next = scene.slots.release(running) {
            order.append(next)
            running = next == 8 ? "c" : next == 7 || next == 9 ? "b" : "flood"
        }
        #expect(order == [2, 7, 8, 3, 9, 4, 5, 6])
    }

    @Test func whoLeavesIsNotServedAndItsTurnIsTheNexts() {
        var scene = Scene(1)
        _ = scene.arrive("a")
        _ = scene.arrive("b")
        _ = scene.arrive("c")
        _ = scene.arrive("c")
        #expect(scene.slots.leave(id: 2, "b") == 2)
        #expect(scene.slots.leave(id: 2, "b") == nil)
        #expect(scene.slots.groupCount == 2)
        #expect(scene.slots.leave(id: 3, "c") == 3)
        #expect(scene.slots.release("a") == 4)
        #expect(scene.slots.leave(id: 4, "c") == nil)
    }

    @Test(arguments: [(0, 0), (-1, 0), (1, 1), (3, 3)])
    func asManyOfAHostWaitAsMay(_ maximum: Int, _ waiting: Int) {
        var scene = Scene(1, maximumWaiting: maximum)
        _ = scene.arrive("a")
        for _ in 0..<waiting { #expect(scene.arrive("a") == .waiting) }
        #expect(scene.arrive("a") == .full(waiting: waiting))
        #expect(scene.slots.waiting == waiting)
        #expect(scene.arrive("b") == (waiting == 0 ? .full(waiting: 0) : .waiting))
    }

    @Test(arguments: [(0, nil), (-5, nil), (nil, 0), (1, -1)] as [(Int?, Int?)])
    func alwaysOneMayRun(_ total: Int?, _ each: Int?) {
        var scene = Scene(total, each: each)
        #expect(scene.arrive("a") == .admitted)
        #expect(scene.arrive("a") == .waiting)
    }

    @Test func whatWasNeverTakenCannotBeGivenBack() {
        var scene = Scene(1)
        #expect(scene.slots.release("a") == nil)
        _ = scene.arrive("a")
        #expect(scene.slots.release("b") == nil)
        #expect(scene.slots.running == 1)
    }

    @Test func hostsThatAreDoneWithAreForgotten() {
        var scene = Scene(1, each: 1)
        _ = scene.arrive("busy")
        for host in 0..<10_000 {
            _ = scene.arrive("\(host)")
            _ = scene.slots.leave(id: scene.lastID, "\(host)")
        }
        #expect(scene.slots.groupCount == 1)
        #expect(scene.slots.turnCount == 0)
    }
}

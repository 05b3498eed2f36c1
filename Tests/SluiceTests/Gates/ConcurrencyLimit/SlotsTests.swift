import Testing

@testable import Sluice

@Suite struct SlotsTests {
    /// Slots, and the number of the last request.
    private struct NumberedSlots {
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

    @Test func admitsUpToTotalAndQueuesTheRest() {
        var numbered = NumberedSlots(2)
        #expect((1...4).map { _ in numbered.arrive("a") } == [.admitted, .admitted, .waiting, .waiting])
        #expect(numbered.slots.running == 2)
        #expect(numbered.slots.waiting == 2)
        #expect(numbered.slots.release("a") == 3)
        #expect(numbered.slots.running == 2)
        #expect(numbered.slots.release("a") == 4)
        #expect(numbered.slots.release("a") == nil)
        #expect(numbered.slots.release("a") == nil)
        #expect(numbered.slots.running == 0)
        #expect(numbered.slots.groupCount == 0)
    }

    @Test func limitsSlotsPerHostWithinTotal() {
        var numbered = NumberedSlots(3, each: 2)
        #expect(
            ["a", "a", "a", "b", "b"].map { numbered.arrive($0) } == [
                .admitted, .admitted, .waiting, .admitted, .waiting,
            ]
        )
        // The slot that b releases is not available to a, which is at its limit.
        #expect(numbered.slots.release("b") == 5)
        #expect(numbered.slots.release("a") == 3)
    }

    @Test func perHostLimitDoesNotAffectOtherHosts() {
        var numbered = NumberedSlots(nil, each: 1)
        #expect(["a", "a", "b", "c"].map { numbered.arrive($0) } == [.admitted, .waiting, .admitted, .admitted])
        #expect(numbered.slots.release("b") == nil)
        #expect(numbered.slots.release("a") == 2)
        #expect(numbered.slots.groupCount == 2)
    }

    @Test func servesHostsInTurn() {
        var numbered = NumberedSlots(1)
        _ = numbered.arrive("busy")
        for _ in 0..<5 { _ = numbered.arrive("flood") }  // 2 to 6
        _ = numbered.arrive("b")  // 7
        _ = numbered.arrive("c")  // 8
        _ = numbered.arrive("b")  // 9
        var order: [Int] = []
        var running = "busy"
        while let next = numbered.slots.release(running) {
            order.append(next)
            running = next == 8 ? "c" : next == 7 || next == 9 ? "b" : "flood"
        }
        #expect(order == [2, 7, 8, 3, 9, 4, 5, 6])
    }

    @Test func departedWaiterLosesItsTurn() {
        var numbered = NumberedSlots(1)
        _ = numbered.arrive("a")
        _ = numbered.arrive("b")
        _ = numbered.arrive("c")
        _ = numbered.arrive("c")
        #expect(numbered.slots.leave(id: 2, "b") == 2)
        #expect(numbered.slots.leave(id: 2, "b") == nil)
        #expect(numbered.slots.groupCount == 2)
        #expect(numbered.slots.leave(id: 3, "c") == 3)
        #expect(numbered.slots.release("a") == 4)
        #expect(numbered.slots.leave(id: 4, "c") == nil)
    }

    @Test(arguments: [(0, 0), (-1, 0), (1, 1), (3, 3)])
    func limitsWaitersPerHost(_ maximum: Int, _ waiting: Int) {
        var numbered = NumberedSlots(1, maximumWaiting: maximum)
        _ = numbered.arrive("a")
        for _ in 0..<waiting { #expect(numbered.arrive("a") == .waiting) }
        #expect(numbered.arrive("a") == .full(waiting: waiting))
        #expect(numbered.slots.waiting == waiting)
        #expect(numbered.arrive("b") == (waiting == 0 ? .full(waiting: 0) : .waiting))
    }

    @Test(arguments: [(0, nil), (-5, nil), (nil, 0), (1, -1)] as [(Int?, Int?)])
    func admitsAtLeastOneForInvalidLimits(_ total: Int?, _ each: Int?) {
        var numbered = NumberedSlots(total, each: each)
        #expect(numbered.arrive("a") == .admitted)
        #expect(numbered.arrive("a") == .waiting)
    }

    @Test func ignoresReleaseWithoutSlot() {
        var numbered = NumberedSlots(1)
        #expect(numbered.slots.release("a") == nil)
        _ = numbered.arrive("a")
        #expect(numbered.slots.release("b") == nil)
        #expect(numbered.slots.running == 1)
    }

    @Test func removesHostsWithoutRequests() {
        var numbered = NumberedSlots(1, each: 1)
        _ = numbered.arrive("busy")
        for host in 0..<10_000 {
            _ = numbered.arrive("\(host)")
            _ = numbered.slots.leave(id: numbered.lastID, "\(host)")
        }
        #expect(numbered.slots.groupCount == 1)
        #expect(numbered.slots.turnCount == 0)
    }
}

#if os(Linux)
import Testing

@testable import SluiceCurl

@Suite struct TransferQueueTests {
    private typealias Queue = TransferQueue<String, String, String>

    /// Admits elements named by their host and a number, `a1`, and gives back those that may start at once.
    private static func admit(_ names: [String], to queue: inout Queue) -> [String] {
        names.filter { queue.admit($0, id: $0, host: String($0.prefix(1))) }
    }

    private static func releasing(_ hosts: [String], of queue: inout Queue) -> [String] {
        hosts.map { queue.release(host: $0) ?? "-" }
    }

    @Test(arguments: [
        (10, 10, ["a1", "a2", "b1"], ["a1", "a2", "b1"]), (2, 10, ["a1", "a2", "b1"], ["a1", "a2"]),
        (10, 1, ["a1", "a2", "b1", "b2", "c1"], ["a1", "b1", "c1"]), (2, 1, ["a1", "a2", "b1", "c1"], ["a1", "b1"]),
        (3, 2, ["a1", "a2", "a3", "b1", "b2"], ["a1", "a2", "b1"]), (0, 0, ["a1", "a2"], ["a1"]),
        (-1, 5, ["a1", "a2"], ["a1"]),
    ])
    func asManyStartAtOnceAsBothLimitsAllow(limit: Int, perHost: Int, arriving: [String], starting: [String]) {
        var queue = Queue(limit: limit, limitPerHost: perHost)
        #expect(Self.admit(arriving, to: &queue) == starting)
        #expect(queue.active == starting.count)
        #expect(Set(queue.waiting) == Set(arriving).subtracting(starting))
    }

    @Test func thoseOfOneHostStartInTheOrderTheyCame() {
        var queue = Queue(limit: 1, limitPerHost: 1)
        #expect(Self.admit((1...200).map { "a\($0)" }, to: &queue) == ["a1"])
        #expect(Self.releasing(Array(repeating: "a", count: 199), of: &queue) == (2...200).map { "a\($0)" })
        #expect(queue.release(host: "a") == nil)
        #expect(queue.active == 0)
    }

    @Test func hostsTakeTurns() {
        var queue = Queue(limit: 1, limitPerHost: 1)
        _ = Self.admit(["x1", "a1", "a2", "a3", "b1", "b2", "c1"], to: &queue)
        let order = Self.releasing(["x", "a", "b", "c", "a", "b", "a"], of: &queue)
        #expect(order == ["a1", "b1", "c1", "a2", "b2", "a3", "-"])
    }

    @Test func aHostAtItsLimitIsPassedOverAndKeepsItsTurn() {
        var queue = Queue(limit: 2, limitPerHost: 1)
        #expect(Self.admit(["a1", "b1", "a2", "c1", "b2"], to: &queue) == ["a1", "b1"])
        #expect(queue.release(host: "b") == "c1")
        #expect(queue.release(host: "c") == "b2")
        #expect(queue.release(host: "a") == "a2")
    }

    @Test func aNewcomerOfAnotherHostMayTakeASlotThatNobodyWaitingCan() {
        var queue = Queue(limit: 2, limitPerHost: 1)
        #expect(Self.admit(["a1", "a2", "b1", "b2"], to: &queue) == ["a1", "b1"])
        #expect(queue.release(host: "b") == "b2")
        #expect(queue.release(host: "b") == nil)
        #expect(Self.admit(["c1"], to: &queue) == ["c1"])
    }

    @Test func oneThatLeftTheLineIsPassedOver() {
        var queue = Queue(limit: 1, limitPerHost: 1)
        _ = Self.admit(["a1", "a2", "a3", "b1", "a4"], to: &queue)
        #expect(queue.remove("a2") == "a2")
        #expect(queue.remove("a2") == nil)
        #expect(queue.remove("a1") == nil)
        #expect(queue.remove("b1") == "b1")
        #expect(Set(queue.waiting) == ["a3", "a4"])
        #expect(Self.releasing(["a", "a", "a"], of: &queue) == ["a3", "a4", "-"])
        #expect(queue.active == 0)
    }

    @Test func aLineThatAllHaveLeftTakesNewcomers() {
        var queue = Queue(limit: 1, limitPerHost: 1)
        _ = Self.admit(["x1", "a1", "a2"], to: &queue)
        _ = queue.remove("a1")
        _ = queue.remove("a2")
        _ = Self.admit(["b1", "a3"], to: &queue)
        #expect(Set(Self.releasing(["x", "b"], of: &queue) + Self.releasing(["a"], of: &queue)) == ["a3", "b1", "-"])
    }

    /// The engine's identities are addresses, which the next transfer may get once one has left.
    @Test func anIdentityUsedAgainIsSomebodyElse() {
        var queue = Queue(limit: 2, limitPerHost: 1)
        #expect(Self.admit(["a1", "b1"], to: &queue) == ["a1", "b1"])
        #expect(queue.admit("a2", id: "address", host: "a") == false)
        #expect(queue.remove("address") == "a2")
        #expect(queue.admit("b2", id: "address", host: "b") == false)
        #expect(queue.release(host: "a") == nil)
        #expect(queue.release(host: "b") == "b2")
        #expect(queue.release(host: "b") == nil)
        #expect(Self.admit(["a3", "b3"], to: &queue) == ["a3", "b3"])
    }

    @Test func oneThatLeavesAndComesAgainStandsAtTheEnd() {
        var queue = Queue(limit: 1, limitPerHost: 1)
        _ = Self.admit(["a1", "a2", "a3"], to: &queue)
        #expect(queue.remove("a2") == "a2")
        _ = Self.admit(["a2"], to: &queue)
        #expect(Self.releasing(["a", "a", "a"], of: &queue) == ["a3", "a2", "-"])
    }
}
#endif

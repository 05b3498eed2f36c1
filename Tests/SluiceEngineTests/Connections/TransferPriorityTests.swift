#if os(Linux)
import SluiceHTTP
import Testing

@testable import SluiceEngine

@Suite struct TransferPriorityTests {
    private typealias Queue = TransferQueue<Character, String, String>

    /// Lets elements wait while one is active, each named by its host, its priority and a number: `aH1`, `b-2`, `aL3`. Returns
    /// the order in which they start, one after another.
    private static func order(_ waiting: [String], limitPerHost: Int = 1) -> [String] {
        var queue = Queue(limit: 1, limitPerHost: limitPerHost)
        #expect(queue.admit("x", id: "x", host: "x") == .admitted)
        for name in waiting { admit(name, to: &queue) }
        var order: [String] = []
        while let next = queue.release(host: order.last?.first ?? "x") { order.append(next) }
        return order
    }

    private static func admit(_ name: String, to queue: inout Queue) {
        let priority: RequestPriority = name.contains("H") ? .high : name.contains("L") ? .low : .normal
        _ = queue.admit(name, id: name, host: name.first ?? "?", priority: priority)
    }

    @Test(arguments: [
        // Within one host.
        (["aL1", "a-2", "aH3"], ["aH3", "a-2", "aL1"]),
        (["aH1", "aH2", "aL3", "aL4", "a-5"], ["aH1", "aH2", "a-5", "aL3", "aL4"]),
        // Between hosts.
        (["aL1", "b-2", "cH3"], ["cH3", "b-2", "aL1"]),
        (["a-1", "a-2", "b-3", "bH4"], ["bH4", "a-1", "b-3", "a-2"]),
        // Elements of the same priority take turns as without priorities.
        (["aH1", "aH2", "bH3", "bH4", "aL5", "bL6"], ["aH1", "bH3", "aH2", "bH4", "aL5", "bL6"]),
        (["a-1", "a-2", "b-3", "c-4"], ["a-1", "b-3", "c-4", "a-2"]),
        ([], []),
    ])
    func higherPriorityStartsFirst(waiting: [String], starting: [String]) {
        #expect(Self.order(waiting) == starting)
    }

    @Test func highPriorityAtTheHostLimitDoesNotBlockOthers() {
        var queue = Queue(limit: 2, limitPerHost: 1)
        #expect(queue.admit("a1", id: "a1", host: "a") == .admitted)
        #expect(queue.admit("b1", id: "b1", host: "b") == .admitted)
        for name in ["aH2", "bL3"] { Self.admit(name, to: &queue) }
        #expect(queue.release(host: "b") == "bL3")
        #expect(queue.release(host: "a") == "aH2")
    }

    @Test func lowPriorityWaitsWhileOthersArrive() {
        var queue = Queue(limit: 1, limitPerHost: 1)
        #expect(queue.admit("x", id: "x", host: "x") == .admitted)
        Self.admit("aL", to: &queue)
        for number in 0..<100 {
            Self.admit("b-\(number)", to: &queue)
            #expect(queue.release(host: number == 0 ? "x" : "b") == "b-\(number)")
        }
        #expect(queue.release(host: "b") == "aL")
    }

    @Test func removedElementsAreSkippedAtEveryPriority() {
        var queue = Queue(limit: 1, limitPerHost: 1)
        #expect(queue.admit("x", id: "x", host: "x") == .admitted)
        for name in ["aH1", "a-2", "aL3", "aL4"] { Self.admit(name, to: &queue) }
        for name in ["aH1", "a-2", "aL3"] { #expect(queue.remove(name) == name) }
        #expect(queue.release(host: "x") == "aL4")
        #expect(queue.release(host: "a") == nil)
        #expect(queue.active == 0)
    }
}
#endif

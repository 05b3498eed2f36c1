#if os(Linux)
import Testing

@testable import SluiceEngine

@Suite struct TransferQueueTests {
    private typealias Queue = TransferQueue<String, String, String>

    /// Adds elements named by their host and a number, `a1`, and returns those that may start at once.
    private static func admit(_ names: [String], to queue: inout Queue) -> [String] {
        names.filter { queue.admit($0, id: $0, host: String($0.prefix(1))) == .admitted }
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
    func elementsStartUpToBothLimits(limit: Int, perHost: Int, arriving: [String], starting: [String]) {
        var queue = Queue(limit: limit, limitPerHost: perHost)
        #expect(Self.admit(arriving, to: &queue) == starting)
        #expect(queue.active == starting.count)
        #expect(Set(queue.waiting) == Set(arriving).subtracting(starting))
    }

    @Test func elementsOfOneHostStartInOrder() {
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

    @Test func hostAtItsLimitIsSkippedAndKeepsItsTurn() {
        var queue = Queue(limit: 2, limitPerHost: 1)
        #expect(Self.admit(["a1", "b1", "a2", "c1", "b2"], to: &queue) == ["a1", "b1"])
        #expect(queue.release(host: "b") == "c1")
        #expect(queue.release(host: "c") == "b2")
        #expect(queue.release(host: "a") == "a2")
    }

    @Test func newHostTakesASlotThatNoWaitingElementCanUse() {
        var queue = Queue(limit: 2, limitPerHost: 1)
        #expect(Self.admit(["a1", "a2", "b1", "b2"], to: &queue) == ["a1", "b1"])
        #expect(queue.release(host: "b") == "b2")
        #expect(queue.release(host: "b") == nil)
        #expect(Self.admit(["c1"], to: &queue) == ["c1"])
    }

    @Test func removedElementIsSkipped() {
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

    @Test func emptiedQueueAcceptsNewElements() {
        var queue = Queue(limit: 1, limitPerHost: 1)
        _ = Self.admit(["x1", "a1", "a2"], to: &queue)
        _ = queue.remove("a1")
        _ = queue.remove("a2")
        _ = Self.admit(["b1", "a3"], to: &queue)
        #expect(Set(Self.releasing(["x", "b"], of: &queue) + Self.releasing(["a"], of: &queue)) == ["a3", "b1", "-"])
    }

    /// The engine uses addresses as identities, which a later transfer may reuse.
    @Test func reusedIdentityIsAnotherElement() {
        var queue = Queue(limit: 2, limitPerHost: 1)
        #expect(Self.admit(["a1", "b1"], to: &queue) == ["a1", "b1"])
        #expect(queue.admit("a2", id: "address", host: "a") == .waiting)
        #expect(queue.remove("address") == "a2")
        #expect(queue.admit("b2", id: "address", host: "b") == .waiting)
        #expect(queue.release(host: "a") == nil)
        #expect(queue.release(host: "b") == "b2")
        #expect(queue.release(host: "b") == nil)
        #expect(Self.admit(["a3", "b3"], to: &queue) == ["a3", "b3"])
    }

    @Test func readmittedElementIsLast() {
        var queue = Queue(limit: 1, limitPerHost: 1)
        _ = Self.admit(["a1", "a2", "a3"], to: &queue)
        #expect(queue.remove("a2") == "a2")
        _ = Self.admit(["a2"], to: &queue)
        #expect(Self.releasing(["a", "a", "a"], of: &queue) == ["a3", "a2", "-"])
    }

    @Test(arguments: [(0, 0), (1, 1), (3, 3), (-1, 0)])
    func numberOfWaitingElementsIsLimited(maximum: Int, waiting: Int) {
        var queue = Queue(limit: 2, limitPerHost: 1, maximumWaiting: maximum)
        #expect(Self.admit(["a1"], to: &queue) == ["a1"])
        let answers = (2...6).map { queue.admit("a\($0)", id: "a\($0)", host: "a") }
        #expect(answers == (0..<5).map { $0 < waiting ? .waiting : .refused })
        // A long queue for one host does not turn away an element that may start at once.
        #expect(queue.admit("b1", id: "b1", host: "b") == .admitted)
        #expect(queue.waiting.count == waiting)
    }

    @Test func removalOrStartFreesAPlaceInTheQueue() {
        var queue = Queue(limit: 1, limitPerHost: 1, maximumWaiting: 2)
        _ = Self.admit(["a1", "a2", "b1"], to: &queue)
        #expect(queue.admit("c1", id: "c1", host: "c") == .refused)
        #expect(queue.remove("a2") == "a2")
        #expect(queue.admit("c2", id: "c2", host: "c") == .waiting)
        #expect(queue.admit("c3", id: "c3", host: "c") == .refused)
        #expect(queue.release(host: "a") == "b1")
        #expect(queue.admit("a3", id: "a3", host: "a") == .waiting)
        #expect(Self.releasing(["b", "c", "a"], of: &queue) == ["c2", "a3", "-"])
    }

    /// The first element never ends, so the queue does not advance. Elements that are removed leave no places behind.
    @Test(arguments: [1, 7, 1000])
    func placesOfRemovedElementsAreReleased(hosts: Int) {
        var queue = TransferQueue<Int, Int, Int>(limit: 1, limitPerHost: 1, maximumWaiting: 100)
        #expect(queue.admit(-1, id: -1, host: -1) == .admitted)
        #expect(queue.admit(-2, id: -2, host: 0) == .waiting)
        var most = 0
        for number in 0..<20_000 {
            _ = queue.admit(number, id: number, host: number % hosts)
            if number % 50 == 49 {
                most = max(most, queue.entryCount)
                for id in number - 49...number { _ = queue.remove(id) }
            }
        }
        #expect(most < 2 * (hosts + 100), "\(most) places are in use for one waiting element.")
        #expect(Array(queue.waiting) == [-2])
        #expect(queue.release(host: -1) == -2)
        #expect(queue.release(host: 0) == nil)
        #expect(queue.active == 0)
    }

    // MARK: Start queue

    private final class EmptyObject: Sendable {}

    @Test func loopIsAskedOnceUntilItBegins() {
        var queue = StartQueue<Int>(loops: 2)
        let asked = [0, 0, 1, 1].enumerated().map { queue.append($0.offset, on: $0.element) }
        #expect(asked == [true, false, true, false])
        let count = queue.begin(on: 1)
        #expect(count == 2)
        let askedAgain = [0, 1].map { queue.append(4, on: $0) }
        #expect(askedAgain == [false, true])
    }

    @Test func loopSendsItsOwnRequestsAndCallerAny() {
        var queue = StartQueue<Int>(loops: 2)
        for (number, loop) in [1, 0, 1, 0].enumerated() { _ = queue.append(number, on: loop) }
        let counts = [queue.begin(on: 0), queue.begin(on: 1)]
        #expect(counts == [2, 2])
        let sent = [queue.popFirst(), queue.popFirst(of: 1), queue.popFirst(of: 0), queue.popFirst(of: 0)]
        #expect(sent == [1, 0, 3, nil])
        let rest = [queue.popFirst(), queue.popFirst()]
        #expect(rest == [2, nil])
        let left = queue.begin(on: 0)
        #expect(left == 0)
    }

    // MARK: Array queue

    @Test func arrayQueueReleasesElementsWhenTheyAreRemoved() {
        var queue = ArrayQueue<EmptyObject>()
        weak var first: EmptyObject?
        do {
            let object = EmptyObject()
            first = object
            queue.append(object)
            queue.append(EmptyObject())
        }
        #expect(first != nil)
        _ = queue.popFirst()
        #expect(first == nil)
        #expect(queue.count == 1)
    }

    @Test(arguments: [(20, true), (100_000, false)])
    func arrayQueueKeepsLittleMemory(count: Int, keepsMemory: Bool) {
        var queue = ArrayQueue<Int>()
        for number in 0..<count { queue.append(number) }
        while queue.popFirst() != nil {}
        #expect(queue.isEmpty)
        #expect((queue.capacity > 0) == keepsMemory)
        #expect(queue.capacity <= ArrayQueue<Int>.keptCapacity)
    }

    @Test func arrayQueueKeepsTheOrderWhenItShrinks() {
        var queue = ArrayQueue<Int>()
        var (next, removed) = (0, [Int]())
        // It never becomes empty.
        for round in 1...300 {
            for _ in 0..<(round % 3 + 1) {
                queue.append(next)
                next += 1
            }
            while queue.count > 50, let element = queue.popFirst() { removed.append(element) }
        }
        #expect(removed == Array(0..<(next - 50)))
        queue.removeAll { $0 % 2 == 0 }
        #expect(queue.count == 25)
        var rest: [Int] = []
        while let element = queue.popFirst() { rest.append(element) }
        #expect(rest == ((next - 50)..<next).filter { $0 % 2 == 1 })
        #expect(queue.isEmpty)
    }
}
#endif

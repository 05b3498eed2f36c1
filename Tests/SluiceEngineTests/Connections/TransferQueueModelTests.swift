#if os(Linux)
import SluiceHTTP
import SluiceTesting
import Testing

@testable import SluiceEngine

/// Compares random arrivals, departures and releases with the simplest queue.
private struct TransferQueueModel {
    struct Element: Hashable {
        let number: Int
        let host: Int
        let id: Int
        var priority = RequestPriority.normal
    }

    let limit: Int
    let limitPerHost: Int
    var queue: TransferQueue<Int, Int, Element>
    var active: [Element] = []
    var waiting: [Element] = []
    var started: [Int] = []
    private var count = 0

    init(limit: Int, limitPerHost: Int) {
        self.limit = limit
        self.limitPerHost = limitPerHost
        queue = TransferQueue(limit: limit, limitPerHost: limitPerHost)
    }

    private func activeCount(_ host: Int) -> Int { active.count { $0.host == host } }

    private func mayStart(_ host: Int) -> Bool { active.count < limit && activeCount(host) < limitPerHost }

    /// The lowest unused identity, as an allocator would return it.
    private var freeID: Int {
        let used = Set((active + waiting).map(\.id))
        return (0...used.count).first { !used.contains($0) } ?? 0
    }

    mutating func arrive(at host: Int, _ priority: RequestPriority) {
        count += 1
        let element = Element(number: count, host: host, id: freeID, priority: priority)
        let mayStart = mayStart(host)
        #expect(
            queue.admit(element, id: element.id, host: host, priority: priority) == (mayStart ? .admitted : .waiting)
        )
        if mayStart { active.append(element) } else { waiting.append(element) }
    }

    mutating func leave(_ random: inout SeededGenerator) {
        guard let index = waiting.indices.randomElement(using: &random) else { return }
        let element = waiting.remove(at: index)
        #expect(queue.remove(element.id) == element)
    }

    mutating func release(_ random: inout SeededGenerator) {
        guard let index = active.indices.randomElement(using: &random) else { return }
        let released = active.remove(at: index)
        let next = queue.release(host: released.host)
        let startable = waiting.filter { mayStart($0.host) }
        guard let next else {
            #expect(startable.isEmpty, "\(startable) can start, but nothing was returned.")
            return
        }
        let highest = startable.filter { $0.priority == startable.map(\.priority).max() }
        #expect(
            highest.first { $0.host == next.host } == next,
            "The element is not its host's first of the highest priority."
        )
        waiting.removeAll { $0 == next }
        active.append(next)
        started.append(next.number)
    }

    func check() {
        #expect(queue.active == active.count)
        #expect(queue.waiting.count == waiting.count)
        #expect(Set(queue.waiting) == Set(waiting))
    }
}

@Suite struct TransferQueueModelTests {
    @Test(arguments: 0..<30 as Range<UInt64>)
    func randomOperationsEqualThoseOfASimpleQueue(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var model = TransferQueueModel(
            limit: Int.random(in: 1...8, using: &random),
            limitPerHost: Int.random(in: 1...4, using: &random)
        )
        let hosts = Int.random(in: 1...6, using: &random)
        for step in 0..<600 {
            // Arrivals come in waves, so that the queue fills and empties several times.
            let arrivals = step % 100 < 50 ? 6 : 2
            switch Int.random(in: 0..<10, using: &random) {
            case 0..<arrivals:
                // Some runs have no priorities, as in most programs.
                let priority = seed % 3 == 0 ? .normal : RequestPriority.allCases.randomElement(using: &random)
                model.arrive(at: Int.random(in: 0..<hosts, using: &random), priority ?? .normal)
            case arrivals..<arrivals + 2: model.leave(&random)
            default: model.release(&random)
            }
            model.check()
        }
        while !model.active.isEmpty {
            model.release(&random)
            model.check()
        }
        #expect(model.waiting.isEmpty)
    }

    /// If all elements wait for one slot, no host starts twice before each other host has started once.
    @Test(arguments: 0..<10 as Range<UInt64>)
    func hostsStartInRoundRobinOrder(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var queue = TransferQueue<Int, Int, Int>(limit: 1, limitPerHost: 1)
        #expect(queue.admit(-1, id: -1, host: -1) == .admitted)
        let arrivals = (0..<5).flatMap { Array(repeating: $0, count: 20) }.shuffled(using: &random)
        for (id, host) in arrivals.enumerated() { _ = queue.admit(host, id: id, host: host) }
        var order: [Int] = []
        while let next = queue.release(host: order.last ?? -1) { order.append(next) }
        #expect(order.count == 100)
        for round in 0..<20 { #expect(Set(order[round * 5..<round * 5 + 5]).count == 5) }
    }
}
#endif

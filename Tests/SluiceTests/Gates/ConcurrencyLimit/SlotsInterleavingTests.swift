import SluiceTesting
import Testing

@testable import Sluice

@Suite struct SlotsInterleavingTests {
    /// Runs a random interleaving of arrivals, cancellations and releases.
    @Test(arguments: 0..<40 as Range<UInt64>)
    func endsEveryRequestWithinLimits(_ seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let total = [nil, 1, 3, 8].randomElement(using: &random) ?? nil
        let each = [nil, 1, 2].randomElement(using: &random) ?? nil
        let maximumWaiting = Int.random(in: 0...6, using: &random)
        var slots = Slots<Int>(total: total, each: each, maximumWaiting: maximumWaiting)
        let hosts = ["a", "b", "c", "d"]
        var host: [Int: String] = [:]
        var running: Set<Int> = []
        var waiting: [String: [Int]] = [:]
        var ended: Set<Int> = []
        func runs(_ key: String) -> Int { running.count { host[$0] == key } }

        func release(_ id: Int) {
            let key = host[id] ?? ""
            running.remove(id)
            ended.insert(id)
            guard let next = slots.release(key) else { return }
            // The next request is the first of its host.
            #expect(waiting[host[next] ?? ""]?.first == next)
            waiting[host[next] ?? ""]?.removeFirst()
            running.insert(next)
        }

        for id in 1...400 {
            switch Int.random(in: 0..<4, using: &random) {
            case 0...1:
                let key = hosts.randomElement(using: &random) ?? ""
                host[id] = key
                switch slots.arrive(id, id: id, key) {
                case .admitted: running.insert(id)
                case .waiting: waiting[key, default: []].append(id)
                case .full(let count):
                    #expect(count == maximumWaiting)
                    ended.insert(id)
                }
            case 2:
                guard let id = running.sorted().randomElement(using: &random) else { continue }
                release(id)
            default:
                let key = hosts.randomElement(using: &random) ?? ""
                guard let id = waiting[key]?.randomElement(using: &random) else { continue }
                #expect(slots.leave(id: id, key) == id)
                waiting[key]?.removeAll { $0 == id }
                ended.insert(id)
            }
            #expect(slots.running == running.count)
            #expect(slots.waiting == waiting.values.reduce(0) { $0 + $1.count })
            #expect(running.count <= total ?? .max)
            for key in hosts {
                #expect(runs(key) <= each ?? .max)
                // No request waits for a free slot.
                let isStuck = running.count < total ?? .max && runs(key) < each ?? .max
                if isStuck { #expect(waiting[key, default: []].isEmpty) }
            }
        }
        while let id = running.min() { release(id) }
        #expect(ended == Set(host.keys))
        #expect(slots.waiting == 0)
        #expect(slots.groupCount == 0)
        #expect(slots.turnCount == 0)
    }
}

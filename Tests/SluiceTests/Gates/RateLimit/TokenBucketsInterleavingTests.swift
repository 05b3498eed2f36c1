import SluiceTesting
import Testing

@testable import Sluice

@Suite struct TokenBucketsInterleavingTests {
    /// The same bucket, counted in milliseconds.
    private struct Model {
        var level: Int
        var time = 0
        var pausedUntil: Int?
        /// The time before which the bucket is not full, because of pauses.
        var earliestFull: Int?
        var waiting: [Int] = []

        mutating func advance(to now: Int, _ interval: Int, _ burst: Int) {
            level = min(level + now - time, interval * burst)
            if let earliestFull { level = min(level, interval * burst + now - earliestFull) }
            time = now
        }
    }

    @Test(arguments: 0..<40 as Range<UInt64>)
    func endsEveryRequestWithinRate(_ seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let start = ContinuousClock.now
        let interval = [1, 10, 37].randomElement(using: &random) ?? 1
        let burst = Int.random(in: 1...4, using: &random)
        let rate = TokenBucket.Rate(1, every: .milliseconds(interval), burst: burst)
        var buckets = TokenBuckets<Int>(rate: rate, maximumWaiting: 20, maximumWait: nil)
        var models = ["a", "b", "c"].reduce(into: [:]) { $0[$1] = Model(level: interval * burst) }
        var key: [Int: String] = [:]
        var admitted: Set<Int> = []
        var ended: Set<Int> = []
        var now = 0
        var flaws: [String] = []

        func admit(_ id: Int, fromQueue: Bool) {
            let name = key[id] ?? ""
            var model = models[name] ?? Model(level: 0)
            model.advance(to: now, interval, burst)
            model.level -= interval
            if model.level < 0 { flaws.append("\(id) got a token before it was due") }
            if now < model.pausedUntil ?? 0 { flaws.append("\(id) was admitted while closed") }
            if fromQueue, model.waiting.first != id { flaws.append("\(id) was not the first") }
            if fromQueue {
                model.waiting.removeFirst()
            } else if !model.waiting.isEmpty {
                flaws.append("\(id) overtook waiting requests")
            }
            models[name] = model
            if !admitted.insert(id).inserted { flaws.append("\(id) was admitted twice") }
        }

        func release() {
            for id in buckets.release(now: start + .milliseconds(now)) { admit(id, fromQueue: true) }
            for (name, var model) in models where !model.waiting.isEmpty {
                model.advance(to: now, interval, burst)
                if now >= model.pausedUntil ?? 0, model.level >= interval {
                    flaws.append("\(name) waits although a token is available")
                }
            }
            if (buckets.nextDueTime() == nil) != models.values.allSatisfy(\.waiting.isEmpty) {
                flaws.append("no due time, although requests wait")
            }
        }

        for id in 1...600 {
            let name = ["a", "b", "c"].randomElement(using: &random) ?? ""
            let instant = start + .milliseconds(now)
            switch Int.random(in: 0..<8, using: &random) {
            case 0...2:
                key[id] = name
                let left = Bool.random(using: &random) ? Int.random(in: 0..<300, using: &random) : nil
                let deadline = left.map { instant + .milliseconds($0) }
                switch buckets.arrive(id, id: id, name, deadline: deadline, now: instant) {
                case .admitted: admit(id, fromQueue: false)
                case .waiting: models[name]?.waiting.append(id)
                case .full, .tooLong, .tooLate: ended.insert(id)
                }
            case 3:
                guard let leaving = models[name]?.waiting.randomElement(using: &random) else { continue }
                if buckets.leave(id: leaving, name) != leaving { flaws.append("\(leaving) could not leave") }
                models[name]?.waiting.removeAll { $0 == leaving }
                ended.insert(leaving)
            case 4:
                guard let back = admitted.subtracting(ended).filter({ key[$0] == name }).min() else { continue }
                ended.insert(back)
                guard Bool.random(using: &random) else { continue }
                models[name]?.advance(to: now, interval, burst)
                models[name]?.level += interval
                for id in buckets.putBack(name, taken: instant, now: instant) { admit(id, fromQueue: true) }
            case 5:
                guard Int.random(in: 0..<10, using: &random) == 0 else { continue }
                let until = now + Int.random(in: 0..<200, using: &random)
                models[name]?.advance(to: now, interval, burst)
                if until > now, var model = models[name] {
                    let end = max(until, model.pausedUntil ?? 0)
                    model.pausedUntil = end
                    model.earliestFull = max(model.earliestFull ?? 0, end + min(interval * (burst - 1), end - now))
                    models[name] = model
                }
                for (id, _) in buckets.pause(name, until: start + .milliseconds(until), now: instant) {
                    models[name]?.waiting.removeAll { $0 == id }
                    ended.insert(id)
                }
            default:
                now += Int.random(in: 0..<2 * interval, using: &random)
                release()
            }
        }
        while let due = buckets.nextDueTime() {
            now = max(now, Int(((due - start) / .milliseconds(1)).rounded(.up)))
            release()
        }
        #expect(flaws.isEmpty)
        #expect(admitted.union(ended) == Set(key.keys))
        #expect(buckets.waiting == 0)
    }
}

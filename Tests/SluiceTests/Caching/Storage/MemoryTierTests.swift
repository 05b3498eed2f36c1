import Foundation
import SluiceTesting
import Testing

@testable import Sluice
@testable import SluiceCache

@Suite struct MemoryTierTests {
    private func entry(_ name: String, bytes: Int = 0, variant: String = "", stored: Double = 0) -> CacheEntry {
        CacheEntry(
            key: CacheKey(name, in: .responses),
            variant: variant,
            body: Data(count: bytes),
            stored: Date(timeIntervalSinceReferenceDate: stored)
        )
    }

    private func recall(_ tier: inout MemoryTier, _ name: String, at now: Double = 0) -> [CacheEntry] {
        var touches: [MemoryTier.Touch] = []
        return tier.entries(for: .of(name), at: now, touches: &touches)
    }

    @Test func leastRecentlyUsedEntryIsEvictedFirst() {
        var tier = MemoryTier(limits: CacheLimits(count: 3))
        for name in ["a", "b", "c"] { tier.insert(entry(name), isStored: false, at: 0) }
        #expect(recall(&tier, "a").count == 1)
        tier.insert(entry("d"), isStored: false, at: 0)
        #expect(recall(&tier, "b").isEmpty)
        #expect(["a", "c", "d"].allSatisfy { recall(&tier, $0).count == 1 })
        #expect(tier.size.count == 3)
    }

    @Test func evictsOnlyAsMuchAsTheNewEntryNeeds() {
        let one = entry("0").bytesInMemory
        var tier = MemoryTier(limits: CacheLimits(bytes: one * 4))
        for name in 0..<4 { tier.insert(entry("\(name)"), isStored: false, at: 0) }
        #expect(tier.size == CacheSize(bytes: one * 4, count: 4))
        tier.insert(entry("4", bytes: one), isStored: false, at: 0)
        #expect((0..<5).map { recall(&tier, "\($0)").count } == [0, 0, 1, 1, 1])
        #expect(tier.size == CacheSize(bytes: one * 4, count: 3))
    }

    @Test(arguments: [
        CacheLimits(bytes: 100), CacheLimits(bytes: 0), CacheLimits(count: 0), CacheLimits(entryBytes: 1),
        CacheLimits(bytes: -1), CacheLimits(bytes: .min, count: .min, entryBytes: .min),
    ])
    func entryOverTheLimitsIsNotInserted(limits: CacheLimits) {
        var tier = MemoryTier(limits: limits)
        let isKept = tier.insert(entry("a", bytes: 1000), isStored: false, at: 0)
        #expect(!isKept)
        #expect(tier.size == CacheSize())
        #expect(recall(&tier, "a").isEmpty)
    }

    @Test func entryOverTheLimitsRemovesTheOneItReplaces() {
        var tier = MemoryTier(limits: CacheLimits(entryBytes: 1000))
        tier.insert(entry("a", bytes: 10), isStored: false, at: 0)
        let isKept = tier.insert(entry("a", bytes: 2000), isStored: false, at: 0)
        #expect(!isKept)
        #expect(recall(&tier, "a").isEmpty)
    }

    @Test func variantsAreReturnedNewestFirst() {
        var tier = MemoryTier(limits: CacheLimits())
        for stored in [3.0, 1, 4, 2] {
            tier.insert(entry("a", variant: "\(stored)", stored: stored), isStored: false, at: 9)
        }
        #expect(recall(&tier, "a", at: 9).map(\.variant) == ["4.0", "3.0", "2.0", "1.0"])
        var touches: [MemoryTier.Touch] = []
        #expect(tier.onlyEntry(for: .of("a"), at: 9, touches: &touches) == nil)
    }

    @Test func accessIsReportedToStorageOncePerMinute() {
        var tier = MemoryTier(limits: CacheLimits())
        tier.insert(entry("a", stored: 100), isStored: true, at: 100)
        tier.insert(entry("b", stored: 100), isStored: false, at: 100)
        var noted: [Double] = []
        for now in stride(from: 100.0, through: 300, by: 10) {
            var touches: [MemoryTier.Touch] = []
            _ = tier.onlyEntry(for: .of("a"), at: now, touches: &touches)
            _ = tier.onlyEntry(for: .of("b"), at: now, touches: &touches)
            noted += touches.map(\.accessed.timeIntervalSinceReferenceDate)
        }
        #expect(noted == [160, 220, 280])
    }

    /// A simple model of the memory tier.
    private struct Model {
        let limits: CacheLimits
        /// The entries, the least recently used first.
        var entries: [(entry: CacheEntry, isStored: Bool)] = []

        var bytes: Int { entries.reduce(0) { $0 + $1.entry.bytesInMemory } }

        mutating func insert(_ entry: CacheEntry, isStored: Bool) {
            entries.removeAll { $0.entry.key == entry.key && $0.entry.variant == entry.variant }
            guard limits.admits(bytes: entry.bytesInMemory) else { return }
            entries.append((entry, isStored))
            while bytes > limits.bytes ?? .max || entries.count > limits.count ?? .max { entries.removeFirst() }
        }

        mutating func recall(_ key: CacheKey, at now: Double) -> Set<ObjectIdentifier> {
            let found = entries.filter { $0.entry.key == key }
            entries.removeAll { $0.entry.key == key }
            let live = found.filter { $0.entry.expires.map { $0.timeIntervalSinceReferenceDate > now } ?? true }
            entries += live.sorted { $0.entry.stored > $1.entry.stored }
            return Set(live.map { ObjectIdentifier($0.entry) })
        }
    }

    @Test(arguments: 1...8)
    func randomOperationsMatchAModel(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        let limits = CacheLimits(bytes: 20_000, count: seed % 2 == 0 ? 25 : nil, entryBytes: 2000)
        var tier = MemoryTier(limits: limits)
        var model = Model(limits: limits)
        for step in 0..<4000 {
            let now = Double(step)
            let name = "\(Int.random(in: 0..<20, using: &generator))"
            let isStored = Bool.random(using: &generator)
            switch Int.random(in: 0..<20, using: &generator) {
            case 0..<9:
                let new = CacheEntry(
                    of: name,
                    String(repeating: "x", count: Int.random(in: 0..<2200, using: &generator)),
                    variant: Int.random(in: 0..<3, using: &generator) == 0 ? "v" : "",
                    stored: Date(timeIntervalSinceReferenceDate: now),
                    expires: Bool.random(using: &generator)
                        ? Date(timeIntervalSinceReferenceDate: now + .random(in: 1..<200, using: &generator)) : nil,
                    tags: ["\(step % 7)"]
                )
                tier.insert(new, isStored: isStored, at: now)
                model.insert(new, isStored: isStored)
            case 9..<17:
                let found = Set(recall(&tier, name, at: now).map { ObjectIdentifier($0) })
                let expected = model.recall(.of(name), at: now)
                #expect(found == expected)
            case 17:
                var selection = CacheSelection(.of(name))
                if step % 3 == 0 { selection.name = nil }
                selection.tag = step % 2 == 0 ? "\(step % 7)" : nil
                selection.variant = step % 5 == 0 ? "v" : nil
                tier.remove(selection)
                model.entries.removeAll { selection.contains($0.entry) }
            case 18 where step % 10 == 0:
                // Marked entries are in storage. The others are still to be written.
                var sweep = tier.beginSweep()
                let stored = Set(model.entries.filter(\.isStored).map { ObjectIdentifier($0.entry) })
                while tier.continueSweep(
                    &sweep,
                    { $0.isPersistent($1) && $0.entries[$1].map { stored.contains(ObjectIdentifier($0)) } == true }
                ) {}
                model.entries.removeAll { $0.isStored }
            default:
                guard let (some, _) = model.entries.randomElement(using: &generator) else { continue }
                tier.markStored(some)
                for index in model.entries.indices where model.entries[index].entry === some {
                    model.entries[index].isStored = true
                }
            }
            guard tier.size == CacheSize(bytes: model.bytes, count: model.entries.count) else {
                Issue.record(
                    "At step \(step) the size is \(tier.size) instead of \(model.bytes), \(model.entries.count)."
                )
                return
            }
        }
    }

    @Test(arguments: 1...6)
    func sweepRemovesInStepsWhatWasThereWhenItBegan(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var tier = MemoryTier(limits: CacheLimits(count: seed.isMultiple(of: 2) ? 900 : nil))
        var model: [String: (entry: CacheEntry, isOld: Bool)] = [:]
        func insert(_ isOld: Bool) {
            let name = "\(Int.random(in: 0..<1500, using: &random))"
            let tags: Set<String> = Bool.random(using: &random) ? ["t"] : ["u"]
            let entry = CacheEntry(of: name, variant: Bool.random(using: &random) ? "v" : "", tags: tags)
            tier.insert(entry, isStored: false, at: 0)
            model[name + entry.variant] = (entry, isOld)
        }
        for _ in 0..<3000 { insert(true) }
        var selection = CacheSelection()
        selection.tag = "t"
        guard var sweep = tier.beginRemoval(selection) else { return }
        var (isMore, last, steps) = (true, 0, 0)
        while isMore {
            isMore = tier.continueSweep(&sweep) { $0.isSelected($1, by: selection) }
            #expect(sweep.next - last <= MemoryTier.sweepStep && sweep.removed.count <= sweep.next - last)
            #expect(sweep.removed.allSatisfy { $0.tags == ["t"] })
            (last, steps) = (sweep.next, steps + 1)
            // In between, the owner uses the tier.
            for _ in 0..<50 { insert(false) }
            if let name = model.keys.randomElement(using: &random), let entry = model[name]?.entry {
                tier.remove(CacheSelection(entry.key, variant: entry.variant))
                model[name] = nil
            }
        }
        #expect(steps > 2)
        var found = 0
        for (entry, isOld) in model.values {
            let isThere = recall(&tier, entry.key.name, at: 0).contains { $0 === entry }
            if isOld, entry.tags == ["t"] { #expect(!isThere) }
            if seed.isMultiple(of: 2) == false { #expect(isThere == !(isOld && entry.tags == ["t"])) }
            found += isThere ? 1 : 0
        }
        #expect(found == tier.size.count)
    }
}

import Foundation
import SluiceTesting
import Testing

@testable import Sluice
@testable import SluiceCache

/// A read during pending changes gives the result of all changes together, in every order of events.
@Suite struct PendingChangesTests {
    private struct Read {
        let key: CacheKey
        let begun: Int
        var snapshot: [CacheEntry]?
    }

    private static let names = ["a", "b", "c"]

    /// The content of a storage, and the content it would have if every change were made at once and never failed.
    private struct Simulation {
        var pending = PendingChanges()
        var storage = ScriptedStorage.State()
        var truth = ScriptedStorage.State()
        var batch: [PendingChanges.Item]?
        var reads: [Read] = []
        var mayLose = false
        var step = 0

        mutating func store(_ name: String, variant: String, tag: String) {
            let entry = CacheEntry(of: name, "\(step)", variant: variant, tags: [tag])
            _ = pending.store(entry, bytes: 10)
            truth.make(.store(entry))
        }

        mutating func remove(_ selection: CacheSelection) {
            _ = pending.remove(selection)
            truth.make(.remove(selection))
        }

        /// Makes the changes of a batch in storage, some of which may fail.
        mutating func finish(failing fails: (PendingChanges.Item) -> Bool) {
            guard let items = batch else { return }
            batch = nil
            var failed: Set<Int> = []
            for item in items {
                guard case .change(let change) = item.write else { continue }
                if fails(item) {
                    failed.insert(item.number)
                    if case .store(let entry) = change { truth.entries.removeAll { $0 === entry } }
                    // A removal that is repeated later may also remove newer entries.
                    if case .remove(let selection) = change, selection.variant == nil { mayLose = true }
                } else {
                    storage.make(change)
                }
            }
            _ = pending.settle(items, failed: failed)
        }

        mutating func endRead(_ index: Int) {
            let read = reads.remove(at: index)
            let snapshot = read.snapshot ?? storage.entries.filter { $0.key == read.key }
            let found = Set(pending.correct(snapshot, of: read.key, since: read.begun).map { ObjectIdentifier($0) })
            let expected = Set(truth.entries.filter { $0.key == read.key }.map { ObjectIdentifier($0) })
            pending.endRead(read.begun)
            let isRight = mayLose ? found.isSubset(of: expected) : found == expected
            if !isRight { Issue.record("At step \(step) a read of \(read.key.name) returned unexpected entries.") }
        }
    }

    @Test(arguments: 1...40)
    func readsReturnTheResultOfAllChanges(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        var simulation = Simulation()
        let failureChance = seed % 2 == 0 ? 0 : 6
        for step in 0..<1500 {
            simulation.step = step
            let name = Self.names[Int.random(in: 0..<Self.names.count, using: &generator)]
            let variant = Bool.random(using: &generator) ? "v" : ""
            let tag = "\(Int.random(in: 0..<3, using: &generator))"
            switch Int.random(in: 0..<16, using: &generator) {
            case 0..<4: simulation.store(name, variant: variant, tag: tag)
            case 4: simulation.remove(CacheSelection(.of(name)))
            case 5: simulation.remove(CacheSelection(.of(name), variant: variant))
            case 6:
                var selection = CacheSelection()
                selection.tag = tag
                simulation.remove(selection)
            case 7..<9:
                if simulation.batch == nil {
                    simulation.batch = simulation.pending.take(
                        count: 3,
                        bytes: 1000,
                        retries: Bool.random(using: &generator)
                    )
                }
            case 9..<11:
                var draws = generator
                simulation.finish { item in
                    if seed % 4 == 1, case .change(.remove) = item.write { return false }
                    return failureChance > 0 && Int.random(in: 0..<failureChance, using: &draws) == 0
                }
                generator = draws
            case 11..<13:
                if simulation.reads.count < 5 {
                    simulation.reads.append(Read(key: .of(name), begun: simulation.pending.beginRead()))
                }
            case 13:
                guard let index = simulation.reads.indices.randomElement(using: &generator) else { continue }
                let key = simulation.reads[index].key
                if simulation.reads[index].snapshot == nil {
                    simulation.reads[index].snapshot = simulation.storage.entries.filter { $0.key == key }
                }
            default:
                if let index = simulation.reads.indices.randomElement(using: &generator) { simulation.endRead(index) }
            }
        }
        // In the end all changes are in storage, and none is pending.
        while !simulation.reads.isEmpty { simulation.endRead(0) }
        simulation.finish { _ in false }
        while let batch = simulation.pending.take(count: 3, bytes: 1000, retries: true) {
            simulation.batch = batch
            simulation.finish { _ in false }
        }
        let (kept, expected) = (simulation.storage.entries, simulation.truth.entries)
        #expect(
            simulation.mayLose || Set(kept.map { ObjectIdentifier($0) }) == Set(expected.map { ObjectIdentifier($0) })
        )
        #expect(kept.allSatisfy { entry in expected.contains { $0 === entry } })
        #expect(simulation.pending.isEmpty)
        #expect(simulation.pending.bytes == 0)
        #expect(simulation.pending.superseded.isEmpty)
        #expect(simulation.pending.removals == 0)
        #expect(simulation.pending.settled.isEmpty)
    }

    @Test func failedRemovalsAreMergedAtTheirLimit() {
        var pending = PendingChanges()
        for round in 0..<3 {
            for number in 0..<10_000 { _ = pending.remove(CacheSelection(.of("\(round) \(number)"))) }
            while let batch = pending.take(count: 1024, bytes: .max, retries: false) {
                _ = pending.settle(batch, failed: Set(batch.map(\.number)))
            }
            #expect(pending.failedRemovals.count <= PendingChanges.failedRemovalLimit)
        }
        // The removals have been merged to one of all entries.
        #expect(pending.correct([CacheEntry(of: "0 1")], of: .of("0 1"), since: pending.beginRead()).isEmpty)
        #expect(pending.keyed.count <= PendingChanges.failedRemovalLimit)
        let batch = pending.take(count: 1024, bytes: .max, retries: true)
        #expect(batch.map { $0.count <= PendingChanges.failedRemovalLimit } == true)
    }

    @Test(arguments: [(100_000, 10), (3000, 100_000)])
    func changesThatALongReadNeedsAreBounded(count: Int, bytes: Int) {
        var pending = PendingChanges()
        let old = CacheEntry(of: "0", "old")
        let begun = pending.beginRead()
        for number in 0..<count {
            _ = pending.store(CacheEntry(of: "\(number % 20_000)", "\(number)"), bytes: bytes)
            if let batch = pending.take(count: 1, bytes: .max, retries: false) { _ = pending.settle(batch, failed: []) }
            #expect(pending.settled.count <= PendingChanges.settledLimit.count)
            #expect(pending.settledBytes <= PendingChanges.settledLimit.bytes)
            #expect(pending.keyed.count <= PendingChanges.settledLimit.count)
        }
        // The result of the read may be older than all changes, so it is dropped.
        #expect(pending.correct([old], of: .of("0"), since: begun).allSatisfy { $0 !== old })
        let later = pending.beginRead()
        #expect(pending.correct([old], of: .of("0"), since: later).contains { $0 === old })
        pending.endRead(begun)
        pending.endRead(later)
        #expect(pending.settled.isEmpty && pending.settledBytes == 0 && pending.isEmpty)
    }

    @Test func accessesDoNotFillTheQueue() throws {
        var pending = PendingChanges()
        let entry = CacheEntry(of: "a")
        let lifetime = CacheEntry.Lifetime(of: entry)
        let touch = try #require(MemoryTier.Touch(entry, lifetime, last: -1000, at: 0))
        for _ in 0..<PendingChanges.touchLimit + 1000 { pending.touch(touch) }
        #expect(pending.queue.count == PendingChanges.touchLimit)
        _ = pending.store(entry, bytes: 10)
        #expect(pending.queue.count == PendingChanges.touchLimit + 1, "Only accesses are dropped.")
    }

    @Test func onlyTheLastValueOfAKeyIsWritten() {
        var pending = PendingChanges()
        for number in 0..<5 { _ = pending.store(CacheEntry(of: "a", "\(number)"), bytes: 10) }
        #expect(pending.bytes == 50)
        let batch = pending.take(count: 100, bytes: 100, retries: false)
        #expect(batch?.count == 1)
        #expect(pending.bytes == 10)
    }
}

import Foundation
import SluiceHTTP
import SluiceTesting
import XCTest

@testable import Sluice
@testable import SluiceCache

final class WriteBehindTests: XCTestCase {
    private let storage = ScriptedStorage()
    private let events = Shared<[CacheEvent]>([])

    private func makeStore(
        memory: CacheLimits = CacheLimits(),
        _ configure: (inout CacheStore.Configuration) -> Void = { _ in }
    ) -> CacheStore {
        var configuration = CacheStore.Configuration()
        configuration.memory = memory
        configuration.clock = TestClock()
        configuration.onEvent = { [events] event in events.change { $0.append(event) } }
        configure(&configuration)
        return CacheStore(storage: storage, configuration: configuration)
    }

    func testHitsDoNotWaitForWrites() async {
        let store = makeStore()
        let gate = AsyncSignal()
        storage.hold(writes: gate)
        store.insert(CacheEntry(of: "a", "1"))
        await eventually { [storage] in storage.state.read.writes == 1 }
        store.insert(CacheEntry(of: "b", "2"))
        XCTAssertEqual(store.entriesInMemory(for: .of("a")).map(\.text), ["1"])
        XCTAssertEqual(store.onlyEntryInMemory(for: .of("b"))?.text, "2")
        let found = await store.entries(for: .of("b"))
        XCTAssertEqual(found.map(\.text), ["2"])
        gate.open()
        await store.flush()
        XCTAssertEqual(storage.names, ["a", "b"])
    }

    func testChangesReplacedByARemovalOfEverythingHaveItsOutcome() async {
        for fails in [false, true] {
            storage.state.change { $0 = ScriptedStorage.State() }
            let store = makeStore()
            let gate = AsyncSignal()
            storage.hold(writes: gate)
            store.insert(CacheEntry(of: "first"))
            await eventually { [storage] in storage.state.read.writes == 1 }
            storage.state.change { state in
                state.breaks = { change in
                    if case .remove(let selection) = change { fails && selection.key == nil } else { false }
                }
            }
            let stored = store.insert(CacheEntry(of: "a"), isAwaited: true)
            let removed = store.remove(CacheSelection(.of("c")), isAwaited: true)
            for number in 0...PendingChanges.removalLimit { store.remove(CacheSelection(.of("\(number)"))) }
            let next = store.insert(CacheEntry(of: "b"), isAwaited: true)
            gate.open()
            let outcome = await store.failure(of: stored ?? 0)
            XCTAssertEqual(outcome?.code, .cacheFailed)
            let removal = await store.failure(of: removed ?? 0)
            XCTAssertEqual(removal?.code, fails ? .cacheFailed : nil)
            let none = await store.failure(of: next ?? 0)
            // The removal of everything is repeated.
            XCTAssertEqual(none?.code, fails ? .cacheFailed : nil)
            XCTAssertEqual(storage.names.last, fails ? "first" : "b")
            XCTAssertTrue(storage.names.contains("b"))
        }
    }

    func testEntriesStoredDuringAWriteAreBatched() async {
        let store = makeStore()
        let gate = AsyncSignal()
        storage.hold(writes: gate)
        store.insert(CacheEntry(of: "first"))
        await eventually { [storage] in storage.state.read.writes == 1 }
        for number in 0..<100 { store.insert(CacheEntry(of: "\(number)")) }
        gate.open()
        await store.flush()
        XCTAssertEqual(storage.state.read.batches.map(\.count), [1, 100])
    }

    func testEvictedEntriesAreReadWhilePending() async {
        let store = makeStore(memory: CacheLimits(count: 1))
        let gate = AsyncSignal()
        storage.hold(writes: gate)
        for name in ["a", "b", "c"] { store.insert(CacheEntry(of: name, name)) }
        XCTAssertEqual(store.entriesInMemory(for: .of("a")).map(\.text), ["a"])
        XCTAssertEqual(store.onlyEntryInMemory(for: .of("b"))?.text, "b")
        let found = await store.entries(for: .of("a"))
        XCTAssertEqual(found.map(\.text), ["a"])
        gate.open()
        await store.flush()
    }

    func testRemovedEntriesAreNotReadFromStorage() async {
        let store = makeStore(memory: CacheLimits(count: 0))
        store.insert(CacheEntry(of: "a", tags: ["t"]))
        store.insert(CacheEntry(of: "b"))
        await store.flush()
        let gate = AsyncSignal()
        storage.hold(writes: gate)
        var tagged = CacheSelection()
        tagged.tag = "t"
        store.remove(tagged)
        store.remove(CacheSelection(.of("b")))
        for name in ["a", "b"] {
            let found = await store.entries(for: .of(name))
            XCTAssertTrue(found.isEmpty)
        }
        XCTAssertEqual(storage.names, ["a", "b"])
        gate.open()
        await store.flush()
        XCTAssertEqual(storage.names, [])
    }

    func testRemovalDuringAReadIsNotUndone() async {
        let store = makeStore()
        storage.state.change { $0.entries = [CacheEntry(of: "a", "old", tags: ["t"])] }
        let gate = AsyncSignal()
        storage.hold(reads: gate)
        let reading = Task { await store.entries(for: .of("a")) }
        await eventually { [storage] in storage.state.read.reads == 1 }
        var tagged = CacheSelection()
        tagged.tag = "t"
        store.remove(tagged)
        await store.flush()
        gate.open()
        let found = await reading.value
        XCTAssertTrue(found.isEmpty)
        XCTAssertTrue(store.entriesInMemory(for: .of("a")).isEmpty)
    }

    func testReadReturnsAnEntryStoredMeanwhile() async {
        for memory in [CacheLimits(), CacheLimits(count: 0)] {
            let store = makeStore(memory: memory)
            storage.state.change { $0 = ScriptedStorage.State(entries: [CacheEntry(of: "a", "old")]) }
            let gate = AsyncSignal()
            storage.hold(reads: gate)
            let reading = Task { await store.entries(for: .of("a")) }
            await eventually { [storage] in storage.state.read.reads == 1 }
            store.insert(CacheEntry(of: "a", "new"))
            await store.flush()
            gate.open()
            let found = await reading.value
            XCTAssertEqual(found.map(\.text), ["new"])
            storage.hold()
            let again = await store.entries(for: .of("a"))
            XCTAssertEqual(again.map(\.text), ["new"])
        }
    }

    func testMemoryServesEntriesIfStorageFails() async {
        let store = makeStore()
        storage.fail { _ in true }
        storage.state.change { $0.isReadBroken = true }
        for number in 0..<50 { store.insert(CacheEntry(of: "\(number)", "\(number)")) }
        await store.flush()
        for number in 0..<50 {
            let found = await store.entries(for: .of("\(number)"))
            XCTAssertEqual(found.map(\.text), ["\(number)"])
        }
        XCTAssertTrue(
            events.read.contains { if case .writeFailed(let error) = $0 { error.code == .cacheFailed } else { false } }
        )
        XCTAssertTrue(events.read.contains { if case .readFailed = $0 { true } else { false } })
    }

    func testFailedEntryDoesNotPreventOtherWrites() async {
        let store = makeStore()
        let gate = AsyncSignal()
        storage.hold(writes: gate)
        storage.fail { if case .store(let entry) = $0 { entry.key.name == "bad" } else { false } }
        for name in ["a", "bad", "b", "c"] { store.insert(CacheEntry(of: name)) }
        gate.open()
        await store.flush()
        XCTAssertEqual(storage.names, ["a", "b", "c"])
        XCTAssertEqual(store.entriesInMemory(for: .of("bad")).count, 1)
    }

    func testOldEntryIsNotReadAfterAFailedReplacement() async {
        let store = makeStore(memory: CacheLimits(count: 1))
        store.insert(CacheEntry(of: "a", "old"))
        await store.flush()
        storage.fail { _ in true }
        store.insert(CacheEntry(of: "a", "new"))
        await store.flush()
        store.insert(CacheEntry(of: "b"))
        await store.flush()
        let found = await store.entries(for: .of("a"))
        XCTAssertTrue(found.isEmpty)
        storage.fail(nil)
        await store.flush()
        XCTAssertEqual(storage.names, [])
    }

    func testFailedRemovalIsRetried() async {
        let clock = TestClock()
        let store = makeStore(memory: CacheLimits(count: 0)) { $0.clock = clock }
        store.insert(CacheEntry(of: "a"))
        await store.flush()
        storage.fail { if case .remove = $0 { true } else { false } }
        store.remove(CacheSelection())
        await store.flush()
        XCTAssertEqual(storage.names, ["a"])
        let found = await store.entries(for: .of("a"))
        XCTAssertTrue(found.isEmpty)
        storage.fail(nil)
        await clock.waitForSleepers(1)
        clock.advance(by: .seconds(2))
        await eventually { [storage] in storage.names.isEmpty }
    }

    func testValueStoredAfterAFailedRemovalOfItsNameIsKept() async {
        let store = makeStore(memory: CacheLimits(count: 0))
        let value = CacheEntry(of: "a", "new", in: .values)
        storage.fail { if case .remove = $0 { true } else { false } }
        store.remove(CacheSelection(value.key))
        await store.flush()
        let number = store.insert(value, isAwaited: true)
        let failure = await store.failure(of: number ?? 0)
        XCTAssertNil(failure)
        storage.fail(nil)
        await store.flush()
        XCTAssertEqual(storage.names, ["a"])
        let found = await store.entries(for: value.key)
        XCTAssertEqual(found.map(\.text), ["new"])
    }

    func testStoringAnEntryThatARepeatedRemovalWillRemoveFails() async {
        let store = makeStore()
        var tagged = CacheSelection()
        tagged.tag = "t"
        storage.fail { if case .remove = $0 { true } else { false } }
        store.remove(tagged)
        store.remove(CacheSelection(.of("a")))
        await store.flush()
        let entries = [
            CacheEntry(of: "a", variant: "v"), CacheEntry(of: "b"), CacheEntry(of: "c", in: .values, tags: ["t"]),
        ]
        var codes: [SluiceError.Code?] = []
        for entry in entries {
            let number = store.insert(entry, isAwaited: true)
            codes.append(await store.failure(of: number ?? 0)?.code)
        }
        XCTAssertEqual(codes, [.cacheFailed, nil, .cacheFailed])
        storage.fail(nil)
        await store.flush()
        XCTAssertEqual(storage.names, ["b"])
        let number = store.insert(entries[0], isAwaited: true)
        let failure = await store.failure(of: number ?? 0)
        XCTAssertNil(failure)
    }

    func testEntriesOverThePendingLimitStayInMemory() async {
        let store = makeStore { $0.pendingBytes = 10_000 }
        let gate = AsyncSignal()
        storage.hold(writes: gate)
        let text = String(repeating: "x", count: 3000)
        for number in 0..<10 { store.insert(CacheEntry(of: "\(number)", text)) }
        gate.open()
        await store.flush()
        XCTAssertEqual(storage.names, ["0", "1", "2", "3"])
        XCTAssertEqual(store.entriesInMemory(for: .of("9")).count, 1)
        let dropped = events.read.compactMap { if case .writesDropped(let count, _) = $0 { count } else { nil } }
        XCTAssertEqual(dropped.reduce(0, +), 6)
    }

    func testForeignChangesInvalidateMemory() async {
        let clock = TestClock()
        let store = makeStore { $0.clock = clock }
        store.insert(CacheEntry(of: "a", "mine"))
        await store.flush()
        storage.state.change { state in
            state.entries = [CacheEntry(of: "a", "theirs")]
            state.isChangedByOthers = true
        }
        clock.advance(by: .seconds(2))
        _ = store.entriesInMemory(for: .of("a"))
        await eventually { store.entriesInMemory(for: .of("a")).isEmpty }
        let found = await store.entries(for: .of("a"))
        XCTAssertEqual(found.map(\.text), ["theirs"])
    }

    func testEntriesReadFromStorageAreKeptInMemory() async {
        let store = makeStore()
        storage.state.change { $0.entries = [CacheEntry(of: "a", "1"), CacheEntry(of: "a", "2", variant: "v")] }
        let found = await store.entries(for: .of("a"))
        XCTAssertEqual(Set(found.map(\.text)), ["1", "2"])
        XCTAssertEqual(Set(store.entriesInMemory(for: .of("a")).map(\.text)), ["1", "2"])
    }
}

import Foundation
import SluiceHTTP
import SluiceTesting
import XCTest

@testable import Sluice
@testable import SluiceCache

final class CacheBodyWriterTests: XCTestCase {
    private let storage = ScriptedStorage()
    private let events = Shared<[CacheEvent]>([])
    private let piece = Data(repeating: 7, count: 64 << 10)

    private func makeStore(_ configure: (inout CacheStore.Configuration) -> Void = { _ in }) -> CacheStore {
        var configuration = CacheStore.Configuration()
        configuration.onEvent = { [events] event in events.change { $0.append(event) } }
        configure(&configuration)
        return CacheStore(storage: storage, configuration: configuration)
    }

    private func writer(_ store: CacheStore) async throws -> CacheBodyWriter {
        let writer = store.writer(for: CacheEntry(of: "a"))
        return try XCTUnwrap(writer)
    }

    func testEntryIsInvisibleUntilCommit() async throws {
        for pieces in [1, 10, 100] {
            let store = makeStore()
            storage.state.change { $0 = ScriptedStorage.State() }
            let writer = try await writer(store)
            for _ in 0..<pieces {
                let isUseful = await writer.write(piece)
                XCTAssertTrue(isUseful)
            }
            var found = await store.entries(for: .of("a"))
            XCTAssertTrue(found.isEmpty)
            let isKept = await writer.commit()
            XCTAssertTrue(isKept)
            await store.flush()
            XCTAssertEqual(storage.state.read.entries.first?.body.count, pieces * piece.count)
            XCTAssertEqual(storage.state.read.writers, pieces > 4 ? 1 : 0)
            XCTAssertEqual(store.entriesInMemory(for: .of("a")).count, pieces * piece.count < 4 << 20 ? 1 : 0)
            found = await store.entries(for: .of("a"))
            XCTAssertEqual(found.map(\.body.count), [pieces * piece.count])
        }
    }

    func testUncommittedBodyLeavesTheStoredEntry() async throws {
        let store = makeStore()
        store.insert(CacheEntry(of: "a", "old"))
        for pieces in [1, 20] {
            let writer = try await writer(store)
            for _ in 0..<pieces { await writer.write(piece) }
            if pieces == 20 { writer.abandon() }
            let isKept = pieces == 20 ? await writer.commit() : false
            XCTAssertFalse(isKept)
        }
        await store.flush()
        XCTAssertEqual(store.entriesInMemory(for: .of("a")).map(\.text), ["old"])
        XCTAssertEqual(storage.state.read.entries.map(\.text), ["old"])
    }

    func testIncompleteBodiesShareTheLimitOfStorage() async throws {
        let store = makeStore {
            $0.memory.entryBytes = 100 << 10
            $0.disk.bytes = 1 << 20
        }
        func fill(_ name: String) async throws -> (writer: CacheBodyWriter, isUseful: Bool) {
            let begun = store.writer(for: CacheEntry(of: name))
            let writer = try XCTUnwrap(begun)
            var isUseful = true
            for _ in 0..<8 { isUseful = await writer.write(piece) }
            return (writer, isUseful)
        }
        var writers = [try await fill("a"), try await fill("b"), try await fill("c")]
        XCTAssertEqual(writers.map(\.isUseful), [true, true, false])
        XCTAssertEqual(events.read.count { if case .skipped(.of("c"), bytes: _) = $0 { true } else { false } }, 1)
        writers.removeLast(2)
        let last = try await fill("d")
        XCTAssertTrue(last.isUseful)
        let isKept = await last.writer.commit()
        XCTAssertTrue(isKept)
        await store.flush()
        XCTAssertEqual(storage.state.read.entries.map(\.body.count), [8 * piece.count])
    }

    func testBodyOverAllLimitsIsAbandonedWithoutError() async throws {
        let store = makeStore {
            $0.memory.entryBytes = 100 << 10
            $0.disk.entryBytes = 500 << 10
        }
        let writer = try await writer(store)
        var useful: [Bool] = []
        for _ in 0..<9 { useful.append(await writer.write(piece)) }
        XCTAssertEqual(useful, [true, true, true, true, true, true, true, false, false])
        let isKept = await writer.commit()
        XCTAssertFalse(isKept)
        await store.flush()
        XCTAssertEqual(storage.names, [])
    }

    func testCompleteBodyThatCannotBeStoredRemovesTheEntryOfAnEarlierFetch() async throws {
        let store = makeStore {
            $0.memory.entryBytes = 100 << 10
            $0.disk.entryBytes = 500 << 10
        }
        // The body is too large, or storage fails while it arrives.
        for (pieces, fails) in [(9, false), (5, true)] {
            let slow = store.beginFetch()
            store.insert(CacheEntry(of: "a", "old"))
            await store.flush()
            storage.fail { _ in fails }
            for isAbandoned in [true, false] {
                let writer = try await writer(store)
                for _ in 0..<pieces { await writer.write(piece) }
                if isAbandoned { writer.abandon() }
                // The stored entry is newer than the first fetch.
                let isKept = await writer.commit(of: isAbandoned ? store.beginFetch() : slow)
                XCTAssertFalse(isKept)
                let found = await store.entries(for: .of("a"))
                XCTAssertEqual(found.map(\.text), ["old"])
            }
            let last = try await writer(store)
            for _ in 0..<pieces { await last.write(piece) }
            let isKept = await last.commit(of: store.beginFetch())
            XCTAssertFalse(isKept)
            let found = await store.entries(for: .of("a"))
            XCTAssertEqual(found.map(\.text), [])
            await store.flush()
            storage.fail(nil)
            await store.flush()
            XCTAssertEqual(storage.names, [])
        }
    }

    func testBodyOverTheDiskLimitIsStoredInMemory() async throws {
        let store = makeStore { $0.disk.entryBytes = 300 << 10 }
        let writer = try await writer(store)
        for _ in 0..<10 { await writer.write(piece) }
        await writer.commit()
        await store.flush()
        XCTAssertEqual(store.entriesInMemory(for: .of("a")).first?.body.count, 10 * piece.count)
        XCTAssertEqual(storage.names, [])
    }

    func testBodyIsStoredInMemoryIfStorageFails() async throws {
        let store = makeStore()
        storage.fail { _ in true }
        for pieces in [2, 10] {
            let writer = try await writer(store)
            for _ in 0..<pieces { await writer.write(piece) }
            let isKept = await writer.commit()
            XCTAssertTrue(isKept)
            XCTAssertEqual(store.entriesInMemory(for: .of("a")).first?.body.count, pieces * piece.count)
        }
        await store.flush()
        XCTAssertTrue(events.read.contains { if case .writeFailed = $0 { true } else { false } })
    }

    func testRemovalDuringCommitIsNotUndone() async throws {
        let store = makeStore()
        let gate = AsyncSignal()
        storage.hold(writes: gate)
        let writer = try await writer(store)
        for _ in 0..<10 { await writer.write(piece) }
        let committing = Task { await writer.commit() }
        await eventually { [storage] in storage.state.read.writes == 1 }
        store.remove(CacheSelection())
        gate.open()
        _ = await committing.value
        await store.flush()
        XCTAssertEqual(storage.names, [])
        let found = await store.entries(for: .of("a"))
        XCTAssertTrue(found.isEmpty)
    }
}

import Foundation
import SluiceTesting
import XCTest

@testable import Sluice
@testable import SluiceCache

final class CacheStoreTests: XCTestCase {
    private let storage = ScriptedStorage()
    private let clock = TestClock()
    private let events = Shared<[CacheEvent]>([])

    private func makeStore(_ configure: (inout CacheStore.Configuration) -> Void = { _ in }) -> CacheStore {
        var configuration = CacheStore.Configuration()
        configuration.clock = clock
        configuration.onEvent = { [events] event in events.change { $0.append(event) } }
        configure(&configuration)
        return CacheStore(storage: storage, configuration: configuration)
    }

    func testValueIsReadBackAndAfterARestart() async throws {
        let store = makeStore()
        try await store.set(User(id: 1, name: "Ada"), for: "me")
        let user: User? = try await store.value(for: "me")
        XCTAssertEqual(user, User(id: 1, name: "Ada"))
        let restarted = makeStore()
        let read: User? = try await restarted.value(for: "me")
        XCTAssertEqual(read, User(id: 1, name: "Ada"))
        let nobody: User? = try await store.value(for: "you")
        XCTAssertNil(nobody)
    }

    func testContainersAreSeparate() async throws {
        let store = makeStore()
        try await store.memory.set(1, for: "n")
        try await store.memoryAndDisk.set(2, for: "n")
        try await store.partition("ada").memory.set(3, for: "n")
        try await store.partition("ada").memoryAndDisk.set(4, for: "n")
        func numbers() async throws -> [Int?] {
            let ada = store.partition("ada")
            return try await [
                store.memory.value(for: "n"), store.value(for: "n"), ada.memory.value(for: "n"),
                ada.memoryAndDisk.value(for: "n"),
            ]
        }
        var found = try await numbers()
        XCTAssertEqual(found, [1, 2, 3, 4])
        XCTAssertEqual(storage.state.read.entries.map(\.key.space), [.values, .values])
        try await store.memory.removeAll()
        found = try await numbers()
        XCTAssertEqual(found, [nil, 2, 3, 4])
        try await store.memoryAndDisk.remove("n")
        found = try await numbers()
        XCTAssertEqual(found, [nil, nil, 3, 4])
        try await store.partition("ada").removeAll()
        found = try await numbers()
        XCTAssertEqual(found, [nil, nil, nil, nil])
        XCTAssertEqual(storage.names, [])
    }

    func testRemovingAPartitionRemovesItsResponses() async throws {
        let store = makeStore()
        for partition in ["", "ada", "bob"] {
            for space in CacheKey.Space.allCases {
                store.insert(
                    CacheEntry(key: CacheKey("x", in: space, partition: partition), body: Data(), stored: clock.date)
                )
            }
        }
        try await store.partition("ada").removeAll()
        for space in CacheKey.Space.allCases {
            var found = await store.entries(for: CacheKey("x", in: space, partition: "ada"))
            XCTAssertTrue(found.isEmpty)
            found = await store.entries(for: CacheKey("x", in: space, partition: "bob"))
            XCTAssertEqual(found.count, 1)
        }
        XCTAssertEqual(storage.names.count, 6)
    }

    func testCanonicallyEquivalentNamesAreDifferentKeys() async throws {
        let store = makeStore()
        try await store.partition("Ren\u{E9}").memory.set(1, for: "n")
        let other: Int? = try await store.partition("Rene\u{301}").memory.value(for: "n")
        XCTAssertNil(other)
        // The same length in bytes.
        try await store.memory.set(1, for: "a\u{323}\u{307}")
        let reordered: Int? = try await store.memory.value(for: "a\u{307}\u{323}")
        XCTAssertNil(reordered)
        let same: Int? = try await store.memory.value(for: "a\u{323}\u{307}")
        XCTAssertEqual(same, 1)
    }

    func testRemovalByTagAppliesToAllContainers() async throws {
        let store = makeStore()
        try await store.set(1, for: "a", tags: ["x", "y"])
        try await store.set(2, for: "b", tags: ["y"])
        try await store.memory.set(3, for: "c", tags: ["x"])
        try await store.partition("ada").memoryAndDisk.set(4, for: "d", tags: ["x"])
        try await store.remove(tag: "x")
        let left = try await [
            store.value(for: "a", as: Int.self), store.value(for: "b"), store.memory.value(for: "c"),
            store.partition("ada").memoryAndDisk.value(for: "d"),
        ]
        XCTAssertEqual(left, [nil, 2, nil, nil])
        XCTAssertEqual(storage.names, ["b"])
    }

    func testSizeCountsMemoryAndDisk() async throws {
        let store = makeStore()
        try await store.set(Data(count: 1000), for: "a")
        try await store.memory.set(Data(count: 1000), for: "b")
        var size = try await store.size
        XCTAssertEqual(size.memory.count, 2)
        XCTAssertGreaterThan(size.memory.bytes, 2000)
        XCTAssertEqual(size.disk.count, 1)
        XCTAssertGreaterThan(size.disk.bytes, 1000)
        try await store.removeAll()
        size = try await store.size
        XCTAssertEqual(size, CacheStore.Size())
    }

    func testValueOverTheLimitsIsSkippedAndRemovesTheOldOne() async throws {
        let store = makeStore {
            $0.memory.entryBytes = 1000
            $0.disk.entryBytes = 2000
        }
        try await store.set(Data(count: 10), for: "a")
        try await store.set(Data(count: 1500), for: "a")
        let onDisk: Data? = try await store.value(for: "a")
        XCTAssertEqual(onDisk?.count, 1500)
        XCTAssertTrue(events.read.isEmpty)
        try await store.set(Data(count: 3000), for: "a")
        let skipped: Data? = try await store.value(for: "a")
        XCTAssertNil(skipped)
        guard case .skipped(let key, let bytes)? = events.read.first else { return XCTFail("\(events.read)") }
        XCTAssertEqual(key.name, "a")
        XCTAssertGreaterThan(bytes, 3000)
    }

    func testFullDiskThrowsATypedErrorAndKeepsTheValueInMemory() async throws {
        let store = makeStore()
        storage.fail { _ in true }
        do {
            try await store.set(1, for: "a")
            XCTFail("The value was stored on disk.")
        } catch {
            XCTAssertEqual(error.code, .cacheFailed)
        }
        let value: Int? = try await store.value(for: "a")
        XCTAssertEqual(value, 1)
        do {
            try await store.removeAll()
            XCTFail("The removal did not fail.")
        } catch {
            XCTAssertEqual(error.code, .cacheFailed)
        }
        let removed: Int? = try await store.value(for: "a")
        XCTAssertNil(removed)
    }

    func testConcurrentValuesShareTransactions() async throws {
        let store = makeStore()
        let gate = AsyncSignal()
        storage.hold(writes: gate)
        await withTaskGroup(of: Void.self) { group in
            for number in 0..<200 {
                group.addTask { try? await store.set(number, for: "\(number)") }
            }
            await eventually { [storage] in
                let waiting = store.state.withLock { $0.pending.queue.count }
                return storage.state.read.writes == 1 && waiting + storage.state.read.batches[0].count == 200
            }
            gate.open()
        }
        XCTAssertEqual(storage.names.count, 200)
        XCTAssertLessThanOrEqual(storage.state.read.batches.count, 2)
    }

    func testStorageIsEvictedToItsLimitsInSteps() async throws {
        let store = makeStore { $0.disk.count = 10 }
        for number in 0..<35 { store.insert(CacheEntry(of: "\(number)")) }
        await store.flush()
        await eventually { [storage] in storage.state.read.entries.count == 10 && storage.state.read.evictions.last == 0
        }
        XCTAssertGreaterThan(storage.state.read.evictions.count { $0 > 0 }, 10)
    }

    func testStoreWithoutStorageUsesMemoryOnly() async throws {
        let store = CacheStore(storage: nil)
        try await store.set([1, 2], for: "a")
        let value: [Int]? = try await store.value(for: "a")
        XCTAssertEqual(value, [1, 2])
        await store.flush()
        try await store.removeExpired()
        try await store.removeAll()
        let size = try await store.size
        XCTAssertEqual(size, CacheStore.Size())
    }

    func testStoredResponseOmitsSecretsOfItsRequest() async throws {
        let store = makeStore()
        var request = HTTPRequest(
            method: .post,
            scheme: "https",
            authority: "ada:pw@api.example:8443",
            path: "/a/b?q=1"
        )
        request.headers["Authorization"] = "Bearer secret"
        let head = HTTPResponse(status: .created, headers: ["ETag": "\"1\"", "X-A": "b"], version: .http2)
        try await store.set(ServerResponse(request: request, head: head, body: Data("body".utf8)), for: "r")
        let response = try await store.response(for: "r")
        XCTAssertEqual(response?.request.url, "https://api.example:8443/a/b?q=1")
        XCTAssertEqual(response?.request.method, .post)
        XCTAssertEqual(response?.request.headers.count, 0)
        XCTAssertEqual(response?.head.status, .created)
        XCTAssertEqual(response?.head.headers, head.headers)
        XCTAssertEqual(response?.head.version, .http2)
        XCTAssertEqual(response?.body, Data("body".utf8))
        let missing = try await store.response(for: "none")
        XCTAssertNil(missing)
    }
}

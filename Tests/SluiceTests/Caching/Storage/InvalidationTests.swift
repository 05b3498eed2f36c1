import Foundation
import SluiceHTTP
import SluiceTesting
import Testing

@testable import Sluice
@testable import SluiceCache

/// A store whose storage other processes change.
@Suite struct InvalidationTests {
    private let storage = ScriptedStorage()
    private let store: CacheStore

    init() {
        store = CacheStore(storage: storage)
    }

    private static let names = ["a", "b"]

    /// Returns the texts in memory after the news has been handled.
    private func texts(after news: CacheInvalidation) async throws -> [String: String] {
        _ = await store.entries(for: .of("none"))
        for name in Self.names {
            store.insert(CacheEntry(of: name, "old", tags: ["tag \(name)"]))
            store.insert(CacheEntry(of: name, "memory", in: .memoryValues))
        }
        await store.flush()
        let stream = try #require(storage.state.read.news)
        stream.yield(news)
        // The news of a marker is handled after it.
        store.insert(CacheEntry(of: "marker"))
        await store.flush()
        stream.yield(.stored(.of("marker")))
        while !store.entriesInMemory(for: .of("marker")).isEmpty { await Task.yield() }
        for name in Self.names { #expect(store.entriesInMemory(for: CacheKey(name, in: .memoryValues)).count == 1) }
        return Dictionary(
            uniqueKeysWithValues: Self.names.compactMap { name in
                store.entriesInMemory(for: .of(name)).first.map { (name, $0.text) }
            }
        )
    }

    private static let news: [(CacheInvalidation, [String])] = [
        (.stored(.of("a")), ["b"]), (.stored(.of("c")), ["a", "b"]), (.stored(CacheKey("a", in: .http)), ["a", "b"]),
        (.removed(CacheSelection(.of("a"))), ["b"]), (.removed(CacheSelection()), []), (.everything, []),
        (.removed(tagged("tag b")), ["a"]),
    ]

    private static func tagged(_ tag: String) -> CacheSelection {
        var selection = CacheSelection()
        selection.tag = tag
        return selection
    }

    @Test(arguments: news)
    func newsDropsWhatItConcerns(_ news: CacheInvalidation, _ left: [String]) async throws {
        #expect(try await texts(after: news).keys.sorted() == left)
    }

    @Test func removalsByOthersOutdateFetches() async throws {
        _ = await store.entries(for: .of("none"))
        let stream = try #require(storage.state.read.news)
        let (outdated, current) = (store.beginFetch(), store.beginFetch())
        store.insert(CacheEntry(of: "marker"))
        await store.flush()
        stream.yield(.removed(CacheSelection(.of("a"))))
        stream.yield(.stored(.of("b")))
        stream.yield(.stored(.of("marker")))
        while !store.entriesInMemory(for: .of("marker")).isEmpty { await Task.yield() }
        #expect(!store.insert(CacheEntry(of: "a"), of: outdated))
        #expect(store.insert(CacheEntry(of: "b"), of: current), "Another response is no removal.")
    }

    @Test func entriesThatOthersRemoveAreNotReadBeforeTheyAreWritten() async throws {
        _ = await store.entries(for: .of("none"))
        let stream = try #require(storage.state.read.news)
        let gate = AsyncSignal()
        store.insert(CacheEntry(of: "marker"))
        await store.flush()
        storage.hold(writes: gate)
        store.insert(CacheEntry(of: "a", "old"))
        #expect(await store.entries(for: .of("a")).count == 1)
        stream.yield(.removed(CacheSelection(.of("a"))))
        stream.yield(.stored(.of("marker")))
        while !store.entriesInMemory(for: .of("marker")).isEmpty { await Task.yield() }
        #expect(await store.entries(for: .of("a")).isEmpty)
        gate.open()
        storage.hold()
        await store.flush()
    }

    @Test func entriesReadDuringAChangeAreNotKept() async throws {
        _ = await store.entries(for: .of("none"))
        let stream = try #require(storage.state.read.news)
        try await storage.apply([.store(CacheEntry(of: "a", "old"))])
        store.insert(CacheEntry(of: "marker"))
        await store.flush()
        let gate = AsyncSignal()
        storage.hold(reads: gate)
        let reads = storage.state.read.reads
        async let entries = store.entries(for: .of("a"))
        while storage.state.read.reads == reads { await Task.yield() }
        stream.yield(.stored(.of("a")))
        stream.yield(.stored(.of("marker")))
        while !store.entriesInMemory(for: .of("marker")).isEmpty { await Task.yield() }
        gate.open()
        #expect(await entries.count == 1)
        #expect(store.entriesInMemory(for: .of("a")).isEmpty)
    }

    @Test func newerEntriesInStorageReplaceThoseInMemory() async throws {
        let date = Date(timeIntervalSince1970: 1_767_225_600)
        store.insert(CacheEntry(of: "a", "old", stored: date))
        await store.flush()
        try await storage.apply([.store(CacheEntry(of: "a", "new", stored: date + 1))])
        #expect(await store.entries(for: .of("a")).map(\.text) == ["new"])
        #expect(store.entriesInMemory(for: .of("a")).map(\.text) == ["new"])
    }

    @Test func followingEndsWithTheStore() async throws {
        let stream: AsyncStream<CacheInvalidation>.Continuation
        let isOver = AsyncSignal()
        do {
            let store = CacheStore(storage: storage)
            _ = await store.entries(for: .of("none"))
            stream = try #require(storage.state.read.news)
            stream.onTermination = { _ in isOver.open() }
        }
        await isOver.wait()
    }
}

/// Storages of all kinds.
@Suite struct StorageConformanceTests {
    @Test(arguments: CacheStorageConformance.cases)
    func databaseConforms(_ case: CacheStorageConformance.Case) async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "sluice-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        try await CacheStorageConformance.run(`case`) { SQLiteCacheStorage(directory: folder) }
    }

    @Test(arguments: CacheStorageConformance.cases)
    func storageOfTheArticleConforms(_ case: CacheStorageConformance.Case) async throws {
        let table = DocumentTable()
        try await CacheStorageConformance.run(`case`) { TableStorage(table) }
    }

    @Test func aStorageThatForgetsNothingFails() async throws {
        struct Forgetful: CacheStorage {
            let storage: ScriptedStorage
            func entries(for key: CacheKey, at now: Date) async throws(SluiceError) -> [CacheEntry] {
                try await storage.entries(for: key, at: now)
            }
            func apply(_ changes: [CacheChange]) async throws(SluiceError) {
                for change in changes { if case .store = change { try await storage.apply([change]) } }
            }
            func writer(for entry: CacheEntry) async throws(SluiceError) -> any CacheWriter {
                try await storage.writer(for: entry)
            }
        }
        var failures: [String] = []
        for `case` in CacheStorageConformance.cases {
            let storage = ScriptedStorage()
            do {
                try await CacheStorageConformance.run(`case`) { Forgetful(storage: storage) }
            } catch {
                failures.append(`case`.description)
            }
        }
        #expect(failures.count { $0.contains("emoval") } >= 6)
    }
}

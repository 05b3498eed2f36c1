import Foundation
import SluiceHTTP
import Testing

@testable import Sluice
@testable import SluiceCache

/// A disk without free space.
@Suite(.serialized) struct FullCacheTests {
    private func fill(_ storage: SQLiteCacheStorage, from start: Int = 0) async -> (count: Int, error: SluiceError?) {
        var count = start
        let error = await cacheFailure {
            while count < start + 1000 {
                try await storage.store(
                    CacheEntry("\(count)", body: .noise(9000, seed: UInt64(count)), stored: Double(count))
                )
                count += 1
            }
        }
        return (count, error)
    }

    private func checkAll(_ storage: SQLiteCacheStorage, upTo count: Int) async throws -> Int {
        var found = 0
        for index in 0..<count {
            guard let body = try await storage.body("\(index)") else { continue }
            #expect(body == .noise(9000, seed: UInt64(index)))
            found += 1
        }
        return found
    }

    @Test(arguments: [
        (5_160_960, 49_152, 32_768, true), (480_000, 500_000, 60_000, true), (480_000, 500_000, 240_000, false),
        (8_000_000, 1_000_000_000, 0, false), (0, 0, 0, false), (0, 4096, 1 << 40, false),
    ])
    func logThatFillsTheDiskIsRecognized(log: Int64, database: Int64, free: Int64, isFull: Bool) {
        #expect(CacheFiles.fillsDisk(log: log, database: database, free: free) == isFull)
    }

    @Test func fullFileAcceptsEntriesAfterEviction() async throws {
        let folder = CacheFolder()
        let storage = folder.storage { $0.pageLimit = 300 }
        let (count, error) = await fill(storage)
        #expect(error?.code == .cacheFailed)
        #expect(error?.description.contains("full") == true)
        #expect(count > 50)
        #expect(try await checkAll(storage, upTo: count + 1) == count)
        let error2 = await cacheFailure {
            try await storage.apply([.store(CacheEntry("new")), .store(CacheEntry("large", body: .noise(100_000)))])
        }
        #expect(error2 != nil)
        #expect(try await storage.entries("new").isEmpty, "A transaction is atomic.")
        #expect(try await storage.evict(to: CacheLimits(count: count - 3), at: .distantPast) == 3)
        let again = await fill(storage, from: 2000)
        #expect(again.count > 2001)
        #expect(try folder.totals().kept == folder.totals().counted)
        #expect(folder.eventNames == ["opened"])
    }

    @Test func bodyWithoutSpaceLeavesNothing() async throws {
        let folder = CacheFolder()
        let storage = folder.storage { $0.pageLimit = 300 }
        let writer = try await storage.writer(for: CacheEntry("a"))
        let error = await cacheFailure {
            for _ in 0..<1000 { try await writer.write(.noise(9000)) }
        }
        #expect(error?.code == .cacheFailed)
        #expect(await cacheFailure { try await writer.commit() }?.code == .cacheFailed)
        try await storage.apply([.remove(CacheSelection())])
        await folder.waitForSweeping(of: storage)
        #expect(await fill(storage).count > 50)
    }

    @Test(
        .enabled(
            if: ProcessInfo.processInfo.environment["SLUICE_SMALL_FILE_SYSTEM"] != nil
                || ProcessInfo.processInfo.environment["SLUICE_REQUIRE_SERVERS"] == "1",
            "SLUICE_SMALL_FILE_SYSTEM names no folder on a file system of 1 MiB."
        )
    )
    func fullDiskFailsWritesAndLosesNothing() async throws {
        let path = try #require(ProcessInfo.processInfo.environment["SLUICE_SMALL_FILE_SYSTEM"])
        let folder = CacheFolder(in: URL(filePath: path).appending(path: UUID().uuidString))
        defer {
            try? FileManager.default.removeItem(at: folder.url.deletingLastPathComponent().deletingLastPathComponent())
        }
        let ballast = URL(filePath: path).appending(path: "ballast-\(UUID().uuidString)")
        try Data(count: 300 << 10).write(to: ballast)
        defer { try? FileManager.default.removeItem(at: ballast) }
        let storage = folder.storage()
        let (count, error) = await fill(storage)
        #expect(error?.code == .cacheFailed)
        #expect(error?.description.contains("full") == true)
        #expect(count > 5)
        #expect(try await checkAll(storage, upTo: count + 1) == count)
        try FileManager.default.removeItem(at: ballast)
        #expect(try await storage.evict(to: CacheLimits(count: 5), at: .distantPast) > 0)
        try await storage.store(CacheEntry("new"))
        #expect(try await storage.entries("new").count == 1)
        #expect(try folder.totals().kept == folder.totals().counted)
        #expect(folder.eventNames == ["opened"])
        // A storage that is opened on a full disk works, or fails with the same code.
        let rest = await fill(storage, from: 2000)
        #expect(rest.error?.code == .cacheFailed)
        let next = folder.storage()
        let found = await cacheFailure { _ = try await next.entries("new") }
        #expect(found == nil || found?.code == .cacheFailed)
    }
}

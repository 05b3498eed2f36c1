import Foundation
import SluiceHTTP
import Testing

@testable import Sluice
@testable import SluiceCache

@Suite struct SQLiteCacheWriterTests {
    private let folder = CacheFolder()

    private func write(_ body: Data, as name: String, to storage: SQLiteCacheStorage, by size: Int) async throws {
        let writer = try await storage.writer(for: CacheEntry(name, tags: ["t"]))
        var rest = body
        while !rest.isEmpty {
            try await writer.write(rest.prefix(size))
            rest = rest.dropFirst(size)
        }
        try await writer.commit()
    }

    @Test(arguments: [0, 1, 900, 999, 1000, 1001, 4000, 123_456], [1, 77, 1000, 50_000])
    func bodyWrittenInPiecesIsReadBack(size: Int, piece: Int) async throws {
        let storage = folder.storage()
        let body = Data.noise(piece == 1 ? min(size, 3000) : size)
        try await write(body, as: "a", to: storage, by: piece)
        #expect(try await storage.body("a") == body)
        #expect(try await storage.entries("a").first?.tags == ["t"])
        let totals = try folder.totals()
        #expect(totals.kept == totals.counted)
        // The same as if it had been stored at once.
        try await storage.store(CacheEntry("a", body: body, tags: ["t"]))
        #expect(try await storage.size() == totals.kept)
        #expect(try folder.count("draft") == 0)
    }

    @Test func entryIsInvisibleUntilCommit() async throws {
        let storage = folder.storage()
        try await storage.store(CacheEntry("a", body: Data([1])))
        let before = try await storage.size()
        let writer = try await storage.writer(for: CacheEntry("a"))
        try await writer.write(.noise(10_000))
        #expect(try folder.count("piece") > 5, "The pieces are on disk.")
        #expect(try await storage.body("a") == Data([1]))
        #expect(try await storage.size() == before)
        try await writer.commit()
        #expect(try await storage.body("a") == .noise(10_000))
        #expect(try await storage.size().count == 1)
    }

    @Test func droppedWriterLeavesNothing() async throws {
        let storage = folder.storage()
        do {
            let writer = try await storage.writer(for: CacheEntry("a"))
            try await writer.write(.noise(50_000))
            #expect(try folder.count("piece") > 40)
        }
        // Queued after the work that the dropped writer started.
        try await storage.store(CacheEntry("b"))
        await folder.waitForSweeping(of: storage)
        #expect(try folder.count("piece") == 1)
        #expect(try folder.count("draft") == 0)
        #expect(try await storage.entries("a").isEmpty)
    }

    @Test func lastCommitOfTwoWritersWins() async throws {
        let storage = folder.storage()
        let one = try await storage.writer(for: CacheEntry("a"))
        let other = try await storage.writer(for: CacheEntry("a"))
        for _ in 0..<5 {
            try await one.write(.noise(1500, seed: 1))
            try await other.write(.noise(1500, seed: 2))
        }
        try await other.commit()
        #expect(try await storage.body("a")?.prefix(1500) == .noise(1500, seed: 2))
        try await one.commit()
        #expect(try await storage.body("a")?.prefix(1500) == .noise(1500, seed: 1))
        #expect(try await storage.body("a")?.count == 7500)
        #expect(try await storage.size().count == 1)
        #expect(try folder.totals().kept == folder.totals().counted)
    }

    @Test func writerFailsAfterRemovalOfAllEntries() async throws {
        let storage = folder.storage()
        let writer = try await storage.writer(for: CacheEntry("a"))
        try await writer.write(.noise(5000))
        try await storage.apply([.remove(CacheSelection())])
        let error = await cacheFailure { try await writer.write(.noise(5000)) }
        #expect(error?.code == .cacheFailed)
        #expect(await cacheFailure { try await writer.commit() }?.code == .cacheFailed)
        #expect(try await storage.entries("a").isEmpty)
    }

    @Test func writesAfterCommitFail() async throws {
        let storage = folder.storage()
        let writer = try await storage.writer(for: CacheEntry("a"))
        try await writer.write(Data([1]))
        try await writer.commit()
        #expect(await cacheFailure { try await writer.write(Data([2])) }?.code == .cacheFailed)
        #expect(await cacheFailure { try await writer.commit() }?.code == .cacheFailed)
        #expect(try await storage.body("a") == Data([1]))
    }

    @Test func draftsOfDeadProcessesAreSwept() async throws {
        let storage = folder.storage()
        let living = try await storage.writer(for: CacheEntry("living"))
        try await living.write(.noise(5000))
        let dead = try await storage.writer(for: CacheEntry("dead"))
        try await dead.write(.noise(5000))
        let slow = try await storage.writer(for: CacheEntry("slow"))
        try await slow.write(.noise(5000))
        // No process has this ID.
        try folder.connection().run("UPDATE draft SET process = 2147483647 WHERE id = 2")
        try folder.connection().run("UPDATE draft SET touched = touched - 4000 WHERE id = 3")
        let next = folder.storage()
        _ = try await next.size()
        await folder.waitForSweeping(of: next)
        #expect(try folder.count("draft") == 1)
        #expect(try folder.connection().integer("SELECT COUNT(DISTINCT id >> 20) FROM piece") == 1)
        try await living.commit()
        #expect(await cacheFailure { try await dead.commit() }?.code == .cacheFailed)
        #expect(await cacheFailure { try await slow.commit() }?.code == .cacheFailed)
        #expect(try await next.body("living") == .noise(5000))
        #expect(try await next.size().count == 1)
    }

    @Test func writerFailsAfterFileIsReplaced() async throws {
        let storage = folder.storage()
        let writer = try await storage.writer(for: CacheEntry("a"))
        try await writer.write(.noise(5000))
        for name in folder.names { try FileManager.default.removeItem(at: folder.url.appending(path: name)) }
        #expect(await cacheFailure { try await writer.write(.noise(5000)) }?.code == .cacheFailed)
        #expect(try await storage.size() == CacheSize())
    }
}

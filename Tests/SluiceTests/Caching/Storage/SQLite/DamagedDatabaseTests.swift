import Foundation
import SluiceHTTP
import SluiceTesting
import Testing

@testable import Sluice
@testable import SluiceCache

/// Damaged files. A read returns the written data or nothing.
@Suite struct DamagedDatabaseTests {
    private static let names = (0..<40).map { "name \($0)" }

    private static func body(of index: Int) -> Data { .noise(index * index * 5, seed: UInt64(index)) }

    /// An undamaged database in a single file.
    private static let undamaged = Task { () throws -> Data in
        let folder = CacheFolder()
        let storage = folder.storage()
        for (index, name) in names.enumerated() {
            let entry = CacheEntry(
                name,
                body: body(of: index),
                expires: index.isMultiple(of: 3) ? 1e6 : nil,
                tags: ["t\(index % 4)"]
            )
            try await storage.store(entry)
        }
        try folder.connection().run("PRAGMA wal_checkpoint(TRUNCATE)")
        return try Data(contentsOf: URL(filePath: folder.files.database))
    }

    private static func folder(with file: Data) throws -> CacheFolder {
        let folder = CacheFolder()
        try FileManager.default.createDirectory(at: folder.url, withIntermediateDirectories: true)
        try file.write(to: URL(filePath: folder.files.database))
        return folder
    }

    /// Runs all operations of a storage, and checks that reads return correct data.
    ///
    /// - Returns: The number of entries that are left.
    private static func runAllOperations(on storage: SQLiteCacheStorage, in folder: CacheFolder) async throws -> Int {
        // The folder removes its files when it is deallocated.
        defer { withExtendedLifetime(folder) {} }
        var count = 0
        for (index, name) in names.enumerated() {
            // A file with a newer version number, or of another program, is not changed.
            guard let found = try? await storage.entries(name) else { continue }
            for entry in found {
                #expect(entry.body == body(of: index))
                #expect(entry.tags == ["t\(index % 4)"])
                #expect(entry.expires == (index.isMultiple(of: 3) ? Date(timeIntervalSinceReferenceDate: 1e6) : nil))
            }
            #expect(found.count <= 1)
            count += found.count
        }
        let error = await cacheFailure {
            try await storage.store(CacheEntry("new", body: .noise(5000)))
            // Damage that SQLite does not detect may hide the entry.
            #expect([nil, .noise(5000)].contains(try await storage.body("new")))
            _ = try await storage.size()
            var tag = CacheSelection()
            tag.tag = "t1"
            try await storage.apply([.remove(tag)])
            _ = try await storage.evict(to: CacheLimits(count: 10), at: .distantPast)
            try await storage.apply([.remove(CacheSelection(CacheKey(names[2]))), .store(CacheEntry(names[3]))])
            #expect([nil, Data("body".utf8)].contains(try await storage.body(names[3])))
        }
        #expect(error == nil || error?.description.contains("the file was not changed") == true)
        return count
    }

    @Test func undamagedFileReturnsAllEntries() async throws {
        let folder = try Self.folder(with: try await Self.undamaged.value)
        #expect(try await Self.runAllOperations(on: folder.storage(), in: folder) == 40)
        #expect(folder.eventNames == ["opened"])
    }

    @Test(arguments: 0..<40)
    func truncatedFileReturnsIntactEntriesOrNone(part: Int) async throws {
        let file = try await Self.undamaged.value
        let length = part < 8 ? [0, 1, 15, 16, 99, 100, 511, 4096][part] : file.count * part / 40 + part
        let folder = try Self.folder(with: file.prefix(length))
        let storage = folder.storage()
        _ = try await Self.runAllOperations(on: storage, in: folder)
        #expect(try await storage.body(Self.names[3]) == Data("body".utf8), "The storage works again.")
    }

    @Test(arguments: [UInt64](0..<80))
    func changedBytesReturnIntactEntriesOrNone(seed: UInt64) async throws {
        var file = try await Self.undamaged.value
        var random = SeededGenerator(seed: seed)
        // A few bytes anywhere in the file, or many in one region. Without the first page the database is unreadable.
        let start = seed.isMultiple(of: 4) ? 0 : Int.random(in: 4096..<file.count, using: &random)
        let range = seed.isMultiple(of: 3) ? 100..<file.count : start..<min(start + 9000, file.count)
        for _ in 0..<Int.random(in: 1...(seed.isMultiple(of: 2) ? 6 : 300), using: &random) {
            file[Int.random(in: range, using: &random)] = .random(in: .min ... .max, using: &random)
        }
        let folder = try Self.folder(with: file)
        _ = try await Self.runAllOperations(on: folder.storage(), in: folder)
    }

    @Test(arguments: [UInt64](0..<30))
    func exchangedPagesReturnIntactEntriesOrNone(seed: UInt64) async throws {
        var file = try await Self.undamaged.value
        var random = SeededGenerator(seed: seed)
        for _ in 0..<Int.random(in: 1...4, using: &random) {
            let pages = file.count / 4096
            let from = Int.random(in: 1..<pages, using: &random) * 4096
            let to = Int.random(in: 1..<pages, using: &random) * 4096
            file.replaceSubrange(to..<to + 4096, with: Data(file[from..<from + 4096]))
        }
        let folder = try Self.folder(with: file)
        _ = try await Self.runAllOperations(on: folder.storage(), in: folder)
    }

    @Test(arguments: [UInt64](0..<10))
    func bytesChangedWhileOpenReturnIntactEntriesOrNone(seed: UInt64) async throws {
        let folder = try Self.folder(with: try await Self.undamaged.value)
        let storage = folder.storage()
        #expect(try await storage.body(Self.names[9]) == Self.body(of: 9))
        var random = SeededGenerator(seed: seed)
        let handle = try FileHandle(forWritingTo: URL(filePath: folder.files.database))
        for _ in 0..<100 {
            try handle.seek(toOffset: .random(in: 100..<400_000, using: &random))
            try handle.write(contentsOf: Data.noise(200, seed: random.next()))
        }
        _ = try await Self.runAllOperations(on: storage, in: folder)
    }

    @Test func damagedEntryIsRemoved() async throws {
        let folder = CacheFolder()
        let storage = folder.storage()
        try await storage.store(CacheEntry("a", body: .noise(5000)), CacheEntry("b"), CacheEntry("c"), CacheEntry("d"))
        let connection = try folder.connection()
        try connection.run("UPDATE piece SET bytes = zeroblob(1000) WHERE id = (1 << 20) + 2")
        try connection.run("UPDATE entry SET expires = 5000 WHERE id = 2")
        try connection.run("UPDATE entry SET partition = CAST('p' AS BLOB) WHERE id = 3")
        try connection.run("DELETE FROM piece WHERE id = 4 << 20")
        for name in ["a", "b", "d"] { #expect(try await storage.entries(name).isEmpty) }
        #expect(try await storage.entries(for: CacheKey("c", partition: "p"), at: .distantPast).isEmpty)
        try await storage.store(CacheEntry("e"))
        #expect(try folder.count("entry") == 1)
        #expect(try folder.count("piece") == 1)
        #expect(folder.eventNames == ["opened"])
    }

    /// A change that was queued before the removal may have repaired the entry under its number.
    @Test func repairedEntryIsNotRemoved() async throws {
        let folder = CacheFolder()
        let storage = folder.storage()
        try await storage.store(CacheEntry("a", body: .noise(5000)))
        let connection = try folder.connection()
        try connection.run("UPDATE piece SET bytes = zeroblob(1000) WHERE id = (1 << 20) + 2")
        let found = try EntryLookup(CacheKey("a"), at: .distantPast, in: connection)
        #expect(found.broken.map(\.number) == [1])
        try await storage.store(CacheEntry("a", body: .noise(5000, seed: 1)))
        try await storage.database.write { transaction throws(SQLiteFailure) in
            try transaction.removeBroken(found.broken)
        }
        #expect(try await storage.body("a") == .noise(5000, seed: 1))
    }

    @Test func invalidFileIsSetAsideAndReported() async throws {
        for (index, length) in [10, 4096, 100_000].enumerated() {
            let folder = try Self.folder(with: .noise(length, seed: UInt64(index)))
            let storage = folder.storage()
            #expect(try await storage.entries("a").isEmpty)
            #expect(folder.eventNames == ["set aside", "opened"])
            guard case .databaseMoved(let url, let reason)? = folder.events.read.first else { continue }
            #expect(try Data(contentsOf: url) == .noise(length, seed: UInt64(index)))
            #expect(reason == "file is not a database")
            try await storage.store(CacheEntry("a"))
            #expect(try await folder.storage().entries("a").count == 1)
        }
    }

    @Test func twoSetAsideFilesAreKept() async throws {
        let folder = try Self.folder(with: Data())
        for _ in 0..<5 {
            try Data.noise(5000).write(to: URL(filePath: folder.files.database))
            try await folder.storage().store(CacheEntry("a"))
            for name in folder.names where name.hasPrefix("cache.sqlite") {
                try FileManager.default.removeItem(at: folder.url.appending(path: name))
            }
        }
        #expect(folder.names.filter { $0.contains("corrupt") }.count == 2)
    }

    @Test func removalOfAPartitionRemovesSetAsideFiles() async throws {
        let folder = try Self.folder(with: .noise(5000))
        let storage = folder.storage()
        try await storage.store(CacheEntry("a"))
        #expect(folder.names.contains { $0.contains("corrupt") })
        var selection = CacheSelection()
        selection.expired = .now
        try await storage.apply([.remove(selection)])
        selection = CacheSelection(CacheKey("b"))
        try await storage.apply([.remove(selection)])
        #expect(folder.names.contains { $0.contains("corrupt") })
        selection = CacheSelection()
        selection.partition = "p"
        try await storage.apply([.remove(selection)])
        // The queue of the writer has removed the file.
        try await storage.store(CacheEntry("c"))
        #expect(!folder.names.contains { $0.contains("corrupt") })
        #expect(try await storage.entries("a").count == 1)
    }

    @Test func removedFileIsDetectedAndRecreated() async throws {
        let folder = CacheFolder()
        let storage = folder.storage()
        try await storage.store(CacheEntry("a"))
        #expect(try await storage.entries("a").count == 1)
        #expect(try await !storage.hasForeignChanges())
        for name in folder.names { try FileManager.default.removeItem(at: folder.url.appending(path: name)) }
        #expect(try await storage.entries("a").isEmpty)
        #expect(try await storage.hasForeignChanges())
        try await storage.store(CacheEntry("b"))
        #expect(try await storage.entries("b").count == 1)
        try FileManager.default.removeItem(at: folder.url)
        try await storage.store(CacheEntry("c"))
        #expect(try await folder.storage().entries("c").count == 1)
        #expect(try await storage.entries("b").isEmpty)
    }

    @Test func concurrentStoragesReplaceADamagedFileOnce() async throws {
        let folder = CacheFolder()
        let (one, other) = (folder.storage(), folder.storage())
        try await one.store(CacheEntry("a"))
        #expect(try await other.entries("a").count == 1)
        let handle = try FileHandle(forWritingTo: URL(filePath: folder.files.database))
        try folder.connection().run("PRAGMA wal_checkpoint(TRUNCATE)")
        try handle.write(contentsOf: Data.noise(200_000))
        async let first: Void = one.store(CacheEntry("one", body: .noise(5000)))
        async let second: Void = other.store(CacheEntry("other", body: .noise(5000)))
        _ = try await (first, second)
        for storage in [one, other] {
            #expect(try await storage.body("one") == .noise(5000))
            #expect(try await storage.body("other") == .noise(5000))
        }
        #expect(folder.eventNames.filter { $0 == "set aside" }.count == 1)
    }
}

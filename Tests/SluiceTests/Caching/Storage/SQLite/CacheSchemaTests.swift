import Foundation
import SluiceHTTP
import Testing

@testable import Sluice
@testable import SluiceCache

@Suite struct CacheSchemaTests {
    private let folder = CacheFolder()

    private static let next = CacheSchema(
        steps: CacheSchema.current.steps + [["ALTER TABLE total ADD COLUMN hits INTEGER NOT NULL DEFAULT 0"]]
    )

    private func make(_ statements: String...) throws {
        try FileManager.default.createDirectory(at: folder.url, withIntermediateDirectories: true)
        try Data().write(to: URL(filePath: folder.files.database))
        let connection = try folder.connection()
        for statement in statements { try connection.execute(statement) }
    }

    @Test func emptyFileIsInitialized() async throws {
        try make()
        let storage = folder.storage()
        try await storage.store(CacheEntry("a"))
        let connection = try folder.connection()
        #expect(try connection.integer("PRAGMA user_version") == 1)
        #expect(try connection.integer("PRAGMA application_id") == CacheSchema.application)
        #expect(try connection.integer("PRAGMA auto_vacuum") == 2)
        #expect(folder.eventNames == ["opened"])
    }

    @Test func olderSchemaIsMigratedWithItsEntries() async throws {
        try await folder.storage().store(CacheEntry("a"))
        let storage = folder.storage(schema: Self.next)
        #expect(try await storage.entries("a").count == 1)
        #expect(try folder.connection().integer("PRAGMA user_version") == 2)
        #expect(try folder.connection().integer("SELECT hits FROM total") == 0)
        #expect(folder.eventNames == ["opened", "opened"])
    }

    @Test func failedMigrationStepIsRolledBack() async throws {
        try await folder.storage().store(CacheEntry("a"))
        let broken = CacheSchema(steps: Self.next.steps + [["SELECT 1", "INSERT INTO total VALUES (1, 0, 0, 0, 0)"]])
        let connection = try folder.connection()
        #expect(throws: SQLiteFailure.self) { try broken.prepare(connection, isReadOnly: false) }
        #expect(try connection.integer("PRAGMA user_version") == 1)
        #expect(try await folder.storage().entries("a").count == 1)
    }

    @Test func newerSchemaIsNotChangedAndRetriedLater() async throws {
        // The objects of both versions are the same, so the file of the newer one is also one of the older.
        let next = folder.storage(
            schema: CacheSchema(steps: CacheSchema.current.steps + [["UPDATE total SET changes = changes"]])
        )
        try await next.store(CacheEntry("a"))
        let storage = folder.storage()
        for _ in 0..<3 {
            let error = await cacheFailure { _ = try await storage.entries("a") }
            #expect(error?.code == .cacheFailed)
            #expect(error?.step == .cache)
            #expect(error?.description.contains("its version is 2") == true)
            #expect(await cacheFailure { try await storage.store(CacheEntry("b")) }?.code == .cacheFailed)
        }
        #expect(folder.eventNames == ["opened", "unavailable"])
        #expect(try await next.entries("a").count == 1)
        try folder.connection().run("PRAGMA user_version = 1")
        #expect(await cacheFailure { _ = try await storage.size() } != nil, "not retried yet")
        folder.clock.advance(by: .seconds(6))
        #expect(try await storage.entries("a").count == 1)
        #expect(folder.eventNames == ["opened", "unavailable", "opened"])
    }

    @Test func migrationByANewerProgramFailsLaterOperations() async throws {
        let rebuilt = CacheSchema(
            steps: CacheSchema.current.steps + [["ALTER TABLE entry RENAME COLUMN size TO bytes"]]
        )
        for first in ["read", "written"] {
            let folder = CacheFolder()
            let storage = folder.storage()
            try await storage.store(CacheEntry("a"))
            #expect(try await storage.entries("a").count == 1)
            _ = try rebuilt.prepare(try folder.connection(), isReadOnly: false)
            let error = await cacheFailure {
                if first == "read" {
                    _ = try await storage.entries("a")
                } else {
                    try await storage.store(CacheEntry("b"))
                }
            }
            #expect(error?.description.contains("its version is 2") == true, "\(first): \(String(describing: error))")
            #expect(folder.eventNames == ["opened", "unavailable"])
            #expect(try folder.connection().integer("SELECT COUNT(*) FROM entry") == 1)
        }
    }

    @Test func databaseOfAnotherProgramIsNotChanged() async throws {
        try make(
            "CREATE TABLE accounts (name TEXT)",
            "INSERT INTO accounts VALUES ('ada')",
            "PRAGMA journal_mode = DELETE"
        )
        let before = try Data(contentsOf: URL(filePath: folder.files.database))
        let error = await cacheFailure { try await folder.storage().store(CacheEntry("a")) }
        #expect(error?.description.contains("a database of another program") == true)
        #expect(
            try Data(contentsOf: URL(filePath: folder.files.database)) == before,
            "Not even its journal mode changes."
        )
        #expect(try folder.connection().integer("SELECT COUNT(*) FROM accounts") == 1)
        #expect(folder.eventNames == ["unavailable"])
    }

    @Test(arguments: [
        "CREATE TRIGGER t AFTER INSERT ON entry BEGIN DELETE FROM piece; END",
        "CREATE TRIGGER t INSTEAD OF DELETE ON v BEGIN SELECT 1; END",
        "CREATE VIEW w AS SELECT * FROM entry", "CREATE TABLE other (id INTEGER)", "ANALYZE",
        "CREATE TABLE other (id INTEGER PRIMARY KEY AUTOINCREMENT)", "CREATE INDEX i ON entry (size)",
        "CREATE INDEX i ON entry (abs(size)) WHERE stored > 0", "ALTER TABLE entry ADD COLUMN x DEFAULT 1",
        "ALTER TABLE piece RENAME TO p; CREATE VIEW piece AS SELECT * FROM p", "DROP INDEX entry_accessed",
        "DROP TABLE total; CREATE VIEW total AS SELECT 1 AS id, 0 AS count, 0 AS bytes, 1 AS next, 0 AS changes",
        "DROP TABLE draft; CREATE TABLE draft (id INTEGER PRIMARY KEY, token, process, world, touched)",
    ])
    func fileWithObjectsOfOthersIsSetAside(statements: String) async throws {
        try await folder.store(CacheEntry("a"))
        let connection = try folder.connection()
        try connection.execute("CREATE VIEW v AS SELECT 1")
        if !statements.contains(" v ") { try connection.execute("DROP VIEW v") }
        for statement in statements.components(separatedBy: "; ") where !statements.hasPrefix("CREATE TRIGGER") {
            try connection.execute(statement)
        }
        if statements.hasPrefix("CREATE TRIGGER") { try connection.execute(statements) }
        let storage = folder.storage()
        #expect(try await storage.entries("a").isEmpty)
        #expect(folder.eventNames == ["opened", "set aside", "opened"])
        guard case .databaseMoved(_, let reason)? = folder.events.read.dropFirst().first else { return }
        #expect(reason.contains("that the cache has not created"))
        try await storage.store(CacheEntry("b"))
        #expect(try await folder.storage().entries("b").count == 1)
    }

    @Test func olderFileWithATriggerIsSetAsideAndNotMigrated() async throws {
        try await folder.store(CacheEntry("a"))
        try folder.connection().execute("CREATE TRIGGER t AFTER INSERT ON entry BEGIN DELETE FROM piece; END")
        let storage = folder.storage(schema: Self.next)
        try await storage.store(CacheEntry("b"))
        #expect(try await storage.entries("b").count == 1)
        #expect(folder.eventNames == ["opened", "set aside", "opened"])
    }

    @Test func storageRecoversFromMissingTables() async throws {
        for table in ["entry", "piece", "total", "tag", "draft", "garbage"] {
            let folder = CacheFolder()
            try await folder.store(CacheEntry("a", tags: ["t"]))
            try folder.connection().execute("DROP TABLE \(table)")
            let storage = folder.storage()
            _ = try await storage.entries("a")
            _ = try await storage.size()
            try await storage.store(CacheEntry("b", body: .noise(5000), tags: ["t"]))
            let writer = try await storage.writer(for: CacheEntry("c"))
            try await writer.write(.noise(5000))
            try await writer.commit()
            #expect(try await storage.body("c") == .noise(5000), "\(table)")
            await folder.waitForSweeping(of: storage)
            #expect(folder.eventNames.count { $0 == "set aside" } == 1, "\(table)")
        }
    }

    @Test func unusableFolderIsReportedOnce() async throws {
        let file = FileManager.default.temporaryDirectory.appending(path: "sluice-\(UUID().uuidString)")
        try Data().write(to: file)
        defer { try? FileManager.default.removeItem(at: file) }
        let events = Shared<[CacheEvent]>([])
        let storage = SQLiteCacheStorage(directory: file.appending(path: "cache")) { event in
            events.change { $0.append(event) }
        }
        for _ in 0..<2 {
            let error = await cacheFailure { _ = try await storage.size() }
            #expect(error?.code == .cacheFailed)
            #expect(error?.description.contains("Not a directory") == true)
        }
        #expect(events.read.count == 1)
    }

    @Test func folderInPlaceOfTheFileFails() async throws {
        try FileManager.default.createDirectory(atPath: folder.files.database, withIntermediateDirectories: true)
        #expect(await cacheFailure { _ = try await folder.storage().size() }?.code == .cacheFailed)
    }
}

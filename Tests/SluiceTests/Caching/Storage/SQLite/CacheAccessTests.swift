import Foundation
import SluiceHTTP
import Testing

@testable import Sluice
@testable import SluiceCache

/// Folders and files that other users can change, and statements that run too long.
@Suite struct CacheAccessTests {
    private let folder = CacheFolder()

    private func setMode(_ mode: mode_t, of path: String) {
        #expect(chmod(path, mode) == 0)
    }

    @Test(
        arguments: [
            (1000, 0o700, nil), (1000, 0o755, nil), (1000, 0o500, nil), (0, 0o755, nil), (0, 0o700, nil),
            (1000, 0o720, .writable), (1000, 0o702, .writable), (1000, 0o777, .writable), (1000, 0o1777, .writable),
            (0, 0o1777, .writable), (0, 0o775, .writable), (1000, 0o4720, .writable),
            (1001, 0o700, .owned), (1001, 0o777, .owned), (65_534, 0o000, .owned),
        ] as [(uid_t, mode_t, FileAccess.Exposure?)]
    )
    func onlyTheUserAndRootMayChangeFiles(owner: uid_t, mode: mode_t, exposure: FileAccess.Exposure?) {
        #expect(FileAccess(owner: owner, mode: mode).exposure(to: 1000) == exposure)
    }

    @Test func everyModeThatLetsOthersWriteIsRefused() {
        for mode in mode_t(0)...0o7777 {
            let letsOthersWrite = mode & 0o022 != 0
            #expect((FileAccess(owner: 7, mode: mode).exposure(to: 7) == nil) == !letsOthersWrite)
            #expect(FileAccess(owner: 8, mode: mode).exposure(to: 7) == .owned)
            #expect(FileAccess(owner: 8, mode: mode).exposure(to: 0) == .owned)
        }
    }

    @Test(arguments: ["", "cache.sqlite", "cache.sqlite-wal", "cache.sqlite-shm"], [mode_t(0o020), 0o002])
    func filesThatOthersCanWriteAreRefused(name: String, bit: mode_t) async throws {
        let open = folder.storage()
        try await open.store(CacheEntry("a"))
        let path = name.isEmpty ? folder.url.path : folder.url.appending(path: name).path
        let mode: mode_t = name.isEmpty ? 0o700 : 0o600
        setMode(mode | bit, of: path)
        let storage = folder.storage()
        for _ in 0..<2 {
            let error = await cacheFailure { _ = try await storage.entries("a") }
            #expect(error?.code == .cacheFailed)
            #expect(error?.step == .cache)
            #expect(error?.reason.contains("other users can write to its \(name.isEmpty ? "folder" : "file")") == true)
            #expect(error?.reason.contains("“\(path)”") == true)
            #expect(error?.reason.contains("chmod go-w") == true)
        }
        #expect(await cacheFailure { try await storage.store(CacheEntry("b")) }?.code == .cacheFailed)
        #expect(folder.eventNames == ["opened", "unavailable"])
        // The cache is used again once others cannot write to it.
        setMode(mode, of: path)
        folder.clock.advance(by: .seconds(6))
        #expect(try await storage.entries("a").count == 1)
        withExtendedLifetime(open) {}
    }

    @Test(arguments: [true, false])
    func filesOfAnotherUserAreRefused(isFolder: Bool) async throws {
        guard geteuid() == 0 else { return }
        try await folder.storage().store(CacheEntry("a"))
        #expect(chown(isFolder ? folder.url.path : folder.files.database, 65_534, 65_534) == 0)
        let error = await cacheFailure { _ = try await folder.storage().entries("a") }
        #expect(error?.code == .cacheFailed)
        #expect(error?.reason.contains("its \(isFolder ? "folder" : "file")") == true)
        #expect(error?.reason.contains("belongs to another user") == true)
    }

    @Test func refusedFolderLeavesEntriesInMemory() async throws {
        try FileManager.default.createDirectory(at: folder.url, withIntermediateDirectories: true)
        setMode(0o777, of: folder.url.path)
        let store = CacheStore(directory: folder.url)
        _ = await cacheFailure { try await store.set(1, for: "a") }
        #expect(try await store.value(for: "a", as: Int.self) == 1)
        #expect(folder.names.isEmpty)
    }

    // MARK: Long statements

    @Test func endlessStatementIsInterrupted() async throws {
        try await folder.storage().store(CacheEntry("a"))
        let connection = try SQLiteConnection(
            path: folder.files.database,
            access: .readWrite,
            busyTimeout: 1000,
            limit: .milliseconds(300)
        )
        let endless = "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT count(*) FROM n"
        for _ in 0..<2 {
            let error = #expect(throws: SQLiteFailure.self) { try connection.execute(endless) }
            #expect(error?.message == "a statement ran for too long and was interrupted")
            #expect(error?.isCorruption == false)
            #expect(try connection.integer("SELECT count FROM total") == 1, "Later statements run.")
        }
        // The statements of a transaction have the limit each. Together they take longer.
        try connection.run("BEGIN IMMEDIATE")
        let counting =
            "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n LIMIT 2000) SELECT count(*) FROM n"
        var time = Duration.zero
        while time < .milliseconds(400) {
            let begin = ContinuousClock.now
            do {
                try connection.execute(counting)
                time += ContinuousClock.now - begin
            } catch {
                // A pause of the process can make this statement too long by itself.
                guard ContinuousClock.now - begin >= .milliseconds(300) else { throw error }
            }
        }
        try connection.run("COMMIT")
    }

    @Test func longReadIsInterruptedAndLeavesOthersAlone() async throws {
        let variants = (0..<1000).map { CacheChange.store(CacheEntry("many", variant: "\($0)", body: Data())) }
        try await folder.storage().apply(variants + [.store(CacheEntry("one"))])
        let storage = folder.storage { $0.readLimit = .zero }
        for _ in 0..<2 {
            let error = await cacheFailure { _ = try await storage.entries("many") }
            #expect(error?.code == .cacheFailed)
            #expect(error?.reason.contains("ran for too long") == true)
            #expect(try await storage.entries("one").count == 1)
        }
        #expect(try await folder.storage().entries("many").count == 1000, "The file is not set aside.")
    }

    @Test func longWriteIsInterruptedAndRolledBack() async throws {
        try await folder.storage().apply((0..<1000).map { .store(CacheEntry("\($0)", tags: ["t"])) })
        let storage = folder.storage { $0.statementLimit = .zero }
        var tag = CacheSelection()
        tag.tag = "t"
        let error = await cacheFailure { try await storage.apply([.remove(tag)]) }
        #expect(error?.reason.contains("ran for too long") == true)
        #expect(try folder.count("entry") == 1000)
        try await folder.storage().apply([.remove(tag)])
        #expect(try folder.count("entry") == 0)
    }

    @Test func limitBeginsWithTheFirstQuestion() {
        var watch = StatementWatch(.nanoseconds(100))
        let answers = [1000, 1099, 1100, 5000].map { watch.isOverdue(now: $0) }
        #expect(answers == [false, false, true, true])
        watch.restart()
        #expect([6000, 6099, 6100].map { watch.isOverdue(now: $0) } == [false, false, true])
    }
}

import Foundation
import SluiceTesting
import XCTest

/// A SQLite cache that several processes share, each of which may be killed at any moment.
final class CacheProcessTests: XCTestCase {
    private let folder = FileManager.default.temporaryDirectory.appending(path: "sluice-\(UUID().uuidString)")

    override func tearDown() {
        chmod(folder.path, 0o700)
        try? FileManager.default.removeItem(at: folder)
    }

    func testKilledProcessLeavesValidCache() throws {
        let seed = UInt64.random(in: 0 ... .max / 8)
        print("The times of the kills follow from seed \(seed).")
        var random = SeededGenerator(seed: seed)
        var entries = 0
        for kill in 0..<20 {
            let writing = try RunningProgram("CacheProcess", "write", folder.path, "\(seed &+ UInt64(kill))")
            // The state of the killed process is random: it does not wait for its lines to be read.
            for _ in 0..<Int.random(in: 1...60, using: &random) { _ = writing.line() }
            writing.kill()
            let check = try RunningProgram("CacheProcess", "check", folder.path).end()
            XCTAssertEqual(check.status, 0, "seed \(seed), kill \(kill): \(check.lines)")
            XCTAssertFalse(check.lines.contains { $0.contains("Moved the unusable cache") }, "\(check.lines)")
            entries += check.lines.last.flatMap { Int($0.dropFirst(6)) } ?? 0
        }
        XCTAssertGreaterThan(entries, 20, "the process has written entries")
    }

    func testTwoProcessesShareCacheUnderLoad() throws {
        let processes = try (1...2).map { try RunningProgram("CacheProcess", "stress", folder.path, "\($0)") }
        for process in processes {
            let end = process.end()
            XCTAssertEqual(end.status, 0, "\(end.lines)")
            XCTAssertEqual(end.lines.filter { $0.hasPrefix("stressed") }.count, 1, "\(end.lines)")
            XCTAssertFalse(end.lines.contains { $0.contains("Moved the unusable cache") }, "\(end.lines)")
        }
        let check = try RunningProgram("CacheProcess", "check", folder.path).end()
        XCTAssertEqual(check.status, 0, "\(check.lines)")
    }

    func testTwoProcessesReplaceCorruptFileOnce() throws {
        for isCorruptBefore in [true, false] {
            let folder = folder.appending(path: "\(isCorruptBefore)")
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            let file = folder.appending(path: "cache.sqlite")
            if isCorruptBefore { try Data.random(100_000, seed: 1).write(to: file) }
            let processes = try (0..<2).map { try RunningProgram("CacheProcess", "share", folder.path, "\($0)") }
            for process in processes { XCTAssertEqual(process.lines(until: "ready").last, "ready") }
            if !isCorruptBefore {
                // Both processes have the cache open. A check leaves no data in the log that would hide the damage.
                XCTAssertEqual(try RunningProgram("CacheProcess", "check", folder.path).end().status, 0)
                let handle = try FileHandle(forWritingTo: file)
                try handle.write(contentsOf: Data.random(100_000, seed: 2))
                try handle.close()
            }
            for process in processes { process.proceed() }
            for process in processes { XCTAssertEqual(process.lines(until: "stored").last, "stored") }
            for process in processes { process.proceed() }
            for process in processes {
                let end = process.end()
                XCTAssertEqual(end.lines.last, "shared", "\(isCorruptBefore)")
            }
            let aside = try FileManager.default.contentsOfDirectory(atPath: folder.path).filter {
                $0.contains("corrupt") && !$0.contains("-wal") && !$0.contains("-shm")
            }
            XCTAssertEqual(aside.count, 1, "\(aside)")
        }
    }

    func testReadsCacheThatIsNotWritable() throws {
        let sharing = try RunningProgram("CacheProcess", "share", folder.path, "0")
        XCTAssertEqual(sharing.lines(until: "ready").last, "ready")
        sharing.proceed()
        XCTAssertEqual(sharing.lines(until: "stored").last, "stored")
        sharing.kill()
        try makeReadOnly()
        let reading = try RunningProgram("CacheProcess", "read", folder.path).end()
        XCTAssertEqual(
            reading.lines.filter { !$0.hasPrefix("event") },
            ["found [1]", "refused: cacheFailed", "found [1]"]
        )
        // Restores write access, and moves the content of the write-ahead log to the file.
        chmod(folder.path, 0o700)
        for name in try FileManager.default.contentsOfDirectory(atPath: folder.path) {
            chmod(folder.appending(path: name).path, 0o600)
        }
        _ = try RunningProgram("CacheProcess", "check", folder.path).end()
        let writing = try RunningProgram("CacheProcess", "write", folder.path, "1")
        for _ in 0..<10 { _ = writing.line() }
        writing.kill()
        try makeReadOnly()
        XCTAssertEqual(try RunningProgram("CacheProcess", "read", folder.path).end().status, 0)
    }

    /// Makes the files read-only for all users, so that a test running as root can drop its privileges.
    private func makeReadOnly() throws {
        for name in try FileManager.default.contentsOfDirectory(atPath: folder.path) {
            chmod(folder.appending(path: name).path, 0o444)
        }
        chmod(folder.path, 0o555)
    }
}

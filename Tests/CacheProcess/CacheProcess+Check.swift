import CSQLite
import Foundation
import Sluice

extension CacheProcess {
    /// Reads every entry, and compares the stored totals with the entries.
    func check() async throws {
        var count = 0
        for number in 0..<SelfVerifying.count {
            count += try SelfVerifying.counters(of: await storage.entries(for: SelfVerifying.key(number), at: Date()))
                .count
        }
        let size = try await storage.size()
        let counted = try counted()
        guard size.count == count, size == counted else {
            throw Failure(
                reason:
                    "\(count) entries are valid, the stored totals are \(size), and the counted totals are \(counted)"
            )
        }
        Self.write("whole \(count)")
    }

    /// Returns the totals, and runs SQLite's integrity check.
    private func counted() throws -> CacheSize {
        var database: OpaquePointer?
        defer { sqlite3_close_v2(database) }
        let path = directory.appending(path: "cache.sqlite").path
        guard sqlite3_open_v2(path, &database, SQLITE_OPEN_READWRITE, nil) == SQLITE_OK else {
            throw Failure(reason: "cannot open \(path)")
        }
        sqlite3_busy_timeout(database, 5000)
        var isOn: Int32 = 1
        sqlite3_file_control(database, "main", SQLITE_FCNTL_PERSIST_WAL, &isOn)
        let integrity = try row("PRAGMA integrity_check", of: database)
        guard integrity.first == "ok" else { throw Failure(reason: "\(integrity)") }
        _ = try row("PRAGMA wal_checkpoint(TRUNCATE)", of: database)
        let counted = try row("SELECT COUNT(*), CAST(TOTAL(size) AS INTEGER) FROM entry", of: database)
        guard counted.count == 2, let count = Int(counted[0]), let bytes = Int(counted[1]) else {
            throw Failure(reason: "cannot count")
        }
        return CacheSize(bytes: bytes, count: count)
    }

    private func row(_ sql: String, of database: OpaquePointer?) throws -> [String] {
        var statement: OpaquePointer?
        defer { sqlite3_finalize(statement) }
        guard
            sqlite3_prepare_v2(database, sql, -1, &statement, nil) == SQLITE_OK,
            sqlite3_step(statement) == SQLITE_ROW
        else { throw Failure(reason: String(cString: sqlite3_errmsg(database))) }
        return (0..<sqlite3_column_count(statement)).map { column in
            sqlite3_column_text(statement, column).map { String(cString: $0) } ?? ""
        }
    }
}

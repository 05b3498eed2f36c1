#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

extension CacheTransaction {
    /// Removes some of the expired entries, or else of the least recently used ones.
    ///
    /// - Parameters:
    ///   - limits: The limits.
    ///   - now: The current time.
    /// - Returns: The number of removed entries.
    /// - Throws: An error if entries cannot be removed.
    mutating func evict(to limits: CacheLimits, at now: Date) throws(SQLiteFailure) -> Int {
        // Removals need space in the log too.
        let limit = isRetry ? min(8, tuning.stepCount) : tuning.stepCount
        let time = now.column ?? 0
        let expired = try rows(
            "SELECT id, size FROM entry WHERE expires <= ? ORDER BY expires LIMIT ?",
            [.real(time)],
            limit
        )
        if !expired.isEmpty { return try discard(expired) { _, _ in false } }
        let size = try CacheSize(totalOf: connection)
        let isWithin = { (count: Int, bytes: Int) in
            (limits.count.map { size.count &- count <= $0 } ?? true)
                && (limits.bytes.map { size.bytes &- bytes <= $0 } ?? true)
        }
        if isWithin(0, 0) { return 0 }
        // Entries with an access time in the future come first. A clock was wrong, and they would stay until that time.
        var rows = try rows(
            "SELECT id, size FROM entry WHERE accessed > ? ORDER BY accessed LIMIT ?",
            [.real(time + Self.clockTolerance)],
            limit
        )
        if rows.count < limit {
            rows += try self.rows(
                "SELECT id, size FROM entry WHERE accessed <= ? ORDER BY accessed LIMIT ?",
                [.real(time + Self.clockTolerance)],
                limit - rows.count
            )
        }
        if rows.isEmpty {
            // The table is empty, whatever the totals say.
            countNothing()
        }
        return try discard(rows, until: isWithin)
    }

    /// The tolerance for differences between the clocks of processes that share a cache, in seconds.
    private static let clockTolerance = 3600.0

    private mutating func discard(
        _ rows: [(number: Int64, size: Int64)],
        until isEnough: (_ count: Int, _ bytes: Int) -> Bool
    ) throws(SQLiteFailure) -> Int {
        var (count, bytes) = (0, 0)
        for row in rows where !isEnough(count, bytes) && bytes < tuning.stepBytes {
            try discard(row.number, size: row.size)
            count += 1
            bytes &+= Int(clamping: row.size)
        }
        leavesWork = leavesWork || count > 0
        return count
    }
}

extension CacheSize {
    /// Reads the totals of a cache.
    init(totalOf connection: SQLiteConnection) throws(SQLiteFailure) {
        let statement = try connection.statement("SELECT count, bytes FROM total WHERE id = 1")
        defer { statement.reset() }
        guard try statement.step() else { throw .malformed("The total") }
        self.init(
            bytes: Int(clamping: max(0, statement.integer(1))),
            count: Int(clamping: max(0, statement.integer(0)))
        )
    }
}

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

extension CacheTransaction {
    /// Removes some of what is gone, or else of what nobody has asked for the longest.
    ///
    /// - Parameters:
    ///   - limits: What there may be.
    ///   - now: The time.
    /// - Returns: How many it removed.
    /// - Throws: Why it could not.
    mutating func evict(to limits: CacheLimits, at now: Date) throws(SQLiteFailure) -> Int {
        // To remove takes room too, in the log.
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
        // Asked for in the future: a clock was wrong, and they would stay for as long as it was.
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
            // There is nothing, whatever the total says.
            countNothing()
        }
        return try discard(rows, until: isWithin)
    }

    /// In seconds: by how much the clocks of those who share a cache may differ.
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
    /// What a cache's entries come to.
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

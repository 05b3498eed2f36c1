#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

extension CacheTransaction {
    /// Removes the selected entries.
    ///
    /// - Parameters:
    ///   - selection: The entries to remove.
    ///   - limit: The maximum number of entries to remove; nil for all.
    /// - Returns: True if there may be more.
    /// - Throws: An error if entries cannot be removed.
    mutating func remove(_ selection: CacheSelection, atMost limit: Int? = nil) throws(SQLiteFailure) -> Bool {
        guard let condition = Condition(selection) else { return false }
        isChange = true
        if condition.isAll {
            try removeAll()
            return false
        }
        let sql = "SELECT id, size FROM entry WHERE \(condition.sql) LIMIT ?"
        let rows = try rows(sql, condition.values, tuning.removalCount + 1)
        if rows.count > tuning.removalCount { return try removeMany(condition, atMost: limit ?? .max) }
        for row in rows { try discard(row.number, size: row.size) }
        return false
    }

    /// Removes all entries. Drafts are removed too, because they were begun before the removal.
    private mutating func removeAll() throws(SQLiteFailure) {
        // No entry has a number greater than this one.
        let last = try newNumber()
        for table in ["garbage", "draft", "tag", "entry"] {
            // Without a condition, SQLite drops entire pages instead of rows.
            try connection.execute("DELETE FROM \(table)")
        }
        try connection.run("INSERT INTO garbage VALUES (0, ?1)", .integer(last))
        countNothing()
        leavesWork = true
    }

    /// Removes rows, and leaves their pieces for the sweep.
    private mutating func removeMany(_ condition: Condition, atMost limit: Int) throws(SQLiteFailure) -> Bool {
        try connection.execute("CREATE TEMP TABLE IF NOT EXISTS doomed (id INTEGER PRIMARY KEY, size INTEGER)")
        try connection.execute("DELETE FROM doomed")
        try connection.withStatement(
            "INSERT INTO doomed SELECT id, size FROM entry WHERE \(condition.sql) LIMIT ?",
            condition.values + [.integer(Int64(limit))]
        ) { statement throws(SQLiteFailure) in try statement.run() }
        for sql in [
            "INSERT OR REPLACE INTO garbage SELECT id, id FROM doomed",
            "DELETE FROM tag WHERE entry IN (SELECT id FROM doomed)",
            "DELETE FROM entry WHERE id IN (SELECT id FROM doomed)",
        ] {
            try connection.execute(sql)
        }
        let entries = try connection.integer("SELECT COUNT(*) FROM doomed") ?? 0
        count(removed: try connection.integer("SELECT TOTAL(size) FROM doomed") ?? 0, entries: entries)
        try connection.execute("DELETE FROM doomed")
        leavesWork = true
        return entries == limit
    }

    func rows(
        _ sql: String,
        _ values: [SQLiteStatement.Value],
        _ limit: Int
    ) throws(SQLiteFailure) -> [(number: Int64, size: Int64)] {
        try connection.withStatement(sql, values + [.integer(Int64(limit))]) { statement throws(SQLiteFailure) in
            var rows: [(number: Int64, size: Int64)] = []
            while try statement.step() { rows.append((statement.integer(0), statement.integer(1))) }
            return rows
        }
    }

    /// A selection as SQL. The SQL text consists of constants only; the selection's values are bound.
    private struct Condition {
        var sql: String
        var values: [SQLiteStatement.Value] = []
        let isAll: Bool

        /// Creates a condition; nil if the selection is empty.
        init?(_ selection: CacheSelection) {
            let spaces = selection.spaces ?? Set(CacheKey.Space.allCases)
            if spaces.isEmpty { return nil }
            // The condition names all spaces, so that SQLite can use the key index, which begins with the space. With a
            // tag or an expiration, `+` disables that index, because another index selects fewer rows.
            let isByKey = selection.tag == nil && selection.expired == nil
            sql = "\(isByKey ? "" : "+")space IN (\(spaces.map { "\($0.rawValue)" }.sorted().joined(separator: ", ")))"
            let columns = [
                ("partition", selection.partition), ("name", selection.name), ("variant", selection.variant),
            ]
            for case (let column, let value?) in columns {
                sql += " AND \(isByKey ? "" : "+")\(column) = ?"
                values.append(.string(value))
            }
            if let tag = selection.tag {
                sql += " AND id IN (SELECT entry FROM tag WHERE tag.name = ?)"
                values.append(.string(tag))
            }
            if let expired = selection.expired {
                sql += " AND expires <= ?"
                values.append(.real(expired.timeIntervalSinceReferenceDate))
            }
            isAll = values.isEmpty && spaces.count == CacheKey.Space.allCases.count
        }
    }
}

extension CacheTransaction {
    /// Removes entries that do not match their checksums.
    mutating func removeBroken(_ numbers: [Int64]) throws(SQLiteFailure) {
        for number in numbers {
            guard let size = try connection.integer("SELECT size FROM entry WHERE id = ?1", .integer(number)) else {
                continue
            }
            try discard(number, size: size)
        }
    }
}

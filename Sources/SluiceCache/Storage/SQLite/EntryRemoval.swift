import SluiceFoundation
import SluiceHTTP

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
        resetTotals()
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

    /// Removes entries that do not match their checksums, unless they have been replaced.
    mutating func removeBroken(_ entries: [BrokenEntry]) throws(SQLiteFailure) {
        for entry in entries {
            let size = try connection.integer(
                "SELECT size FROM entry WHERE id = ?1 AND checksum = ?2 AND seal = ?3",
                .integer(entry.number),
                .integer(entry.checksum),
                .integer(entry.seal)
            )
            if let size { try discard(entry.number, size: size) }
        }
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

// MARK: - Eviction

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
            resetTotals()
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

// MARK: - Sweeping

extension CacheTransaction {
    /// Removes some of the pieces that belong to no entry.
    ///
    /// - Returns: True if there may be more.
    /// - Throws: An error if pieces cannot be removed.
    func sweep() throws(SQLiteFailure) -> Bool {
        var (count, bytes) = (0, Int64(0))
        while count < tuning.stepCount, bytes < tuning.stepBytes {
            guard let range = try garbage() else { return false }
            let pieces = try Self.pieces(of: range)
            let some = try somePieces(in: pieces, tuning.stepCount - count, tuning.stepBytes - Int(clamping: bytes))
            try connection.run(
                "DELETE FROM piece WHERE id >= ?1 AND id <= ?2",
                .integer(pieces.lowerBound),
                .integer(some.last)
            )
            try connection.run("DELETE FROM garbage WHERE low = ?1", .integer(range.lowerBound))
            if some.last < pieces.upperBound {
                try connection.run(
                    "INSERT OR REPLACE INTO garbage VALUES (?1, ?2)",
                    .integer(some.last >> CacheSchema.pieceBits),
                    .integer(range.upperBound)
                )
            }
            count += max(1, some.count)
            bytes &+= some.bytes
        }
        return true
    }

    /// Returns the first pieces of a range, up to a count and a size. `last` is the end of the range if it has no
    /// further pieces.
    private func somePieces(
        in range: ClosedRange<Int64>,
        _ countLimit: Int,
        _ byteLimit: Int
    ) throws(SQLiteFailure) -> (count: Int, bytes: Int64, last: Int64) {
        let statement = try connection.statement(
            "SELECT id, length(bytes) FROM piece WHERE id >= ?1 AND id <= ?2 ORDER BY id"
        )
        defer { statement.reset() }
        try statement.bind(.integer(range.lowerBound), .integer(range.upperBound))
        var (count, bytes, last) = (0, Int64(0), range.lowerBound)
        while try statement.step() {
            if count == countLimit || bytes >= byteLimit { return (count, bytes, last) }
            last = statement.integer(0)
            bytes &+= max(0, statement.integer(1))
            count += 1
        }
        return (count, bytes, range.upperBound)
    }

    private func garbage() throws(SQLiteFailure) -> ClosedRange<Int64>? {
        let statement = try connection.statement("SELECT low, high FROM garbage LIMIT 1")
        defer { statement.reset() }
        guard try statement.step() else { return nil }
        let (low, high) = (statement.integer(0), statement.integer(1))
        guard low <= high else { throw .malformed("a range of removed entries") }
        return low...high
    }
}

extension SQLiteConnection {
    /// Returns some free pages to the file system, if there are so many that they will not be reused soon.
    ///
    /// - Returns: True if there may be more.
    /// - Throws: An error if pages cannot be returned.
    func releasePages() throws(SQLiteFailure) -> Bool {
        let free = try integer("PRAGMA freelist_count") ?? 0
        let all = try integer("PRAGMA page_count") ?? 0
        guard free > 256 + all / 4 else { return false }
        try run("PRAGMA incremental_vacuum(128)")
        return true
    }
}

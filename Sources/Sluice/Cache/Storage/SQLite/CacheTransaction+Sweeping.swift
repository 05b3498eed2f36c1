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
        guard low <= high else { throw .malformed("A range") }
        return low...high
    }
}

extension SQLiteConnection {
    /// Returns some free pages to the file system, if there are so many that they will not be reused soon.
    ///
    /// - Returns: True if there may be more.
    /// - Throws: An error if pages cannot be returned.
    func giveBackPages() throws(SQLiteFailure) -> Bool {
        let free = try integer("PRAGMA freelist_count") ?? 0
        let all = try integer("PRAGMA page_count") ?? 0
        guard free > 256 + all / 4 else { return false }
        try run("PRAGMA incremental_vacuum(128)")
        return true
    }
}

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

extension CacheTransaction {
    /// The columns of an entry's row that depend on its data.
    struct Row {
        let head: Int
        let length: Int64
        let checksum: Int64

        /// Returns the size that the entry counts as.
        func size(of entry: CacheEntry) -> Int64 {
            let key = entry.key.partition.utf8.count + entry.key.name.utf8.count + entry.variant.utf8.count
            return Int64(key + head) + length
        }
    }

    /// Stores an entry, which replaces the one with its key and variant.
    mutating func store(_ entry: CacheEntry) throws(SQLiteFailure) {
        let head = EntryHead(entry).encoded
        var checksum = EntryChecksum(entry.key, variant: entry.variant)
        head.withUnsafeBytes { checksum.add($0) }
        entry.body.withUnsafeBytes { checksum.add($0) }
        let number = try newNumber()
        var first = head
        first.append(contentsOf: entry.body.prefix(max(0, tuning.pieceSize - head.count)))
        try first.withUnsafeBytes { bytes in
            Result { () throws(SQLiteFailure) in try insert(bytes, as: 0, of: number) }
        }.get()
        var rest = entry.body.dropFirst(first.count - head.count)
        var place: Int64 = 1
        while !rest.isEmpty {
            try insert(rest.prefix(tuning.pieceSize), as: place, of: number)
            rest = rest.dropFirst(tuning.pieceSize)
            place += 1
        }
        let row = Row(head: head.count, length: Int64(entry.body.count), checksum: checksum.value)
        try insert(row, of: entry, as: number)
    }

    /// Makes an entry visible whose pieces have been inserted.
    mutating func insert(_ row: Row, of entry: CacheEntry, as number: Int64) throws(SQLiteFailure) {
        try removeWhatIsUnderTheKey(of: entry)
        let size = row.size(of: entry)
        let expires = entry.expires.flatMap(\.column)
        try connection.run(
            "INSERT INTO entry VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?6, ?7, ?8, ?9, ?10, ?11, ?12)",
            .integer(number),
            .integer(Int64(entry.key.space.rawValue)),
            .string(entry.key.partition),
            .string(entry.key.name),
            .string(entry.variant),
            .real(entry.stored.column ?? 0),
            expires.map { .real($0) } ?? .null,
            .integer(size),
            .integer(Int64(row.head)),
            .integer(row.length),
            .integer(row.checksum),
            .integer(EntryChecksum(entry.key, variant: entry.variant).seal(until: expires))
        )
        for tag in entry.tags {
            try connection.run("INSERT OR IGNORE INTO tag VALUES (?1, ?2)", .string(tag), .integer(number))
        }
        count(added: size)
        isChange = true
    }

    func insert(_ piece: Data, as place: Int64, of number: Int64) throws(SQLiteFailure) {
        try piece.withUnsafeBytes { bytes in
            Result { () throws(SQLiteFailure) in try insert(bytes, as: place, of: number) }
        }.get()
    }

    func insert(_ bytes: UnsafeRawBufferPointer, as place: Int64, of number: Int64) throws(SQLiteFailure) {
        let pieces = try Self.pieces(of: number...number)
        guard place < pieces.upperBound - pieces.lowerBound else {
            throw SQLiteFailure.tooLarge
        }
        let statement = try connection.statement("INSERT INTO piece VALUES (?1, ?2)")
        defer { statement.reset() }
        try statement.bind(.integer(pieces.lowerBound + place))
        try statement.bind(staying: bytes, at: 2)
        _ = try statement.step()
    }

    private mutating func removeWhatIsUnderTheKey(of entry: CacheEntry) throws(SQLiteFailure) {
        let statement = try connection.statement(
            "SELECT id, size FROM entry WHERE space = ?1 AND partition = ?2 AND name = ?3 AND variant = ?4"
        )
        try statement.bind(CacheTransaction.key(entry.key, variant: entry.variant))
        // The statement must be reset before the row is deleted.
        let old: (number: Int64, size: Int64)?
        do throws(SQLiteFailure) {
            old = try statement.step() ? (statement.integer(0), statement.integer(1)) : nil
            statement.reset()
        } catch {
            statement.reset()
            throw error
        }
        if let old { try discard(old.number, size: old.size) }
    }

    /// Records an access to an entry and its new expiration, unless the entry has been replaced.
    func touch(
        _ key: CacheKey,
        variant: String,
        of stored: Date?,
        accessed: Date,
        expires: Date?
    ) throws(SQLiteFailure) {
        let expires = expires.flatMap(\.column)
        try connection.run(
            """
            UPDATE entry SET accessed = ?5, expires = ?6, seal = ?7
            WHERE space = ?1 AND partition = ?2 AND name = ?3 AND variant = ?4 AND (?8 IS NULL OR stored = ?8)
            """,
            .integer(Int64(key.space.rawValue)),
            .string(key.partition),
            .string(key.name),
            .string(variant),
            .real(accessed.column ?? 0),
            expires.map { .real($0) } ?? .null,
            .integer(EntryChecksum(key, variant: variant).seal(until: expires)),
            stored.flatMap(\.column).map { .real($0) } ?? .null
        )
    }

    static func key(_ key: CacheKey, variant: String) -> [SQLiteStatement.Value] {
        [.integer(Int64(key.space.rawValue)), .string(key.partition), .string(key.name), .string(variant)]
    }
}

extension Date {
    /// The column value; nil for NaN, which SQLite does not support.
    var column: Double? {
        timeIntervalSinceReferenceDate.isNaN ? nil : timeIntervalSinceReferenceDate
    }
}

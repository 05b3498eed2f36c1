import SluiceFoundation
import SluiceHTTP

/// The stored entries for a key.
struct EntryLookup: Sendable {
    /// The entries, newest first.
    var entries: [CacheEntry] = []
    /// The numbers of the entries that do not match their checksums and have to be removed.
    var broken: [Int64] = []

    /// Reads the entries.
    ///
    /// - Parameters:
    ///   - key: The key.
    ///   - now: The current time. Expired entries are omitted.
    ///   - connection: The connection.
    /// - Throws: An error if the database cannot be read.
    init(_ key: CacheKey, at now: Date, in connection: SQLiteConnection) throws(SQLiteFailure) {
        let statement = try connection.statement(
            """
            SELECT e.id, e.variant, e.expires, e.head, e.length, e.checksum, e.seal, p.bytes
            FROM entry e LEFT JOIN piece p ON p.id = e.id * 1048576
            WHERE e.space = ?1 AND e.partition = ?2 AND e.name = ?3 AND (e.expires IS NULL OR e.expires > ?4)
            """
        )
        // Until the reset, all reads of the connection see the same snapshot.
        defer { statement.reset() }
        try statement.bind(
            .integer(Int64(key.space.rawValue)),
            .string(key.partition),
            .string(key.name),
            .real(now.timeIntervalSinceReferenceDate)
        )
        var numbers: [Int64] = []
        while try statement.step() {
            let number = statement.integer(0)
            if let entry = try Self.entry(of: key, in: statement, of: connection) {
                entries.append(entry)
                numbers.append(number)
            } else {
                broken.append(number)
            }
        }
        guard entries.count > 1 else { return }
        let order = entries.indices.sorted {
            (entries[$0].stored, numbers[$0]) > (entries[$1].stored, numbers[$1])
        }
        entries = order.map { entries[$0] }
    }

    /// Returns the entry in a row; nil if it does not match its checksums.
    private static func entry(
        of key: CacheKey,
        in row: SQLiteStatement,
        of connection: SQLiteConnection
    ) throws(SQLiteFailure) -> CacheEntry? {
        let variant = row.string(1)
        let expires = row.real(2)
        let (headCount, length) = (row.integer(3), row.integer(4))
        var checksum = EntryChecksum(key, variant: variant)
        guard checksum.seal(until: expires) == row.integer(6) else { return nil }
        let first = row.bytes(7)
        guard let end = Int(exactly: headCount), end > 0, end <= first.count, length >= 0 else { return nil }
        let headBytes = UnsafeRawBufferPointer(rebasing: first[..<end])
        checksum.add(first)
        var body = Data(first[end...])
        if body.count < length {
            try append(piecesOf: row.integer(0), upTo: length, to: &body, &checksum, in: connection)
        }
        guard body.count == length, checksum.value == row.integer(5), let head = EntryHead(headBytes) else {
            return nil
        }
        return CacheEntry(
            key: key,
            variant: variant,
            response: head.response,
            body: body,
            stored: head.stored,
            expires: expires.map { Date(timeIntervalSinceReferenceDate: $0) },
            renewal: head.renewal,
            tags: head.tags,
            memory: head.memory
        )
    }

    private static func append(
        piecesOf number: Int64,
        upTo length: Int64,
        to body: inout Data,
        _ checksum: inout EntryChecksum,
        in connection: SQLiteConnection
    ) throws(SQLiteFailure) {
        guard let pieces = try? CacheTransaction.pieces(of: number...number) else { return }
        // The length may be wrong, so the reserved capacity is limited.
        body.reserveCapacity(Int(min(length, 64 << 20)))
        let statement = try connection.statement("SELECT bytes FROM piece WHERE id > ?1 AND id <= ?2 ORDER BY id")
        defer { statement.reset() }
        try statement.bind(.integer(pieces.lowerBound), .integer(pieces.upperBound))
        while try statement.step(), body.count <= length {
            let bytes = statement.bytes(0)
            checksum.add(bytes)
            body.append(contentsOf: bytes)
        }
    }
}

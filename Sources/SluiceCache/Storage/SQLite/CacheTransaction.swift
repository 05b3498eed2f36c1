import SluiceFoundation
import SluiceHTTP
import SluiceLibc

/// An atomic set of changes to a cache, including its totals.
struct CacheTransaction {
    let connection: SQLiteConnection
    let tuning: CacheTuning
    /// True if an earlier attempt failed because the disk was full.
    let isRetry: Bool
    /// True if the transaction left pieces to sweep or pages to return.
    var leavesWork = false
    /// True if other processes must drop their entries in memory. Evictions do not count, because evicted entries were
    /// valid.
    var isChange = false
    private var change = CacheSize()
    private var isEmptied = false
    private var next: Int64?

    /// Begins a transaction. Waits until no other process writes.
    init(_ connection: SQLiteConnection, _ tuning: CacheTuning, isRetry: Bool) throws(SQLiteFailure) {
        self.connection = connection
        self.tuning = tuning
        self.isRetry = isRetry
        // A transaction that begins as a read fails if another process writes before its first write.
        try connection.run("BEGIN IMMEDIATE")
    }

    /// Commits the transaction and updates the totals.
    func commit() throws(SQLiteFailure) {
        if isEmptied { try connection.run("UPDATE total SET count = 0, bytes = 0 WHERE id = 1") }
        if change != CacheSize() {
            try connection.run(
                "UPDATE total SET count = max(0, count + ?1), bytes = max(0, bytes + ?2) WHERE id = 1",
                .integer(Int64(change.count)),
                .integer(Int64(change.bytes))
            )
        }
        if isChange { try connection.run("UPDATE total SET changes = (changes + 1) & 4294967295 WHERE id = 1") }
        if let next { try connection.run("UPDATE total SET next = ?1 WHERE id = 1", .integer(next)) }
        try connection.run("COMMIT")
    }

    /// Returns a number that no entry has had.
    mutating func newNumber() throws(SQLiteFailure) -> Int64 {
        let number: Int64
        if let next {
            number = next
        } else {
            guard let next = try connection.integer("SELECT next FROM total WHERE id = 1") else {
                throw .malformed("the total")
            }
            number = next
        }
        guard number > 0, number < CacheSchema.entryLimit else { throw .malformed("the next entry number") }
        next = number + 1
        return number
    }

    mutating func count(added bytes: Int64) {
        change.count &+= 1
        change.bytes &+= Int(clamping: bytes)
    }

    mutating func count(removed bytes: Int64, entries: Int64 = 1) {
        change.count &-= Int(clamping: entries)
        change.bytes &-= Int(clamping: bytes)
    }

    /// Sets the totals to zero, before further changes are counted.
    mutating func resetTotals() {
        change = CacheSize()
        isEmptied = true
    }

    /// Removes an entry. The pieces of a small entry are removed at once, those of a large one later.
    mutating func discard(_ number: Int64, size: Int64) throws(SQLiteFailure) {
        try discardRow(number, size: size)
        try discardPieces(of: number, isLarge: size > tuning.stepBytes)
    }

    private mutating func discardRow(_ number: Int64, size: Int64) throws(SQLiteFailure) {
        try connection.run("DELETE FROM entry WHERE id = ?1", .integer(number))
        try connection.run("DELETE FROM tag WHERE entry = ?1", .integer(number))
        count(removed: size)
    }

    mutating func discardPieces(of number: Int64, isLarge: Bool) throws(SQLiteFailure) {
        if isLarge {
            try connection.run("INSERT OR REPLACE INTO garbage VALUES (?1, ?1)", .integer(number))
            leavesWork = true
        } else {
            try discardPieces(from: 0, of: number)
        }
    }

    /// Removes the pieces of an entry from a position to the end.
    private func discardPieces(from position: Int64, of number: Int64) throws(SQLiteFailure) {
        let pieces = try Self.pieces(of: number...number)
        try connection.run(
            "DELETE FROM piece WHERE id >= ?1 AND id <= ?2",
            .integer(pieces.lowerBound + position),
            .integer(pieces.upperBound)
        )
    }

    /// Returns the range of the piece numbers of some entries.
    static func pieces(of numbers: ClosedRange<Int64>) throws(SQLiteFailure) -> ClosedRange<Int64> {
        guard numbers.lowerBound >= 0, numbers.upperBound < CacheSchema.entryLimit else {
            throw .malformed("an entry number")
        }
        return numbers.lowerBound << CacheSchema.pieceBits...(numbers.upperBound + 1) << CacheSchema.pieceBits - 1
    }
}

extension CacheSize {
    init(totalOf connection: SQLiteConnection) throws(SQLiteFailure) {
        let statement = try connection.statement("SELECT count, bytes FROM total WHERE id = 1")
        defer { statement.reset() }
        guard try statement.step() else { throw .malformed("the total") }
        self.init(
            bytes: Int(clamping: max(0, statement.integer(1))),
            count: Int(clamping: max(0, statement.integer(0)))
        )
    }
}

// MARK: - Storing

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

    /// Stores an entry, which replaces the one with its key and variant. Pieces of the body that are stored already are not
    /// written again, so that the confirmation of a large response writes its first piece only.
    mutating func store(_ entry: CacheEntry) throws(SQLiteFailure) {
        let head = EntryHead(entry).encoded()
        var checksum = EntryChecksum(entry.key, variant: entry.variant)
        head.withUnsafeBytes { checksum.add($0) }
        entry.body.withUnsafeBytes { checksum.add($0) }
        let previous = try previousWithPieces(like: entry)
        let number = if let previous { previous } else { try newNumber() }
        var first = Data(head)
        first.append(entry.body.prefix(tuning.pieceSize))
        try insert(first, as: 0, of: number)
        var rest = entry.body.dropFirst(tuning.pieceSize)
        var position: Int64 = 1
        while !rest.isEmpty {
            let piece = rest.prefix(tuning.pieceSize)
            let isKept = previous == nil ? false : try isStored(piece, as: position, of: number)
            if !isKept { try insert(piece, as: position, of: number) }
            rest = rest.dropFirst(piece.count)
            position += 1
        }
        if previous != nil { try discardPieces(from: position, of: number) }
        let row = Row(head: head.count, length: Int64(entry.body.count), checksum: checksum.value)
        try insert(row, of: entry, as: number)
    }

    /// Removes the row of the entry that another one replaces, if both have several pieces and the new one is not
    /// shorter.
    ///
    /// - Returns: The number of the entry, whose pieces remain; nil if there is none.
    private mutating func previousWithPieces(like entry: CacheEntry) throws(SQLiteFailure) -> Int64? {
        guard entry.body.count > tuning.pieceSize, let previous = try previous(of: entry),
            (Int64(tuning.pieceSize + 1)...Int64(entry.body.count)).contains(previous.length)
        else { return nil }
        try discardRow(previous.number, size: previous.size)
        return previous.number
    }

    /// Makes an entry visible whose pieces have been inserted.
    mutating func insert(_ row: Row, of entry: CacheEntry, as number: Int64) throws(SQLiteFailure) {
        if let previous = try previous(of: entry) { try discard(previous.number, size: previous.size) }
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

    /// Writes a piece, in the place of a previous one at its position.
    func insert(_ piece: Data, as position: Int64, of number: Int64) throws(SQLiteFailure) {
        let statement = try connection.statement("INSERT OR REPLACE INTO piece VALUES (?1, ?2)")
        _ = try step(statement, piece, as: position, of: number)
    }

    /// Returns true if the entry has a piece with these bytes at a position.
    private func isStored(_ piece: Data, as position: Int64, of number: Int64) throws(SQLiteFailure) -> Bool {
        let statement = try connection.statement("SELECT 1 FROM piece WHERE id = ?1 AND bytes = ?2")
        return try step(statement, piece, as: position, of: number)
    }

    /// Steps a statement whose parameters are the number and the bytes of a piece. Returns true if there is a row.
    private func step(
        _ statement: SQLiteStatement,
        _ piece: Data,
        as position: Int64,
        of number: Int64
    ) throws(SQLiteFailure) -> Bool {
        let pieces = try Self.pieces(of: number...number)
        guard position < pieces.upperBound - pieces.lowerBound else { throw SQLiteFailure.tooLarge }
        return try piece.withUnsafeBytes { bytes in
            Result { () throws(SQLiteFailure) in
                defer { statement.reset() }
                try statement.bind(.integer(pieces.lowerBound + position))
                try statement.bind(noCopy: bytes, at: 2)
                return try statement.step()
            }
        }.get()
    }

    /// Returns the stored entry with the key and variant of another one; nil if there is none.
    private func previous(
        of entry: CacheEntry
    ) throws(SQLiteFailure) -> (number: Int64, size: Int64, length: Int64)? {
        let statement = try connection.statement(
            "SELECT id, size, length FROM entry WHERE space = ?1 AND partition = ?2 AND name = ?3 AND variant = ?4"
        )
        // The statement must be reset before the row is deleted.
        defer { statement.reset() }
        try statement.bind(CacheTransaction.key(entry.key, variant: entry.variant))
        guard try statement.step() else { return nil }
        return (statement.integer(0), statement.integer(1), statement.integer(2))
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

// MARK: - Drafts

/// Drafts are entries whose bodies are still arriving. Only their writers access them.
extension CacheTransaction {
    /// Creates a draft.
    ///
    /// - Parameters:
    ///   - token: A random number that distinguishes the draft from one with the same number in a file that was
    ///     replaced.
    ///   - now: The current time.
    /// - Returns: The number of the draft.
    /// - Throws: An error if the draft cannot be created.
    mutating func beginDraft(_ token: Int64, at now: Date) throws(SQLiteFailure) -> Int64 {
        let number = try newNumber()
        try connection.run(
            "INSERT INTO draft VALUES (?1, ?2, ?3, ?4, ?5)",
            .integer(number),
            .integer(token),
            .integer(Int64(getpid())),
            .string(Self.pidNamespace),
            .real(now.column ?? 0)
        )
        return number
    }

    /// Checks that a draft still exists, and extends its lifetime.
    func extendDraft(_ number: Int64, _ token: Int64, at now: Date) throws(SQLiteFailure) {
        let found = try connection.integer(
            "SELECT id FROM draft WHERE id = ?1 AND token = ?2",
            .integer(number),
            .integer(token)
        )
        if found == nil { throw .removed }
        try connection.run("UPDATE draft SET touched = ?2 WHERE id = ?1", .integer(number), .real(now.column ?? 0))
    }

    /// Turns a draft into an entry.
    mutating func finishDraft(_ number: Int64, as entry: CacheEntry, _ row: Row) throws(SQLiteFailure) {
        try connection.run("DELETE FROM draft WHERE id = ?1", .integer(number))
        try insert(row, of: entry, as: number)
    }

    mutating func discardDraft(_ number: Int64, _ token: Int64) throws(SQLiteFailure) {
        let found = try connection.integer(
            "SELECT id FROM draft WHERE id = ?1 AND token = ?2",
            .integer(number),
            .integer(token)
        )
        if found == nil { return }
        try connection.run("DELETE FROM draft WHERE id = ?1", .integer(number))
        try discardPieces(of: number, isLarge: true)
    }

    /// Discards the drafts of processes that have ended, and those that have not been written to for a long time.
    mutating func discardAbandonedDrafts(at now: Date) throws(SQLiteFailure) {
        let time = now.timeIntervalSinceReferenceDate
        let abandoned = try connection.withStatement("SELECT id, token, process, world, touched FROM draft") {
            statement throws(SQLiteFailure) -> [(number: Int64, token: Int64)] in
            var abandoned: [(number: Int64, token: Int64)] = []
            while try statement.step() {
                let isGone = statement.string(3) == Self.pidNamespace && !Self.isRunning(statement.integer(2))
                let age = abs(time - (statement.real(4) ?? 0))
                if isGone || !(age < tuning.draftLifetime) {
                    abandoned.append((statement.integer(0), statement.integer(1)))
                }
            }
            return abandoned
        }
        for draft in abandoned { try discardDraft(draft.number, draft.token) }
    }

    private static func isRunning(_ process: Int64) -> Bool {
        guard let number = pid_t(exactly: process), number > 0 else { return false }
        return kill(number, 0) == 0 || errno != ESRCH
    }

    /// The PID namespace, because processes in different containers may have the same process ID.
    private static let pidNamespace: String = {
        var name = [CChar](repeating: 0, count: 64)
        let count = readlink("/proc/self/ns/pid", &name, name.count)
        return String(decoding: name.prefix(max(0, count)).map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }()
}

// MARK: - Entry look-up

/// A stored entry that does not match its checksums. Its number may belong to another entry later, which has other checksums.
struct BrokenEntry: Sendable {
    let number: Int64
    let checksum: Int64
    let seal: Int64
}

/// The stored entries for a key.
struct EntryLookup: Sendable {
    /// The entries, newest first.
    var entries: [CacheEntry] = []
    /// The entries that do not match their checksums and have to be removed.
    var broken: [BrokenEntry] = []

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
                broken.append(BrokenEntry(number: number, checksum: statement.integer(5), seal: statement.integer(6)))
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

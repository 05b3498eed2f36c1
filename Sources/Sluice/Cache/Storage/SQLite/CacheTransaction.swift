import CSQLite

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// An atomic set of changes to a cache, including its totals.
struct CacheTransaction {
    let connection: SQLiteConnection
    let tuning: CacheTuning
    /// True if an earlier attempt failed because the disk was full.
    let isRetry: Bool
    /// True if the transaction left pieces to sweep or pages to return.
    var leavesWork = false
    /// True if other processes must drop what they have in memory. Evictions do not count, because evicted entries were
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
                throw .malformed("The total")
            }
            number = next
        }
        guard number > 0, number < CacheSchema.entryLimit else { throw .malformed("The next number") }
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

    mutating func countNothing() {
        change = CacheSize()
        isEmptied = true
    }

    /// Removes an entry. The pieces of a small entry are removed at once, those of a large one later.
    mutating func discard(_ number: Int64, size: Int64) throws(SQLiteFailure) {
        try connection.run("DELETE FROM entry WHERE id = ?1", .integer(number))
        try connection.run("DELETE FROM tag WHERE entry = ?1", .integer(number))
        count(removed: size)
        try discardPieces(of: number, isLarge: size > tuning.stepBytes)
    }

    mutating func discardPieces(of number: Int64, isLarge: Bool) throws(SQLiteFailure) {
        if isLarge {
            try connection.run("INSERT OR REPLACE INTO garbage VALUES (?1, ?1)", .integer(number))
            leavesWork = true
        } else {
            let pieces = try Self.pieces(of: number...number)
            try connection.run(
                "DELETE FROM piece WHERE id >= ?1 AND id <= ?2",
                .integer(pieces.lowerBound),
                .integer(pieces.upperBound)
            )
        }
    }

    /// Returns the range of the piece numbers of some entries.
    static func pieces(of numbers: ClosedRange<Int64>) throws(SQLiteFailure) -> ClosedRange<Int64> {
        guard numbers.lowerBound >= 0, numbers.upperBound < CacheSchema.entryLimit else {
            throw .malformed("An entry's number")
        }
        return numbers.lowerBound << CacheSchema.pieceBits...(numbers.upperBound + 1) << CacheSchema.pieceBits - 1
    }
}

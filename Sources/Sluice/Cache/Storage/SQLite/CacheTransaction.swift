import CSQLite

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Changes of a cache that come about all together, and what they do to its totals.
struct CacheTransaction {
    let connection: SQLiteConnection
    let tuning: CacheTuning
    /// Whether there was no room when it was tried before.
    let isRetry: Bool
    /// Whether it left pieces that are to be swept, or pages that could be given back.
    var leavesWork = false
    /// Whether others who have read before have to read again; not after eviction, since what is gone then was right.
    var isChange = false
    private var change = CacheSize()
    private var isEmptied = false
    private var next: Int64?

    /// Waits until no other process writes.
    init(_ connection: SQLiteConnection, _ tuning: CacheTuning, isRetry: Bool) throws(SQLiteFailure) {
        self.connection = connection
        self.tuning = tuning
        self.isRetry = isRetry
        // A transaction that reads first and then writes would fail where another has written in between.
        try connection.run("BEGIN IMMEDIATE")
    }

    /// Lets everybody see the changes.
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

    /// A number that no entry has had.
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

    /// Removes an entry; its pieces at once where they are few.
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

    /// The numbers of all pieces that some entries can have.
    static func pieces(of numbers: ClosedRange<Int64>) throws(SQLiteFailure) -> ClosedRange<Int64> {
        guard numbers.lowerBound >= 0, numbers.upperBound < CacheSchema.entryLimit else {
            throw .malformed("An entry's number")
        }
        return numbers.lowerBound << CacheSchema.pieceBits...(numbers.upperBound + 1) << CacheSchema.pieceBits - 1
    }
}

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif
#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

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
            .string(Self.world),
            .real(now.column ?? 0)
        )
        return number
    }

    /// Checks that a draft still exists, and extends its lifetime.
    func keepDraft(_ number: Int64, _ token: Int64, at now: Date) throws(SQLiteFailure) {
        let kept = try connection.integer(
            "SELECT id FROM draft WHERE id = ?1 AND token = ?2",
            .integer(number),
            .integer(token)
        )
        if kept == nil { throw .removed }
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
                let isGone = statement.string(3) == Self.world && !Self.isRunning(statement.integer(2))
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
    private static let world: String = {
        var name = [CChar](repeating: 0, count: 64)
        let count = readlink("/proc/self/ns/pid", &name, name.count)
        return String(decoding: name.prefix(max(0, count)).map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }()
}

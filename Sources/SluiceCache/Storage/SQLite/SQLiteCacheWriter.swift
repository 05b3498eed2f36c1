import SluiceFoundation
import SluiceHTTP

/// Writes the pieces of a body as they arrive, each in a short transaction.
///
/// A small body is buffered until it is complete, and then written like any entry.
final class SQLiteCacheWriter: CacheWriter {
    fileprivate struct State: Sendable {
        /// The number of the entry; nil until a piece has been written.
        var draft: Int64?
        let token = Int64.random(in: .min ... .max)
        var checksum: EntryChecksum
        /// The bytes that have not been written yet, including the head before the first write.
        var rest: Data
        var pieceCount: Int64 = 0
        var length: Int64 = 0
        var failure: SluiceError?
    }

    private let entry: CacheEntry
    private let head: Data
    private let database: CacheDatabase
    private let state: Locked<State>

    init(_ entry: CacheEntry, in database: CacheDatabase) {
        self.entry = entry
        self.database = database
        head = Data(EntryHead(entry).encoded())
        var checksum = EntryChecksum(entry.key, variant: entry.variant)
        head.withUnsafeBytes { checksum.add($0) }
        state = Locked(State(checksum: checksum, rest: head))
    }

    deinit {
        let state = state.withLock { $0 }
        guard let draft = state.draft else { return }
        database.writeLater { transaction throws(SQLiteFailure) in try transaction.discardDraft(draft, state.token) }
    }

    func write(_ piece: Data) async throws(SluiceError) {
        var rest = piece
        // Limits the size of a transaction, for which other writers have to wait.
        while !rest.isEmpty {
            let part = rest.prefix(database.tuning.stepBytes)
            rest = rest.dropFirst(part.count)
            try await writeSome(part)
        }
    }

    private func writeSome(_ part: Data) async throws(SluiceError) {
        let size = database.tuning.pieceSize
        let isDue = try state.withLock { state throws(SluiceError) in
            if let failure = state.failure { throw failure }
            part.withUnsafeBytes { state.checksum.add($0) }
            state.rest.append(part)
            state.length += Int64(part.count)
            return state.rest.count > size
        }
        if isDue { try await flush(isLast: false) }
    }

    func commit() async throws(SluiceError) {
        try await flush(isLast: true)
        state.withLock { state in
            state.draft = nil
            state.rest = Data()
            state.failure = .writerIsFinished
        }
    }

    /// Writes the buffered bytes. With the last ones, creates the entry.
    private func flush(isLast: Bool) async throws(SluiceError) {
        let before = state.withLock { $0 }
        if let failure = before.failure { throw failure }
        let now = database.clock.date
        do throws(SluiceError) {
            // The closure uses a copy of the state, because the transaction may be repeated.
            let after = try await database.write { [entry, head] transaction throws(SQLiteFailure) in
                guard isLast else {
                    return try before.writing(isLast, headCount: head.count, in: &transaction, at: now)
                }
                if before.draft == nil {
                    try transaction.store(entry.with(body: before.rest.dropFirst(head.count)))
                    return before
                }
                let after = try before.writing(isLast, headCount: head.count, in: &transaction, at: now)
                let row = CacheTransaction.Row(head: head.count, length: after.length, checksum: after.checksum.value)
                try transaction.finishDraft(after.draft ?? 0, as: entry, row)
                return after
            }
            state.withLock { $0 = after }
        } catch {
            // A body with missing bytes must not be stored.
            state.withLock { $0.failure = error }
            throw error
        }
    }
}

extension SQLiteCacheWriter.State {
    /// Writes all complete pieces, and the remaining bytes if they are the last. Returns the new state.
    fileprivate func writing(
        _ isLast: Bool,
        headCount: Int,
        in transaction: inout CacheTransaction,
        at now: Date
    ) throws(SQLiteFailure) -> SQLiteCacheWriter.State {
        let size = transaction.tuning.pieceSize
        var after = self
        if let draft { try transaction.extendDraft(draft, token, at: now) }
        let number = if let draft { draft } else { try transaction.beginDraft(token, at: now) }
        after.draft = number
        var rest = rest[...]
        while rest.count >= size || isLast && !rest.isEmpty {
            // The entire head belongs to the first piece.
            let count = after.pieceCount == 0 ? max(size, headCount) : size
            guard rest.count >= count || isLast else { break }
            try transaction.insert(rest.prefix(count), as: after.pieceCount, of: number)
            rest = rest.dropFirst(count)
            after.pieceCount += 1
        }
        after.rest = Data(rest)
        return after
    }
}

extension SluiceError {
    fileprivate static let writerIsFinished = SluiceError(
        .cacheFailed,
        "The cache entry is already complete. No more bytes can be written to it.",
        step: .cache
    )
}

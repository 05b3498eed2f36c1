import SluiceFoundation
import SluiceHTTP

/// A cache storage in a SQLite database, which several processes on one machine may share.
///
/// ```swift
/// let storage = SQLiteCacheStorage(directory: caches, name: "shop") { logger.notice("\($0)") }
/// ```
///
/// No file is read or created before the first use. A file that is damaged or not a database is moved out of the way,
/// with an event, and a new one is created. The old file is deleted when all entries, or those of a partition, are
/// removed. Each entry has a checksum; an entry that does not match it is treated as missing. A folder or file that
/// another user owns or can write is refused. If the file cannot be used, every call throws an error with the code
/// ``SluiceError/Code/cacheFailed``, and the file is tried again every few seconds. If the disk does not respond, a
/// look-up fails after about ten seconds, the first one of a store after about twenty, and later ones fail at once until
/// it responds. Strings that are canonically equivalent but have different bytes are different names.
public final class SQLiteCacheStorage: PolledCacheStorage {
    let database: CacheDatabase

    /// Creates a storage.
    ///
    /// - Parameters:
    ///   - directory: The directory of its files, on a local disk. If it does not exist, it is created for this user
    ///     only.
    ///   - name: The name of its files, to which `.sqlite` and other suffixes are added.
    ///   - clock: The clock.
    ///   - onEvent: Called with events, on a thread that must not be blocked for long.
    public convenience init(
        directory: URL,
        name: String = "cache",
        clock: any SluiceClock = SystemClock(),
        onEvent: (@Sendable (CacheEvent) -> Void)? = nil
    ) {
        self.init(
            directory: directory,
            name: name,
            clock: clock,
            schema: .current,
            tuning: CacheTuning(),
            onEvent: onEvent
        )
    }

    init(
        directory: URL,
        name: String = "cache",
        clock: any SluiceClock = SystemClock(),
        schema: CacheSchema = .current,
        tuning: CacheTuning,
        onEvent: (@Sendable (CacheEvent) -> Void)? = nil
    ) {
        database = CacheDatabase(
            files: CacheFiles(directory: directory, name: name),
            schema: schema,
            tuning: tuning,
            clock: clock,
            onEvent: onEvent ?? { _ in }
        )
    }

    /// Returns all unexpired variants under a key, newest first.
    ///
    /// Does not wait for writes.
    ///
    /// - Parameters:
    ///   - key: The key.
    ///   - now: The current time.
    /// - Returns: The entries.
    /// - Throws: A ``SluiceError`` with the code ``SluiceError/Code/cacheFailed``.
    public func entries(for key: CacheKey, at now: Date) async throws(SluiceError) -> [CacheEntry] {
        let found = try await database.result { completion in
            database.read(
                { connection throws(SQLiteFailure) in try EntryLookup(key, at: now, in: connection) },
                completion: completion
            )
        }
        return entries(of: found)
    }

    private func entries(of found: EntryLookup) -> [CacheEntry] {
        if !found.broken.isEmpty {
            database.writeLater { transaction throws(SQLiteFailure) in try transaction.removeBroken(found.broken) }
        }
        return found.entries
    }

    /// Makes changes in their order, in one transaction.
    ///
    /// - Parameter changes: The changes. Making several at once is much faster than making each one separately. A
    ///   single removal of very many entries is made in steps, between which other changes run.
    /// - Throws: A ``SluiceError`` with the code ``SluiceError/Code/cacheFailed``.
    public func apply(_ changes: [CacheChange]) async throws(SluiceError) {
        if changes.isEmpty { return }
        defer { removeAside(after: changes) }
        if changes.count == 1, case .remove(let selection) = changes[0] { return try await remove(selection) }
        try await database.write { transaction throws(SQLiteFailure) in
            for change in changes {
                switch change {
                case .store(let entry): try transaction.store(entry)
                case .remove(let selection): _ = try transaction.remove(selection)
                case .touch(let key, let variant, let stored, let accessed, let expires):
                    try transaction.touch(key, variant: variant, of: stored, accessed: accessed, expires: expires)
                }
            }
        }
    }

    /// Removes databases that were moved out of the way, which may contain entries of a user who signs out.
    private func removeAside(after changes: [CacheChange]) {
        let removesPartitions = changes.contains { change in
            guard case .remove(let selection) = change else { return false }
            return selection.name == nil && selection.tag == nil && selection.expired == nil
        }
        if removesPartitions { database.removeAside() }
    }

    private func remove(_ selection: CacheSelection) async throws(SluiceError) {
        let limit = database.tuning.removalStep
        while try await database.write({ transaction throws(SQLiteFailure) in
            try transaction.remove(selection, atMost: limit)
        }) {}
    }

    /// Creates a writer for an entry whose body arrives in pieces. The entry is invisible until it is committed. If the
    /// process ends before, the written part is removed later.
    ///
    /// - Parameter entry: The entry without its body.
    /// - Returns: The writer. It does not write before it has received more than 128 KiB.
    /// - Throws: Nothing.
    public func writer(for entry: CacheEntry) async throws(SluiceError) -> any CacheWriter {
        SQLiteCacheWriter(entry, in: database)
    }

    /// Returns the number of entries and the size of their keys, heads and bodies in bytes.
    ///
    /// - Returns: The size, which is maintained with the entries and not recounted.
    /// - Throws: A ``SluiceError`` with the code ``SluiceError/Code/cacheFailed``.
    public func size() async throws(SluiceError) -> CacheSize {
        try await database.read { connection throws(SQLiteFailure) in try CacheSize(totalOf: connection) }
    }

    /// Removes some entries in one short step: at most a few hundred entries or a few MiB.
    ///
    /// - Parameters:
    ///   - limits: The limits. `entryBytes` is ignored.
    ///   - now: The current time.
    /// - Returns: The number of removed entries; 0 once there is nothing to remove.
    /// - Throws: A ``SluiceError`` with the code ``SluiceError/Code/cacheFailed``.
    public func evict(to limits: CacheLimits, at now: Date) async throws(SluiceError) -> Int {
        try await database.write { transaction throws(SQLiteFailure) in try transaction.evict(to: limits, at: now) }
    }

    package func hasForeignChanges() async throws(SluiceError) -> Bool {
        try await database.result { database.checkForeignChanges($0) }
    }
}

extension SQLiteCacheStorage: CallbackCacheStorage {
    package func entries(
        for key: CacheKey,
        at now: Date,
        completion: @escaping @Sendable (Result<[CacheEntry], SluiceError>?) -> Void
    ) {
        database.read { connection throws(SQLiteFailure) in
            try EntryLookup(key, at: now, in: connection)
        } completion: { [self] in
            completion($0.map(entries))
        }
    }
}

/// The parameters of a SQLite cache. Tests use small values.
struct CacheTuning: Sendable {
    /// The maximum number of bytes of a piece, which is one row.
    var pieceSize = 128 << 10
    /// The maximum number of entries or pieces that one step of eviction or sweeping removes in one transaction.
    var stepCount = 256
    /// The maximum number of bytes that such a step removes, or that one transaction of a streamed body writes.
    var stepBytes = 4 << 20
    /// The number of rows up to which a removal also removes the pieces. Otherwise, the pieces are swept later.
    var removalCount = 512
    /// The maximum number of rows that a removal removes in one transaction, if it is the only change.
    var removalStep = 10_000
    /// The time in milliseconds that a writer waits for another process.
    var busyTimeout = 5000
    /// The time after which a statement that writes is interrupted.
    var statementLimit = Duration.seconds(10)
    /// The time after which a read is interrupted.
    var readLimit = Duration.seconds(2)
    /// The time for which a request waits for a disk that does not respond: longer than for a lock and a read together.
    var diskLimit = Duration.seconds(10)
    /// The time after which a database that cannot be used is tried again.
    var retryInterval = Duration.seconds(5)
    /// The interval at which readers check that the path still refers to the file.
    var checkInterval = Duration.milliseconds(100)
    /// The time in seconds after the last write at which a draft counts as abandoned.
    var draftLifetime = 3600.0
    /// The number of log pages at which SQLite runs a checkpoint.
    var checkpointPages = 2000
    /// The log size in bytes above which the log is emptied as soon as possible, because opening the file reads all of
    /// it.
    var logLimit: Int64 = 16 << 20
    /// The number of pages from which an empty file is replaced by a new one, which is faster than sweeping it.
    var replacementPages: Int64 = 4096
    /// The maximum number of pages of the file; nil for SQLite's own limit.
    var pageLimit: Int?
}

// MARK: - SQ lite cache writer

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
            // The head is written with the first piece.
            return state.rest.count > (state.draft == nil ? head.count : 0) + size
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
            // The entire head belongs to the first piece, in addition to its part of the body.
            let count = after.pieceCount == 0 ? headCount + size : size
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
    /// The error of a writer that receives bytes after its entry is complete.
    package static let writerIsFinished = SluiceError(
        .cacheFailed,
        "The cache entry is already complete. No more bytes can be written to it.",
        step: .cache
    )
}

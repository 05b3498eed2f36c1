import SluiceHTTP

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Keeps a cache in a database of SQLite's, which any number of processes of one machine may share.
///
/// ```swift
/// let storage = SQLiteCacheStorage(directory: caches, name: "shop") { logger.notice("\($0)") }
/// ```
///
/// Nothing is read or made before it is first used. A file that is no sound database is set aside, with an event, and a new one begun; each
/// entry carries a checksum, and one that does not match is not there. Where the file cannot be used, every call throws an error of the code
/// ``SluiceError/Code/cacheFailed``, and the file is tried again every few seconds. Names that are equal to Swift but are not of the same
/// bytes are different names.
public final class SQLiteCacheStorage: CacheStorage {
    let database: CacheDatabase

    /// Makes a storage.
    ///
    /// - Parameters:
    ///   - directory: Where its files are, or will be: a folder of a local disk, which is made for this user only if it is not there.
    ///   - name: What the files are called, followed by `.sqlite` and the like.
    ///   - time: What time it is.
    ///   - onEvent: Told what befalls it, on a thread that may not be held for long.
    public convenience init(
        directory: URL,
        name: String = "cache",
        time: any TimeSource = SystemTime(),
        onEvent: (@Sendable (CacheEvent) -> Void)? = nil
    ) {
        self.init(
            directory: directory,
            name: name,
            time: time,
            schema: .current,
            tuning: CacheTuning(),
            onEvent: onEvent
        )
    }

    init(
        directory: URL,
        name: String = "cache",
        time: any TimeSource = SystemTime(),
        schema: CacheSchema = .current,
        tuning: CacheTuning,
        onEvent: (@Sendable (CacheEvent) -> Void)? = nil
    ) {
        database = CacheDatabase(
            files: CacheFiles(directory: directory, name: name),
            schema: schema,
            tuning: tuning,
            time: time,
            onEvent: onEvent ?? { _ in }
        )
    }

    /// All variants kept under a key, the newest first, without those that are gone by `now`.
    ///
    /// Waits for no write.
    ///
    /// - Parameters:
    ///   - key: The key.
    ///   - now: The time.
    /// - Returns: The entries.
    /// - Throws: A ``SluiceError`` of the code ``SluiceError/Code/cacheFailed``.
    public func entries(for key: CacheKey, at now: Date) async throws(SluiceError) -> [CacheEntry] {
        entries(
            of: try await database.read { connection throws(SQLiteFailure) in
                try EntryLookup(key, at: now, in: connection)
            }
        )
    }

    private func entries(of found: EntryLookup) -> [CacheEntry] {
        if !found.broken.isEmpty {
            database.writeLater { transaction throws(SQLiteFailure) in try transaction.removeBroken(found.broken) }
        }
        return found.entries
    }

    /// Makes changes in their order, all of them or none, in one transaction.
    ///
    /// - Parameter changes: The changes; many at once cost far less than each by itself. A removal alone of very many entries is made in
    ///   steps, with others' changes in between.
    /// - Throws: A ``SluiceError`` of the code ``SluiceError/Code/cacheFailed``.
    public func apply(_ changes: [CacheChange]) async throws(SluiceError) {
        if changes.isEmpty { return }
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

    private func remove(_ selection: CacheSelection) async throws(SluiceError) {
        let limit = database.tuning.removalStep
        while try await database.write({ transaction throws(SQLiteFailure) in
            try transaction.remove(selection, atMost: limit)
        }) {}
    }

    /// Begins an entry whose body comes in pieces. It is seen by nobody before it is whole; what a process leaves of it that ends before is
    /// removed later.
    ///
    /// - Parameter entry: All but the body.
    /// - Returns: What takes the body. Nothing is written before it has taken some hundred KiB.
    /// - Throws: Nothing.
    public func writer(for entry: CacheEntry) async throws(SluiceError) -> any CacheWriter {
        SQLiteCacheWriter(entry, in: database)
    }

    /// How many entries it holds, and how many bytes their keys, heads and bodies are.
    ///
    /// - Returns: The size, which is kept with the entries and not counted.
    /// - Throws: A ``SluiceError`` of the code ``SluiceError/Code/cacheFailed``.
    public func size() async throws(SluiceError) -> CacheSize {
        try await database.read { connection throws(SQLiteFailure) in try CacheSize(totalOf: connection) }
    }

    /// Removes some entries, in one short step: a few hundred, or a few MiB.
    ///
    /// - Parameters:
    ///   - limits: What it may hold. Entries over `entryBytes` stay.
    ///   - now: The time.
    /// - Returns: How many it removed; 0 once there is nothing to remove.
    /// - Throws: A ``SluiceError`` of the code ``SluiceError/Code/cacheFailed``.
    public func evict(to limits: CacheLimits, at now: Date) async throws(SluiceError) -> Int {
        try await database.write { transaction throws(SQLiteFailure) in try transaction.evict(to: limits, at: now) }
    }

    /// Whether another process, or another storage of this one, has changed what is kept since this was asked last; false the first time.
    ///
    /// - Returns: Whether it has.
    /// - Throws: A ``SluiceError`` of the code ``SluiceError/Code/cacheFailed``.
    public func hasForeignChanges() async throws(SluiceError) -> Bool {
        try await database.writer.queue.result { [database] in database.hasForeignChanges() }.get()
    }
}

extension SQLiteCacheStorage: CallbackCacheStorage {
    func entries(
        for key: CacheKey,
        at now: Date,
        completion: @escaping @Sendable (Result<[CacheEntry], SluiceError>) -> Void
    ) {
        database.read { connection throws(SQLiteFailure) in
            try EntryLookup(key, at: now, in: connection)
        } completion: { [self] in
            completion($0.map(entries))
        }
    }
}

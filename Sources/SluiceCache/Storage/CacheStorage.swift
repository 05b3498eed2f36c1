import SluiceFoundation
import SluiceHTTP

/// The storage behind the memory of a ``CacheStore``: SQLite, a server, or one of your own.
///
/// The store calls it from tasks. Errors are reported to the user of the store as events, and affect only the entries
/// concerned. A storage may lose entries at any time, but an entry that it returns must be complete and unchanged, and a
/// removed entry must not return. ``CacheEntry/encoded()`` returns an entry as bytes. `CacheStorageConformance` in
/// SluiceTesting checks a storage.
public protocol CacheStorage: Sendable {
    /// Returns all unexpired variants under a key, newest first.
    func entries(for key: CacheKey, at now: Date) async throws(SluiceError) -> [CacheEntry]

    /// Makes changes in their order, each of them entirely or not at all. If one fails, the call throws an error. The
    /// store then makes the changes again, one by one.
    func apply(_ changes: [CacheChange]) async throws(SluiceError)

    /// Creates a writer for an entry whose body arrives in pieces. The entry is invisible until it is committed.
    ///
    /// - Parameter entry: The entry without its body.
    /// - Returns: The writer.
    /// - Throws: An error if the entry cannot be stored.
    func writer(for entry: CacheEntry) async throws(SluiceError) -> any CacheWriter

    /// Returns the number of entries and their size in bytes. The default implementation returns zero, for a storage
    /// that does not count them.
    func size() async throws(SluiceError) -> CacheSize

    /// Removes some entries in one short step: expired entries first, then the least recently used ones, until the
    /// storage is within the limits. The default implementation removes nothing, for a server with limits of its own.
    ///
    /// - Parameters:
    ///   - limits: The limits.
    ///   - now: The current time.
    /// - Returns: The number of removed entries; 0 once there is nothing to remove.
    /// - Throws: An error if entries cannot be removed.
    func evict(to limits: CacheLimits, at now: Date) async throws(SluiceError) -> Int

    /// Returns the changes that other processes make from now on, so that the store drops what it has in memory. The
    /// store calls this once. The default implementation returns nil, for a storage that no other process changes.
    func invalidations() -> AsyncStream<CacheInvalidation>?
}

extension CacheStorage {
    /// Returns zero.
    public func size() async throws(SluiceError) -> CacheSize { CacheSize() }

    /// Removes nothing.
    public func evict(to limits: CacheLimits, at now: Date) async throws(SluiceError) -> Int { 0 }

    /// Returns nil.
    public func invalidations() -> AsyncStream<CacheInvalidation>? { nil }
}

/// A change that another process has made to a storage.
public enum CacheInvalidation: Sendable, Hashable {
    /// An entry was stored under this key.
    case stored(CacheKey)
    /// Entries were removed. Responses to requests that were sent before are not stored.
    case removed(CacheSelection)
    /// Changes may have been missed.
    case everything
}

/// A storage that lets one process of many fetch an entry while the others wait for it.
public protocol LeasingCacheStorage: CacheStorage {
    /// Asks for the right to fetch an entry that is missing or stale. The store looks the entry up again before it
    /// fetches it.
    ///
    /// - Parameters:
    ///   - key: A key for equal requests. No entry is stored under it.
    ///   - waits: True to wait while another process has the lease.
    /// - Returns: The lease; nil if another process has it, or has released it in the meantime.
    /// - Throws: An error if the storage cannot decide. The entry is then fetched without a lease.
    func lease(for key: CacheKey, waits: Bool) async throws(SluiceError) -> CacheLease?
}

/// The right to fetch an entry. It ends with ``release()``, at the latest when the object is released.
public final class CacheLease: Sendable {
    private let onRelease: Locked<(@Sendable () -> Void)?>

    /// Creates a lease.
    ///
    /// - Parameter onRelease: Called once at the end of the lease. It must not block.
    public init(onRelease: @escaping @Sendable () -> Void) {
        self.onRelease = Locked(onRelease)
    }

    deinit { release() }

    /// Ends the lease. The store calls it after it has stored the entry.
    public func release() {
        onRelease.withLock { $0.take() }?()
    }
}

/// A storage that has to be asked for the changes of other processes.
package protocol PolledCacheStorage: CacheStorage {
    /// Returns true if another process has changed the storage since the last call, or since it was opened.
    ///
    /// The store calls this at most once a second. After a change, it drops the entries in memory that are also in
    /// storage.
    func hasForeignChanges() async throws(SluiceError) -> Bool
}

/// A storage that reads entries without a task per call, which halves the time to read a small entry.
package protocol CallbackCacheStorage: CacheStorage {
    /// Reads entries like ``CacheStorage/entries(for:at:)``. `completion` is called once, on any thread, which it must
    /// not block. It gets nil if the entries must be read by a task, which can be cancelled.
    func entries(
        for key: CacheKey,
        at now: Date,
        completion: @escaping @Sendable (Result<[CacheEntry], SluiceError>?) -> Void
    )
}

/// Receives the body of an entry piece by piece. A writer that is released without ``commit()`` stores nothing.
public protocol CacheWriter: Sendable {
    /// Receives the next piece.
    func write(_ piece: Data) async throws(SluiceError)

    /// Makes the entry visible, in the place of the previous entry with its key and variant.
    func commit() async throws(SluiceError)
}

/// A change to the contents of a storage.
public enum CacheChange: Sendable {
    /// Stores an entry and replaces the previous one with its key and variant.
    case store(CacheEntry)
    /// Removes entries.
    case remove(CacheSelection)
    /// Records an access to an entry and its new expiration. If `stored` is not nil, only for the entry stored at that
    /// time.
    case touch(CacheKey, variant: String, stored: Date? = nil, accessed: Date, expires: Date?)
}

/// The limits of a tier; nil for no limit.
public struct CacheLimits: Sendable, Hashable {
    /// The bytes of all entries, including keys and heads.
    public var bytes: Int?
    /// The number of entries.
    public var count: Int?
    /// The bytes of one entry. Larger entries are not stored.
    public var entryBytes: Int?

    /// Creates limits.
    public init(bytes: Int? = nil, count: Int? = nil, entryBytes: Int? = nil) {
        self.bytes = bytes
        self.count = count
        self.entryBytes = entryBytes
    }

    /// Returns true if an entry of this size is within the limits.
    func admits(bytes: Int) -> Bool {
        bytes <= entryBytes ?? .max && bytes <= self.bytes ?? .max && count ?? 1 > 0
    }
}

/// The size of a tier.
public struct CacheSize: Sendable, Hashable {
    /// The bytes of all entries, including keys and heads.
    public var bytes: Int
    /// The number of entries.
    public var count: Int

    /// Creates a size; zero by default.
    public init(bytes: Int = 0, count: Int = 0) {
        self.bytes = bytes
        self.count = count
    }
}

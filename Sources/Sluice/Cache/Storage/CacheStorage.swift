import SluiceHTTP

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Where a ``CacheStore`` keeps what must outlive the process: SQLite, or a tier of one's own.
///
/// The store calls it from tasks; what it throws is told to the store's user as an event and costs nothing but the entry. It may
/// lose entries at any time, but what it gives back must be whole: as it was given, or not at all.
public protocol CacheStorage: Sendable {
    /// All variants kept under a key, the newest first, without those that are gone by `now`.
    func entries(for key: CacheKey, at now: Date) async throws(SluiceError) -> [CacheEntry]

    /// Makes changes in their order, all of them or none.
    func apply(_ changes: [CacheChange]) async throws(SluiceError)

    /// Begins an entry whose body comes in pieces. It is seen by nobody before it is whole.
    ///
    /// - Parameter entry: All but the body.
    /// - Returns: What takes the body.
    /// - Throws: Why it cannot be kept.
    func writer(for entry: CacheEntry) async throws(SluiceError) -> any CacheWriter

    /// How many entries it holds, and how many bytes they take.
    func size() async throws(SluiceError) -> CacheSize

    /// Removes some entries, in one short step: those that are gone first, then those that nobody has asked for the longest,
    /// until it is within limits.
    ///
    /// - Parameters:
    ///   - limits: What it may hold.
    ///   - now: The time.
    /// - Returns: How many it removed; 0 once there is nothing to remove.
    /// - Throws: Why it could not.
    func evict(to limits: CacheLimits, at now: Date) async throws(SluiceError) -> Int

    /// Whether another process has changed what is kept since this was asked last; false the first time.
    ///
    /// The store asks at most once a second, and then forgets what it has in memory of what storage holds. False by default.
    func hasForeignChanges() async throws(SluiceError) -> Bool
}

extension CacheStorage {
    /// False: nobody else changes it.
    public func hasForeignChanges() async throws(SluiceError) -> Bool { false }
}

/// A storage that gives what it has without a task for each who asks, which spares a small entry half of its time.
protocol CallbackCacheStorage: CacheStorage {
    /// Does what ``CacheStorage/entries(for:at:)`` does, and calls the closure once, on any thread, which that must not hold up.
    func entries(
        for key: CacheKey,
        at now: Date,
        completion: @escaping @Sendable (Result<[CacheEntry], SluiceError>) -> Void
    )
}

/// Takes the body of an entry piece by piece; one that is dropped without ``commit()`` leaves nothing.
public protocol CacheWriter: Sendable {
    /// Takes the next piece.
    func write(_ piece: Data) async throws(SluiceError)

    /// Puts the entry in the place of what was under its key and variant.
    func commit() async throws(SluiceError)
}

/// A change of what a storage holds.
public enum CacheChange: Sendable {
    /// Puts an entry in the place of what is under its key and variant.
    case store(CacheEntry)
    /// Removes entries.
    case remove(CacheSelection)
    /// Notes that an entry was asked for, and when it is gone now; only of the one that was kept at a time, where that is said.
    case touch(CacheKey, variant: String, stored: Date? = nil, accessed: Date, expires: Date?)
}

/// How much a tier may hold; nil for any number.
public struct CacheLimits: Sendable, Hashable {
    /// The bytes of all entries, keys and heads included.
    public var bytes: Int?
    /// The number of entries.
    public var count: Int?
    /// The bytes of one entry; one that is larger is not kept.
    public var entryBytes: Int?

    /// Makes limits.
    public init(bytes: Int? = nil, count: Int? = nil, entryBytes: Int? = nil) {
        self.bytes = bytes
        self.count = count
        self.entryBytes = entryBytes
    }
}

/// How much a tier holds.
public struct CacheSize: Sendable, Hashable {
    /// The bytes of all entries, keys and heads included.
    public var bytes: Int
    /// The number of entries.
    public var count: Int

    /// Makes a size; nothing by default.
    public init(bytes: Int = 0, count: Int = 0) {
        self.bytes = bytes
        self.count = count
    }
}

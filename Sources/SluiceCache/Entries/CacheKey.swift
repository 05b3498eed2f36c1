import SluiceFoundation
import SluiceHTTP

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// The key of a cache entry: its space, partition and name.
///
/// Names and partitions are compared byte by byte, so that canonically equivalent strings are different keys.
public struct CacheKey: Sendable, Hashable {
    /// The kinds of entries. Entries of different spaces are independent.
    public enum Space: Int, Sendable, Hashable, CaseIterable {
        /// Values in memory and storage: ``CacheStore/memoryAndDisk``.
        case values = 0
        /// Values in memory only: ``CacheStore/memory``. They are never passed to a ``CacheStorage``.
        case memoryValues = 1
        /// Responses stored for a ``DataSource``.
        case responses = 2
        /// Responses stored by the HTTP cache (RFC 9111).
        case http = 3
    }

    /// The kind of entry.
    public let space: Space
    /// The partition, such as a user's name; empty for the shared partition.
    public let partition: String
    /// The name within its space and partition.
    public let name: String

    /// Creates a key.
    public init(_ name: String, in space: Space = .values, partition: String = "") {
        self.name = name
        self.space = space
        self.partition = partition
    }

    /// Returns true if both keys have the same space, and partitions and names with the same bytes.
    public static func == (lhs: CacheKey, rhs: CacheKey) -> Bool {
        lhs.space == rhs.space && lhs.name.hasBytes(of: rhs.name) && lhs.partition.hasBytes(of: rhs.partition)
    }

    /// Hashes the name, and the partition if it is not empty. The space is omitted because few names occur in several
    /// spaces.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(name)
        if !partition.isEmpty { hasher.combine(partition) }
    }
}

extension CacheKey: CustomReflectable {
    /// A mirror with the name without secrets, because the name of a response may be its URL.
    public var customMirror: Mirror {
        Mirror(self, children: ["space": space, "name": SecretRules.usual.url(name)], displayStyle: .struct)
    }
}

/// A selection of entries: those that meet all of its conditions.
public struct CacheSelection: Sendable, Hashable {
    /// The spaces; nil for all.
    public var spaces: Set<CacheKey.Space>?
    /// The partition; nil for all.
    public var partition: String?
    /// The name; nil for all.
    public var name: String?
    /// The variant; nil for all.
    public var variant: String?
    /// A tag; nil for entries with any tags or none.
    public var tag: String?
    /// The time at which the entries have expired; nil for all.
    public var expired: Date?

    /// Creates a selection of all entries. Set its properties to narrow it.
    public init() {}

    /// Creates a selection of the entries under a key.
    public init(_ key: CacheKey, variant: String? = nil) {
        spaces = [key.space]
        partition = key.partition
        name = key.name
        self.variant = variant
    }

    /// The key, if the selection consists of a key and optionally a variant.
    package var key: CacheKey? {
        guard let spaces, spaces.count == 1, let space = spaces.first, let partition, let name else { return nil }
        return tag == nil && expired == nil ? CacheKey(name, in: space, partition: partition) : nil
    }

    /// Returns true if the selection contains an entry.
    public func contains(_ entry: CacheEntry) -> Bool {
        guard contains(entry.key, tags: entry.tags) else { return false }
        if let variant, !variant.hasBytes(of: entry.variant) { return false }
        if let expired { return entry.expires.map { $0 <= expired } ?? false }
        return true
    }

    /// Returns true if the selection contains an entry with a key and tags, whatever its variant and expiration.
    func contains(_ key: CacheKey, tags: Set<String>) -> Bool {
        if let spaces, !spaces.contains(key.space) { return false }
        // Compared byte by byte, as storage does: canonically equivalent strings differ.
        if let partition, !partition.hasBytes(of: key.partition) { return false }
        if let name, !name.hasBytes(of: key.name) { return false }
        if let tag, !tags.contains(where: { $0.hasBytes(of: tag) }) { return false }
        return true
    }
}

extension String {
    /// Returns true if both strings have the same bytes. `==` compares by canonical equivalence instead.
    func hasBytes(of other: String) -> Bool {
        let (bytes, others) = (utf8, other.utf8)
        guard bytes.count == others.count else { return false }
        if bytes.isEmpty { return true }
        let isSame = bytes.withContiguousStorageIfAvailable { bytes in
            others.withContiguousStorageIfAvailable { others in
                guard let start = bytes.baseAddress, let otherStart = others.baseAddress else { return false }
                return memcmp(start, otherStart, bytes.count) == 0
            }
        }
        return (isSame ?? nil) ?? bytes.elementsEqual(others)
    }
}

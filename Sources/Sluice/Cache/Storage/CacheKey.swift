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
        case exchanges = 3
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

import SluiceHTTP

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// Names what a cache keeps: in which space, whose it is, and by what name.
///
/// Names and partitions are the same if their bytes are, so that nobody meets another's entries by a name that only looks the same.
public struct CacheKey: Sendable, Hashable {
    /// Kinds of entries, which never meet.
    public enum Space: Int, Sendable, Hashable, CaseIterable {
        /// Values that go to storage: ``CacheStore/memoryAndDisk``.
        case values = 0
        /// Values that stay in memory: ``CacheStore/memory``. No ``CacheStorage`` ever sees them.
        case memoryValues = 1
        /// Responses that a ``DataSource`` asks for.
        case responses = 2
        /// Responses that are kept by the rules of HTTP (RFC 9111).
        case exchanges = 3
    }

    /// Which kind of entry it is.
    public let space: Space
    /// Whose it is, a user's name, say; empty for nobody's in particular.
    public let partition: String
    /// What tells it apart from others of its kind and partition.
    public let name: String

    /// Makes a key.
    public init(_ name: String, in space: Space = .values, partition: String = "") {
        self.name = name
        self.space = space
        self.partition = partition
    }

    /// Whether both are of the same space, and their partitions and names of the same bytes.
    public static func == (lhs: CacheKey, rhs: CacheKey) -> Bool {
        lhs.space == rhs.space && lhs.name.hasBytes(of: rhs.name) && lhs.partition.hasBytes(of: rhs.partition)
    }

    /// Hashes the name, and the partition if there is one; few names are in several spaces.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(name)
        if !partition.isEmpty { hasher.combine(partition) }
    }
}

extension CacheKey: CustomReflectable {
    /// The name without secrets, as that of a response may be its URL.
    public var customMirror: Mirror {
        Mirror(self, children: ["space": space, "name": SecretRules.usual.url(name)], displayStyle: .struct)
    }
}

extension String {
    /// Whether two texts are of the same bytes; `==` takes texts for equal that are composed of other characters.
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

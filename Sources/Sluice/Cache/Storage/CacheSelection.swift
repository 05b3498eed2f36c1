#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

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

    /// Returns true if the selection contains an entry.
    public func contains(_ entry: CacheEntry) -> Bool {
        if let spaces, !spaces.contains(entry.key.space) { return false }
        // Compared byte by byte, as storage does: canonically equivalent strings differ.
        if let partition, !partition.hasBytes(of: entry.key.partition) { return false }
        if let name, !name.hasBytes(of: entry.key.name) { return false }
        if let variant, !variant.hasBytes(of: entry.variant) { return false }
        if let tag, !entry.tags.contains(where: { $0.hasBytes(of: tag) }) { return false }
        if let expired { return entry.expires.map { $0 <= expired } ?? false }
        return true
    }
}

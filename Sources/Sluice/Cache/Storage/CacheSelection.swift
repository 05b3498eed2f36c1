#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Which entries are meant: those that meet all that is said.
public struct CacheSelection: Sendable, Hashable {
    /// Those of these spaces; nil for all.
    public var spaces: Set<CacheKey.Space>?
    /// Those of this partition; nil for all.
    public var partition: String?
    /// Those of this name; nil for all.
    public var name: String?
    /// This variant only; nil for all.
    public var variant: String?
    /// Those that have this tag; nil for all.
    public var tag: String?
    /// Those that are gone at this time; nil for all.
    public var expired: Date?

    /// Makes a selection of all entries, to be narrowed.
    public init() {}

    /// All that is kept under a key.
    public init(_ key: CacheKey, variant: String? = nil) {
        spaces = [key.space]
        partition = key.partition
        name = key.name
        self.variant = variant
    }

    /// Whether it means an entry.
    public func contains(_ entry: CacheEntry) -> Bool {
        if let spaces, !spaces.contains(entry.key.space) { return false }
        // By their bytes, as storage does: what looks alike is not the same.
        if let partition, !partition.hasBytes(of: entry.key.partition) { return false }
        if let name, !name.hasBytes(of: entry.key.name) { return false }
        if let variant, !variant.hasBytes(of: entry.variant) { return false }
        if let tag, !entry.tags.contains(where: { $0.hasBytes(of: tag) }) { return false }
        if let expired { return entry.expires.map { $0 <= expired } ?? false }
        return true
    }
}

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The entries in memory, ordered by their last access. The owner provides the lock and the clock.
struct MemoryTier {
    /// The metadata of an entry. It contains no references, so that reading it costs no reference counting.
    struct Node {
        var lifetime: CacheEntry.Lifetime
        var bytes: Int
        /// The part of ``bytes`` that the kept model needs.
        var modelBytes = 0
        /// The time of the last access reported to storage.
        var touched: Double
        /// True if the entry has been written to storage, so that its accesses are reported.
        var isStored: Bool
        /// The neighbours in the order of access.
        var newer = MemoryTier.none
        var older = MemoryTier.none
        /// The neighbours among the entries of the same key, newest first. In a free node, `next` is the next free
        /// node.
        var previous = MemoryTier.none
        var next = MemoryTier.none
    }

    static let none = -1

    let limits: CacheLimits
    private(set) var size = CacheSize()
    var nodes: ContiguousArray<Node> = []
    /// The entries at the indices of their nodes; nil for free nodes.
    private(set) var entries: ContiguousArray<CacheEntry?> = []
    var heads: [CacheKey: Int] = [:]
    private var newest = none
    private var oldest = none
    private var free = none

    init(limits: CacheLimits) {
        self.limits = limits
    }

    /// Inserts an entry in the place of the one with its key and variant, and evicts others until all are within the
    /// limits.
    ///
    /// - Returns: True if the entry is kept. If it is too large, the previous entry is removed too.
    @discardableResult
    mutating func insert(_ entry: CacheEntry, isStored: Bool, at now: Double) -> Bool {
        let bytes = entry.byteCount
        let existing = index(of: entry.key, variant: entry.variant)
        guard limits.admits(bytes: bytes) else {
            if let existing { remove(at: existing) }
            return false
        }
        let lifetime = CacheEntry.Lifetime(of: entry)
        let touched = isStored ? lifetime.told(entry) : now
        let node = Node(lifetime: lifetime, bytes: bytes, touched: touched, isStored: isStored)
        if let existing {
            replace(existing, with: entry, node)
        } else {
            makeRoom(for: bytes, count: 1)
            add(entry, node)
        }
        return true
    }

    /// Evicts the least recently used entries until there is enough space.
    private mutating func makeRoom(for bytes: Int, count: Int) {
        while let limit = limits.bytes, size.bytes > limit - bytes, oldest != Self.none {
            remove(at: oldest)
        }
        while let limit = limits.count, size.count > limit - count, oldest != Self.none {
            remove(at: oldest)
        }
    }

    private mutating func add(_ entry: CacheEntry, _ node: Node) {
        let index: Int
        if free != Self.none {
            index = free
            free = nodes[index].next
            nodes[index] = node
            entries[index] = entry
        } else {
            index = nodes.endIndex
            nodes.append(node)
            entries.append(entry)
        }
        size.bytes += node.bytes
        size.count += 1
        linkNewest(index)
        linkVariant(index, entry)
    }

    private mutating func replace(_ index: Int, with entry: CacheEntry, _ node: Node) {
        guard nodes[index].previous == Self.none, nodes[index].next == Self.none else {
            // Among several variants, its position may have changed.
            remove(at: index)
            makeRoom(for: node.bytes, count: 1)
            return add(entry, node)
        }
        promote(index)
        size.bytes -= nodes[index].bytes
        nodes[index].bytes = 0
        // The entry is the most recently used one, and it fits on its own.
        makeRoom(for: node.bytes, count: 0)
        entries[index] = entry
        nodes[index].lifetime = node.lifetime
        nodes[index].bytes = node.bytes
        nodes[index].modelBytes = 0
        nodes[index].touched = node.touched
        nodes[index].isStored = node.isStored
        size.bytes += node.bytes
    }

    /// Updates the size of an entry whose model has been decoded. The entry must be the most recently used one.
    mutating func count(modelBytes: Int, at index: Int) {
        let change = modelBytes - nodes[index].modelBytes
        nodes[index].modelBytes = modelBytes
        nodes[index].bytes += change
        size.bytes += change
        while let limit = limits.bytes, size.bytes > limit, oldest != Self.none, oldest != index {
            remove(at: oldest)
        }
    }

    /// Returns the index of the entry with a key and variant.
    func index(of key: CacheKey, variant: String) -> Int? {
        var index = heads[key] ?? Self.none
        while index != Self.none {
            if entries[index]?.variant == variant { return index }
            index = nodes[index].next
        }
        return nil
    }

    /// Makes an entry the most recently used one.
    mutating func promote(_ index: Int) {
        guard index != newest else { return }
        unlink(index)
        linkNewest(index)
    }

    mutating func remove(at index: Int) {
        guard let entry = entries[index] else { return }
        size.bytes -= nodes[index].bytes
        size.count -= 1
        unlink(index)
        let (previous, next) = (nodes[index].previous, nodes[index].next)
        if next != Self.none { nodes[next].previous = previous }
        if previous != Self.none {
            nodes[previous].next = next
        } else {
            heads[entry.key] = next == Self.none ? nil : next
        }
        entries[index] = nil
        nodes[index].next = free
        free = index
    }

    private mutating func linkNewest(_ index: Int) {
        nodes[index].newer = Self.none
        nodes[index].older = newest
        if newest != Self.none { nodes[newest].newer = index }
        newest = index
        if oldest == Self.none { oldest = index }
    }

    private mutating func unlink(_ index: Int) {
        let (newer, older) = (nodes[index].newer, nodes[index].older)
        if newer == Self.none { newest = older } else { nodes[newer].older = older }
        if older == Self.none { oldest = newer } else { nodes[older].newer = newer }
    }

    /// Links an entry to those with the same key, before those that are not newer.
    private mutating func linkVariant(_ index: Int, _ entry: CacheEntry) {
        guard let head = heads.updateValue(index, forKey: entry.key) else { return }
        var previous = Self.none
        var next = head
        while next != Self.none, let other = entries[next], other.stored > entry.stored {
            previous = next
            next = nodes[next].next
        }
        nodes[index].previous = previous
        nodes[index].next = next
        if next != Self.none { nodes[next].previous = index }
        if previous != Self.none {
            nodes[previous].next = index
            heads[entry.key] = head
        }
    }
}

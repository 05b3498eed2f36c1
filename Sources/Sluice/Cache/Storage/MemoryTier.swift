#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The entries in memory, in the order they were asked for: a value without a lock or a clock of its own.
struct MemoryTier {
    /// What is known of an entry; without any reference, so that it costs nothing to look at.
    struct Node {
        var lifetime: CacheEntry.Lifetime
        var bytes: Int
        /// How many of them are for the model that was made of it.
        var modelBytes = 0
        /// When its storage was told last that it was asked for.
        var touched: Double
        /// Whether storage has it, so that it can be forgotten here.
        var isStored: Bool
        /// Its neighbours in the order of asking.
        var newer = MemoryTier.none
        var older = MemoryTier.none
        /// Its neighbours among the entries of its key, the newest first; of a free node, `next` is the next free one.
        var previous = MemoryTier.none
        var next = MemoryTier.none
    }

    static let none = -1

    let limits: CacheLimits
    private(set) var size = CacheSize()
    var nodes: ContiguousArray<Node> = []
    /// The entries, each in the place of its node; nil where that is free.
    private(set) var entries: ContiguousArray<CacheEntry?> = []
    var heads: [CacheKey: Int] = [:]
    private var newest = none
    private var oldest = none
    private var free = none

    init(limits: CacheLimits) {
        self.limits = limits
    }

    /// Puts an entry in the place of what has its key and variant, and removes others until all are within the limits.
    ///
    /// - Returns: Whether it is kept; where it is too large, nothing is kept under its key and variant.
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

    /// Removes what was asked for the longest ago until there is room.
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
            // Among several, it may have another place now.
            remove(at: index)
            makeRoom(for: node.bytes, count: 1)
            return add(entry, node)
        }
        promote(index)
        size.bytes -= nodes[index].bytes
        nodes[index].bytes = 0
        // It is the last to be removed, and there is room for it alone.
        makeRoom(for: node.bytes, count: 0)
        entries[index] = entry
        nodes[index].lifetime = node.lifetime
        nodes[index].bytes = node.bytes
        nodes[index].modelBytes = 0
        nodes[index].touched = node.touched
        nodes[index].isStored = node.isStored
        size.bytes += node.bytes
    }

    /// Counts the model that was made of an entry since; the entry must be the one that was asked for last.
    mutating func count(modelBytes: Int, at index: Int) {
        let change = modelBytes - nodes[index].modelBytes
        nodes[index].modelBytes = modelBytes
        nodes[index].bytes += change
        size.bytes += change
        while let limit = limits.bytes, size.bytes > limit, oldest != Self.none, oldest != index {
            remove(at: oldest)
        }
    }

    /// Where the entry of a key and variant is.
    func index(of key: CacheKey, variant: String) -> Int? {
        var index = heads[key] ?? Self.none
        while index != Self.none {
            if entries[index]?.variant == variant { return index }
            index = nodes[index].next
        }
        return nil
    }

    /// Makes an entry the one that was asked for last.
    mutating func promote(_ index: Int) {
        guard index != newest else { return }
        unlink(index)
        linkNewest(index)
    }

    /// Removes an entry.
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

    /// Puts an entry among those of its key, before those that are not newer.
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

import SluiceFoundation
import SluiceHTTP

/// The entries in memory, ordered by their last access. The owner provides the lock and the clock.
struct MemoryTier {
    /// The metadata of an entry. It contains no references, so that reading it costs no reference counting.
    struct Node {
        var lifetime: CacheEntry.Lifetime
        var bytes: Int
        /// The part of ``bytes`` that the decoded model needs.
        var modelBytes = 0
        /// The time of the last access reported to storage.
        var touched: Double
        /// A number that is greater for entries inserted later.
        var serial = 0
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
    /// The serial number of the entry that was inserted last.
    private var serial = 0
    private var newest = none
    private var oldest = none
    private var free = none
    /// The entries that were accessed before they had a model.
    private var undecoded: [Int] = []
    private static let undecodedLimit = 16

    init(limits: CacheLimits) {
        self.limits = limits
    }

    /// Inserts an entry in the place of the one with its key and variant, and evicts others until all are within the
    /// limits.
    ///
    /// - Returns: True if the entry is kept. If it is too large, the previous entry is removed too.
    @discardableResult
    mutating func insert(_ entry: CacheEntry, isStored: Bool, at now: Double) -> Bool {
        let bytes = entry.bytesInMemory
        let existing = index(of: entry.key, variant: entry.variant)
        guard limits.admits(bytes: bytes) else {
            if let existing { remove(at: existing) }
            return false
        }
        let lifetime = entry.lifetimeInMemory(at: now)
        let touched = isStored ? CacheEntry.Lifetime(of: entry).lastAccess(of: entry) : now
        serial += 1
        let node = Node(lifetime: lifetime, bytes: bytes, touched: touched, serial: serial, isStored: isStored)
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
        nodes[index].serial = node.serial
        nodes[index].isStored = node.isStored
        size.bytes += node.bytes
    }

    /// Updates the size of an entry whose model has been decoded. Keeps the most recently used entry.
    mutating func count(modelBytes: Int, at index: Int) {
        let change = modelBytes - nodes[index].modelBytes
        nodes[index].modelBytes = modelBytes
        nodes[index].bytes += change
        size.bytes += change
        while let limit = limits.bytes, size.bytes > limit, oldest != newest { remove(at: oldest) }
    }

    /// Counts the models of accessed entries, after every 16 accesses. The caller decodes a model after the access, and may not access the
    /// entry again.
    private mutating func countLater(_ index: Int) {
        undecoded.append(index)
        guard undecoded.count >= Self.undecodedLimit else { return }
        for index in undecoded {
            guard let bytes = entries[index]?.storedModel?.bytes, nodes[index].modelBytes != bytes else { continue }
            count(modelBytes: bytes, at: index)
        }
        undecoded.removeAll(keepingCapacity: true)
    }

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

// MARK: - Access and removal

extension MemoryTier {
    /// The minimum interval, in seconds, at which accesses to an entry are reported to storage.
    static let touchInterval = 60.0

    /// An access to an entry that is also in storage.
    struct Touch {
        let key: CacheKey
        let variant: String
        /// The time at which the entry was stored, which identifies it among entries with the same key.
        let stored: Date
        let accessed: Date
        let expires: Date?
        /// True if the access extends the lifetime, which is written to storage soon.
        let isExtension: Bool

        /// Creates a touch; nil if an access was reported to storage a short time ago.
        ///
        /// - Parameters:
        ///   - entry: The entry.
        ///   - lifetime: Its lifetime in storage after the access.
        ///   - last: The time of the last access reported to storage.
        ///   - now: The time of the access.
        init?(_ entry: CacheEntry, _ lifetime: CacheEntry.Lifetime, last: Double, at now: Double) {
            isExtension = lifetime.renewal > 0 && lifetime.ends < .infinity
            let interval = isExtension ? min(touchInterval, lifetime.renewal / 8) : touchInterval
            // The absolute value, because the clock may have been set back.
            guard abs(now - last) >= interval else { return nil }
            key = entry.key
            variant = entry.variant
            stored = entry.stored
            accessed = Date(timeIntervalSinceReferenceDate: now)
            expires = isExtension ? Date(timeIntervalSinceReferenceDate: lifetime.ends) : entry.expires
        }
    }

    /// Returns the unexpired entries for a key, newest first.
    mutating func entries(for key: CacheKey, at now: Double, touches: inout [Touch]) -> [CacheEntry] {
        var entries: [CacheEntry] = []
        var index = heads[key] ?? Self.none
        while index != Self.none {
            var next = nodes[index].next
            if let entry = access(index, at: now, touches: &touches) {
                entries.append(entry)
                // The model of this entry may have evicted the next one.
                next = nodes[index].next
            }
            index = next
        }
        return entries
    }

    /// Returns the entry for a key if there is exactly one.
    mutating func onlyEntry(for key: CacheKey, at now: Double, touches: inout [Touch]) -> CacheEntry? {
        guard let index = heads[key], nodes[index].next == Self.none else { return nil }
        return access(index, at: now, touches: &touches)
    }

    /// Records an access. Removes the entry if it has expired.
    private mutating func access(_ index: Int, at now: Double, touches: inout [Touch]) -> CacheEntry? {
        guard let entry = entries[index] else { return nil }
        guard nodes[index].lifetime.isLive(at: now) else {
            remove(at: index)
            return nil
        }
        nodes[index].lifetime.extend(at: now)
        promote(index)
        if let model = entry.storedModel {
            let modelBytes = model.bytes
            if nodes[index].modelBytes != modelBytes { count(modelBytes: modelBytes, at: index) }
            if modelBytes == 0 { countLater(index) }
        }
        if nodes[index].isStored {
            let node = nodes[index]
            var lifetime = node.lifetime
            if entry.memory != nil {
                lifetime = CacheEntry.Lifetime(of: entry)
                lifetime.extend(at: now)
            }
            if let touch = Touch(entry, lifetime, last: node.touched, at: now) {
                nodes[index].touched = now
                touches.append(touch)
            }
        }
        return entry
    }

    /// Begins to remove the selected entries. Those under one name are removed at once.
    ///
    /// - Returns: The sweep that removes the others; nil if there are none.
    mutating func beginRemoval(_ selection: CacheSelection) -> Sweep? {
        guard let name = selection.name, let partition = selection.partition else { return beginSweep() }
        for space in selection.spaces ?? Set(CacheKey.Space.allCases) {
            removeAll(under: CacheKey(name, in: space, partition: partition)) { $0.isSelected($1, by: selection) }
        }
        return nil
    }

    /// Removes the entries under a key for which `isRemoved` returns true.
    mutating func removeAll(under key: CacheKey, where isRemoved: (borrowing MemoryTier, Int) -> Bool) {
        var index = heads[key] ?? Self.none
        while index != Self.none {
            let next = nodes[index].next
            if isRemoved(self, index) { remove(at: index) }
            index = next
        }
    }

    /// Removes the selected entries.
    mutating func remove(_ selection: CacheSelection) {
        guard var sweep = beginRemoval(selection) else { return }
        while continueSweep(&sweep, { $0.isSelected($1, by: selection) }) {}
    }

    /// Removes the entry with the key and variant of another one, if it is older.
    mutating func removeOlder(than entry: CacheEntry) {
        guard let index = index(of: entry.key, variant: entry.variant), let own = entries[index] else { return }
        if own.stored < entry.stored - Self.clockTolerance { remove(at: index) }
    }

    /// The error, in seconds, of times that a storage converts from the clock of a server.
    private static let clockTolerance = 0.01

    /// Returns true if a selection contains an entry. Accesses may have extended the lifetime of the entry.
    func isSelected(_ index: Int, by selection: CacheSelection) -> Bool {
        guard let entry = entries[index] else { return false }
        guard let expired = selection.expired else { return selection.contains(entry) }
        guard !nodes[index].lifetime.isLive(at: expired.timeIntervalSinceReferenceDate) else {
            return false
        }
        var selection = selection
        selection.expired = nil
        return selection.contains(entry)
    }

    /// Marks an entry as written to storage, unless it has been replaced.
    mutating func markStored(_ entry: CacheEntry) {
        if let index = index(of: entry.key, variant: entry.variant), entries[index] === entry {
            nodes[index].isStored = true
        }
    }

    /// Returns true for an entry that is also for storage.
    func isPersistent(_ index: Int) -> Bool {
        entries[index].map { $0.key.space != .memoryValues && !$0.isMemoryOnly } ?? false
    }
}

// MARK: - Sweeping

extension MemoryTier {
    /// The entries in memory at one time, examined in steps. The owner releases the lock between two steps, so that a
    /// cache hit does not wait until all of them have been examined.
    struct Sweep {
        /// The serial number of the last entry at that time. Entries inserted later are left.
        fileprivate let last: Int
        fileprivate let end: Int
        /// The index of the next entry.
        fileprivate(set) var next = 0
        /// The entries that the last step has removed.
        fileprivate(set) var removed: [CacheEntry] = []

        /// Releases the entries that the last step has removed. The owner calls it after it has released the lock.
        mutating func releaseRemoved() {
            removed = []
        }
    }

    /// The number of entries that one step examines.
    static let sweepStep = 256

    func beginSweep() -> Sweep {
        Sweep(last: serial, end: nodes.endIndex)
    }

    /// Examines some entries and removes those for which `isRemoved` returns true.
    ///
    /// - Returns: True if there are more.
    mutating func continueSweep(_ sweep: inout Sweep, _ isRemoved: (borrowing MemoryTier, Int) -> Bool) -> Bool {
        sweep.removed = []
        let end = min(sweep.next + Self.sweepStep, sweep.end, nodes.endIndex)
        while sweep.next < end {
            let index = sweep.next
            sweep.next += 1
            guard nodes[index].serial <= sweep.last, let entry = entries[index], isRemoved(self, index) else {
                continue
            }
            sweep.removed.append(entry)
            remove(at: index)
        }
        return sweep.next < min(sweep.end, nodes.endIndex)
    }
}

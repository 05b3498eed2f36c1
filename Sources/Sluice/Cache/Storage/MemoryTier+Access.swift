#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

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

        /// Creates a touch; nil if storage was told of an access a short time ago.
        ///
        /// - Parameters:
        ///   - entry: The entry.
        ///   - lifetime: Its lifetime after the access.
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
    mutating func recall(_ key: CacheKey, at now: Double, touches: inout [Touch]) -> [CacheEntry] {
        var entries: [CacheEntry] = []
        var index = heads[key] ?? Self.none
        while index != Self.none {
            let next = nodes[index].next
            if let entry = access(index, at: now, touches: &touches) { entries.append(entry) }
            index = next
        }
        return entries
    }

    /// Returns the entry for a key if there is exactly one.
    mutating func recallOnly(_ key: CacheKey, at now: Double, touches: inout [Touch]) -> CacheEntry? {
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
        let modelBytes = entry.modelBytes
        if nodes[index].modelBytes != modelBytes { count(modelBytes: modelBytes, at: index) }
        if nodes[index].isStored {
            let node = nodes[index]
            if let touch = Touch(entry, node.lifetime, last: node.touched, at: now) {
                nodes[index].touched = now
                touches.append(touch)
            }
        }
        return entry
    }

    /// Removes the selected entries.
    mutating func remove(_ selection: CacheSelection) {
        if let name = selection.name, let partition = selection.partition {
            for space in selection.spaces ?? Set(CacheKey.Space.allCases) {
                var index = heads[CacheKey(name, in: space, partition: partition)] ?? Self.none
                while index != Self.none {
                    let next = nodes[index].next
                    if isMeant(index, by: selection) { remove(at: index) }
                    index = next
                }
            }
        } else {
            for index in nodes.indices where isMeant(index, by: selection) { remove(at: index) }
        }
    }

    /// Returns true if a selection contains an entry. Accesses may have extended the lifetime of the entry.
    private func isMeant(_ index: Int, by selection: CacheSelection) -> Bool {
        guard let entry = entries[index] else { return false }
        guard let expired = selection.expired else { return selection.contains(entry) }
        guard !nodes[index].lifetime.isLive(at: expired.timeIntervalSinceReferenceDate) else {
            return false
        }
        var others = selection
        others.expired = nil
        return others.contains(entry)
    }

    /// Marks an entry as written to storage, unless it has been replaced.
    mutating func markStored(_ entry: CacheEntry) {
        if let index = index(of: entry.key, variant: entry.variant), entries[index] === entry {
            nodes[index].isStored = true
        }
    }

    /// Drops all entries that are also for storage, written or not, because another process may have changed them
    /// there.
    ///
    /// - Parameter isPending: Returns true for an entry that waits to be written, which is newer.
    mutating func forgetStored(unless isPending: (CacheEntry) -> Bool) {
        for index in nodes.indices {
            guard let entry = entries[index], entry.key.space != .memoryValues, !isPending(entry) else { continue }
            remove(at: index)
        }
    }
}

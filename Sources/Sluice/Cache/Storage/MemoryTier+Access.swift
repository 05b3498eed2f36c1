#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

extension MemoryTier {
    /// How seldom storage is told that an entry is asked for, in seconds.
    static let touchInterval = 60.0

    /// That an entry which storage has was asked for.
    struct Touch {
        let key: CacheKey
        let variant: String
        /// Which of those that were under its name.
        let stored: Date
        let accessed: Date
        let expires: Date?
        /// Whether it puts off when the entry is gone, which storage should know soon.
        let isExtension: Bool

        /// Makes one, unless storage was told not long ago.
        ///
        /// - Parameters:
        ///   - entry: What was asked for.
        ///   - lifetime: Its lifetime, put off already.
        ///   - last: When storage was told last.
        ///   - now: When it was asked for.
        init?(_ entry: CacheEntry, _ lifetime: CacheEntry.Lifetime, last: Double, at now: Double) {
            isExtension = lifetime.renewal > 0 && lifetime.ends < .infinity
            let interval = isExtension ? min(touchInterval, lifetime.renewal / 8) : touchInterval
            // Either way: the clock may have been set back.
            guard abs(now - last) >= interval else { return nil }
            key = entry.key
            variant = entry.variant
            stored = entry.stored
            accessed = Date(timeIntervalSinceReferenceDate: now)
            expires = isExtension ? Date(timeIntervalSinceReferenceDate: lifetime.ends) : entry.expires
        }
    }

    /// All entries of a key that are not gone, the newest first.
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

    /// The entry of a key that has one only; nil where it has none or several.
    mutating func recallOnly(_ key: CacheKey, at now: Double, touches: inout [Touch]) -> CacheEntry? {
        guard let index = heads[key], nodes[index].next == Self.none else { return nil }
        return access(index, at: now, touches: &touches)
    }

    /// Counts an access; removes the entry if it is gone.
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

    /// Removes what a selection means.
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

    /// Whether a selection means an entry, which may be gone later than it says itself.
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

    /// Notes that storage has an entry, if that is still what is kept.
    mutating func markStored(_ entry: CacheEntry) {
        if let index = index(of: entry.key, variant: entry.variant), entries[index] === entry {
            nodes[index].isStored = true
        }
    }

    /// Forgets all that is for storage too, whether that has it or could not take it: others may have changed it there.
    ///
    /// - Parameter isPending: Whether an entry is on its way there, and so is newer.
    mutating func forgetStored(unless isPending: (CacheEntry) -> Bool) {
        for index in nodes.indices {
            guard let entry = entries[index], entry.key.space != .memoryValues, !isPending(entry) else { continue }
            remove(at: index)
        }
    }
}

/// The changes that wait to be written to storage, in order. Reads take them into account before storage makes them.
///
/// Every change has a number. Storage executes a read at an unknown moment between its beginning and its end.
/// Therefore, the result of a read is corrected with all changes that storage had not made when the read began.
/// Repeating changes in order yields the final contents, no matter how many of them storage had already made. Changes
/// are kept as long as a read is in progress that began before storage made them.
struct PendingChanges {
    /// The kinds of changes to write.
    enum Write: Sendable {
        case change(CacheChange)
        /// Commits an entry whose body has been written to storage but is not visible yet.
        case commit(any CacheWriter, CacheKey, variant: String)
    }

    /// A change that waits to be written or is being written.
    struct Item: Sendable {
        let number: Int
        let write: Write
        let bytes: Int
        /// True for a removal that failed before.
        var isOwed = false

        var isRemoval: Bool {
            if case .change(.remove) = write { true } else { false }
        }
    }

    /// The effect of a change on a key, for reads.
    struct KeyChange {
        let number: Int
        /// The variant; nil for all variants.
        let variant: String?
        /// The stored entry; nil if it is removed or its body is only in storage.
        var entry: CacheEntry?
        /// The number at which storage had made the change.
        var settled: Int?

        /// Returns true if storage had made the change by then.
        func isSettled(by number: Int) -> Bool { settled.map { $0 <= number } ?? false }
    }

    /// A removal that concerns more than one key.
    struct Sweep {
        let number: Int
        let selection: CacheSelection
        var settled: Int?

        func isSettled(by number: Int) -> Bool { settled.map { $0 <= number } ?? false }
    }

    /// The size in bytes that a removal counts as.
    static let removalBytes = 256
    /// The number of failed removals up to which all of them are retried with every batch. Above it, they are retried
    /// only occasionally.
    static let promptLimit = 64
    /// The maximum number of failed removals that are kept individually.
    static let owedLimit = 16_384
    /// The maximum number of removals that may wait individually.
    static let removalLimit = 262_144

    var counter = 0
    var keyed: [CacheKey: [KeyChange]] = [:]
    var sweeps: [Sweep] = []
    var queue: [Item] = []
    /// The failed removals, which are retried first.
    var owed: [Int: Item] = [:]
    /// The queued changes that later changes have superseded.
    var superseded: Set<Int> = []
    /// The number of the last change passed to storage.
    var taken = 0
    /// The number of reads in progress, by the number at which they began.
    var readers: [Int: Int] = [:]
    /// The changes that storage has made and reads may still need, in the order of completion.
    var settled: [(at: Int, key: CacheKey?)] = []
    /// The bytes of the changes that wait or are being written.
    var bytes = 0
    /// The number of removals in the queue.
    var removals = 0

    /// True if no change affects reads.
    var isEmpty: Bool { keyed.isEmpty && sweeps.isEmpty }

    /// The number of the last change that waits or was passed to storage.
    var lastNumber: Int { queue.last?.number ?? taken }

    /// Returns a new number, later than all changes and reads so far.
    mutating func mark() -> Int {
        counter += 1
        return counter
    }

    /// Adds an access to an entry.
    mutating func touch(_ touch: MemoryTier.Touch) {
        counter += 1
        let change = CacheChange.touch(
            touch.key,
            variant: touch.variant,
            stored: touch.stored,
            accessed: touch.accessed,
            expires: touch.expires
        )
        append(Item(number: counter, write: .change(change), bytes: 0))
    }

    /// Adds an entry, which replaces the one with its key and variant.
    mutating func store(_ entry: CacheEntry, bytes: Int) -> Int {
        add(.change(.store(entry)), to: entry.key, variant: entry.variant, entry: entry, bytes: bytes)
    }

    /// Adds the commit of an entry whose body has been written to storage. `entry` is the complete entry if it fits
    /// into memory.
    mutating func commit(_ writer: any CacheWriter, _ key: CacheKey, variant: String, entry: CacheEntry?) -> Int {
        add(
            .commit(writer, key, variant: variant),
            to: key,
            variant: variant,
            entry: entry,
            bytes: entry?.body.count ?? 0
        )
    }

    /// Adds a removal.
    mutating func remove(_ selection: CacheSelection) -> Int {
        if let key = selection.key {
            return add(
                .change(.remove(selection)),
                to: key,
                variant: selection.variant,
                entry: nil,
                bytes: Self.removalBytes
            )
        }
        counter += 1
        sweeps.append(Sweep(number: counter, selection: selection))
        append(Item(number: counter, write: .change(.remove(selection)), bytes: Self.removalBytes))
        return counter
    }

    private mutating func add(
        _ write: Write,
        to key: CacheKey,
        variant: String?,
        entry: CacheEntry?,
        bytes: Int
    ) -> Int {
        counter += 1
        var changes = keyed.removeValue(forKey: key) ?? []
        changes.removeAll { change in
            guard change.number > taken, variant == nil || change.variant == variant else { return false }
            superseded.insert(change.number)
            return true
        }
        changes.append(KeyChange(number: counter, variant: variant, entry: entry))
        keyed[key] = changes
        append(Item(number: counter, write: write, bytes: bytes))
        return counter
    }

    private mutating func append(_ item: Item) {
        queue.append(item)
        bytes += item.bytes
        if item.isRemoval { removals += 1 }
        if removals > Self.removalLimit { collapse() }
    }

    /// Returns the next changes to write, failed removals first; nil if there are none.
    ///
    /// - Parameters:
    ///   - count: The maximum number of changes, besides failed removals.
    ///   - limit: The approximate maximum number of bytes of these changes.
    ///   - retries: True to return all failed removals, even if there are no other changes.
    /// - Returns: The changes in order.
    mutating func take(count: Int, bytes limit: Int, retries: Bool) -> [Item]? {
        guard !queue.isEmpty || retries && !owed.isEmpty else { return nil }
        var batch: [Item] = []
        if retries || owed.count <= Self.promptLimit {
            batch = owed.values.sorted { $0.number < $1.number }
            owed = [:]
            taken = max(taken, batch.last?.number ?? 0)
        }
        var size = 0
        var end = queue.startIndex
        while end < queue.endIndex, end < count, size < limit {
            let item = queue[end]
            if item.isRemoval { removals -= 1 }
            if superseded.remove(item.number) != nil {
                bytes -= item.bytes
            } else {
                size += item.bytes
                batch.append(item)
            }
            taken = max(taken, item.number)
            end += 1
        }
        queue.removeSubrange(..<end)
        return batch
    }
}

extension CacheSelection {
    /// The key, if the selection consists of a key and optionally a variant.
    var key: CacheKey? {
        guard let spaces, spaces.count == 1, let space = spaces.first, let partition, let name else { return nil }
        return tag == nil && expired == nil ? CacheKey(name, in: space, partition: partition) : nil
    }
}

/// Changes on their way to storage, in their order: what reads must see before storage does, and what still has to be written.
///
/// Every change has a number. A read of storage takes an unknown moment between its beginning and its end, so what it brings
/// is corrected by all changes that storage had not made when it began: making them again in their order gives what storage
/// will hold, however many of them it had made. They are therefore kept until no read is under way that began before them.
struct PendingChanges {
    /// What has to be written.
    enum Write: Sendable {
        case change(CacheChange)
        /// An entry whose body is in storage already, seen by nobody.
        case commit(any CacheWriter, CacheKey, variant: String)
    }

    /// A change that waits to be written, or is being written.
    struct Item: Sendable {
        let number: Int
        let write: Write
        let bytes: Int
        /// Whether it is a removal that failed before.
        var isOwed = false

        var isRemoval: Bool {
            if case .change(.remove) = write { true } else { false }
        }
    }

    /// What a change does to a key, for reads.
    struct KeyChange {
        let number: Int
        /// Nil for all of them.
        let variant: String?
        /// What is kept now; nil where it is removed, or is not to be seen yet.
        var entry: CacheEntry?
        /// When storage had made it.
        var settled: Int?

        /// Whether storage had made it by then.
        func isSettled(by number: Int) -> Bool { settled.map { $0 <= number } ?? false }
    }

    /// A removal of more than a key.
    struct Sweep {
        let number: Int
        let selection: CacheSelection
        var settled: Int?

        func isSettled(by number: Int) -> Bool { settled.map { $0 <= number } ?? false }
    }

    /// What a removal takes in the account of what is pending.
    static let removalBytes = 256
    /// How many removals that failed are tried again with every batch; more of them only now and then.
    static let promptLimit = 64
    /// How many removals that storage could not make are remembered one by one.
    static let owedLimit = 16_384
    /// How many removals may wait one by one.
    static let removalLimit = 262_144

    var counter = 0
    var keyed: [CacheKey: [KeyChange]] = [:]
    var sweeps: [Sweep] = []
    var queue: [Item] = []
    /// Removals that storage could not make, which go first the next time.
    var owed: [Int: Item] = [:]
    /// Changes in the queue that later ones have made needless.
    var superseded: Set<Int> = []
    /// The number of the last change that was given to storage.
    var taken = 0
    /// How many reads began at a number and are under way.
    var readers: [Int: Int] = [:]
    /// What storage has made and reads may still need, in the order it was made.
    var settled: [(at: Int, key: CacheKey?)] = []
    /// The bytes of what waits or is being written.
    var bytes = 0
    /// How many removals wait.
    var removals = 0

    /// Whether reads have nothing to learn here.
    var isEmpty: Bool { keyed.isEmpty && sweeps.isEmpty }

    /// The number of the last change that waits or was given to storage.
    var lastNumber: Int { queue.last?.number ?? taken }

    /// Sets a time apart from all changes and reads so far.
    mutating func mark() -> Int {
        counter += 1
        return counter
    }

    /// Notes that an entry was asked for.
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

    /// Puts an entry in the place of what has its key and variant.
    mutating func store(_ entry: CacheEntry, bytes: Int) -> Int {
        add(.change(.store(entry)), to: entry.key, variant: entry.variant, entry: entry, bytes: bytes)
    }

    /// Makes an entry seen whose body is in storage; `entry` is the whole of it where memory could hold it.
    mutating func commit(_ writer: any CacheWriter, _ key: CacheKey, variant: String, entry: CacheEntry?) -> Int {
        add(
            .commit(writer, key, variant: variant),
            to: key,
            variant: variant,
            entry: entry,
            bytes: entry?.body.count ?? 0
        )
    }

    /// Removes entries.
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

    /// Gives what is to be written next, removals that failed before first; nil once there is nothing.
    ///
    /// - Parameters:
    ///   - count: How many changes at most, besides what failed before.
    ///   - limit: How many bytes of them, about.
    ///   - retries: Whether what failed before is a reason by itself, and comes along however much it is.
    /// - Returns: What is to be written, in its order.
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
    /// The key of which all that is said is which variant, if that is so.
    var key: CacheKey? {
        guard let spaces, spaces.count == 1, let space = spaces.first, let partition, let name else { return nil }
        return tag == nil && expired == nil ? CacheKey(name, in: space, partition: partition) : nil
    }
}

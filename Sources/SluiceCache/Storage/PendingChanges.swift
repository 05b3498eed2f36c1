import SluiceHTTP

/// The changes that wait to be written to storage, in order. Reads take them into account before storage makes them.
///
/// Every change has a number. Storage executes a read at an unknown moment between its beginning and its end.
/// Therefore, the result of a read is corrected with all changes that storage had not made when the read began.
/// Repeating changes in order yields the final contents, no matter how many of them storage had already made. A change
/// stays here as long as a read is in progress that began before storage made it. If a read takes so long that too many
/// changes would stay, its result is dropped instead.
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
        var isRetry = false
        /// True if the caller waits for the change.
        var isAwaited = false

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
    struct BulkRemoval {
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
    /// The maximum number of individual failed removals. Beyond it, they are replaced by a removal of all entries.
    static let failedRemovalLimit = 16_384
    /// The maximum number of removals that may wait individually.
    static let removalLimit = 262_144
    /// The maximum number, and of bytes, of changes that stay for reads after storage has made them.
    static let settledLimit = (count: 16_384, bytes: 64 << 20)
    /// The maximum number of queued changes up to which accesses are added. Further accesses are not recorded.
    static let touchLimit = 65_536

    var counter = 0
    var keyed: [CacheKey: [KeyChange]] = [:]
    var bulkRemovals: [BulkRemoval] = []
    var queue: [Item] = []
    /// The failed removals, which are retried first.
    var failedRemovals: [Int: Item] = [:]
    /// The queued changes that later changes have superseded.
    var superseded: Set<Int> = []
    /// The awaited entries that a removal of everything has replaced, or that a failed one will remove.
    var abandoned: Set<Int> = []
    /// The awaited removals that a removal of everything has replaced, with its number.
    var replaced: [Int: Int] = [:]
    /// The number of the last change passed to storage.
    var taken = 0
    /// The number of reads in progress, by the number at which they began.
    var readers: [Int: Int] = [:]
    /// The changes that storage has made and reads may still need, in the order of completion.
    var settled: [(at: Int, key: CacheKey?, bytes: Int)] = []
    /// The bytes of these changes.
    var settledBytes = 0
    /// The number before which a read must have begun for its result to be dropped.
    var droppedReads = 0
    /// The bytes of the changes that wait or are being written.
    var bytes = 0
    /// The number of removals in the queue.
    var removals = 0

    /// True if no change affects reads.
    var isEmpty: Bool { keyed.isEmpty && bulkRemovals.isEmpty }

    /// The number of the last change that waits or was passed to storage.
    var lastNumber: Int { queue.last?.number ?? taken }

    /// Adds an access to an entry.
    mutating func touch(_ touch: MemoryTier.Touch) {
        guard queue.count < Self.touchLimit else { return }
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
    mutating func store(_ entry: CacheEntry, bytes: Int, isAwaited: Bool = false) -> Int {
        add(
            .change(.store(entry)),
            to: entry.key,
            variant: entry.variant,
            entry: entry,
            bytes: bytes,
            isAwaited: isAwaited
        )
    }

    /// Adds the commit of an entry whose body has been written to storage. `entry` is the complete entry if it fits
    /// into memory.
    mutating func commit(_ writer: any CacheWriter, _ key: CacheKey, variant: String, entry: CacheEntry?) -> Int {
        add(
            .commit(writer, key, variant: variant),
            to: key,
            variant: variant,
            entry: entry,
            bytes: entry?.body.count ?? 0,
            isAwaited: true
        )
    }

    /// Adds a removal.
    mutating func remove(_ selection: CacheSelection, isAwaited: Bool = false) -> Int {
        if let key = selection.key {
            return add(
                .change(.remove(selection)),
                to: key,
                variant: selection.variant,
                entry: nil,
                bytes: Self.removalBytes,
                isAwaited: isAwaited
            )
        }
        counter += 1
        let number = counter
        bulkRemovals.append(BulkRemoval(number: number, selection: selection))
        let write = Write.change(.remove(selection))
        append(Item(number: number, write: write, bytes: Self.removalBytes, isAwaited: isAwaited))
        return number
    }

    private mutating func add(
        _ write: Write,
        to key: CacheKey,
        variant: String?,
        entry: CacheEntry?,
        bytes: Int,
        isAwaited: Bool = false
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
        append(Item(number: counter, write: write, bytes: bytes, isAwaited: isAwaited))
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
        guard !queue.isEmpty || retries && !failedRemovals.isEmpty else { return nil }
        var batch: [Item] = []
        if retries || failedRemovals.count <= Self.promptLimit {
            batch = failedRemovals.values.sorted { $0.number < $1.number }
            failedRemovals = [:]
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

// MARK: - Reading while changes wait

extension PendingChanges {
    /// Begins a read of storage.
    ///
    /// - Returns: The number to pass to ``endRead(_:)``.
    mutating func beginRead() -> Int {
        readers[counter, default: 0] += 1
        return counter
    }

    /// Ends a read of storage, and drops the changes that only this read needed.
    mutating func endRead(_ begun: Int) {
        guard let count = readers[begun] else { return }
        readers[begun] = count > 1 ? count - 1 : nil
        forgetSettled()
    }

    /// Applies the changes that storage had not made when a read began to the result of that read.
    ///
    /// - Parameters:
    ///   - entries: The entries read from storage.
    ///   - key: The key.
    ///   - begun: The number of the read.
    /// - Returns: The current entries for the key, in no particular order.
    func correct(_ entries: [CacheEntry], of key: CacheKey, since begun: Int) -> [CacheEntry] {
        let changes = keyed[key] ?? []
        var entries = begun < droppedReads ? [] : entries
        if changes.isEmpty, bulkRemovals.isEmpty { return entries }
        var next = bulkRemovals.startIndex
        func applyBulkRemovals(before number: Int) {
            while next < bulkRemovals.endIndex, bulkRemovals[next].number < number {
                let selection = bulkRemovals[next].selection
                if !bulkRemovals[next].isSettled(by: begun) { entries.removeAll { selection.contains($0) } }
                next += 1
            }
        }
        for change in changes where !change.isSettled(by: begun) {
            applyBulkRemovals(before: change.number)
            entries.removeAll { change.variant == nil || $0.variant == change.variant }
            if let entry = change.entry { entries.append(entry) }
        }
        applyBulkRemovals(before: .max)
        return entries
    }

    /// Hides the selected entries that wait to be written from reads, because another process has removed them. Storage
    /// decides if they are older than the removal.
    mutating func hide(_ selection: CacheSelection) {
        let keys = selection.key.map { [$0] } ?? Array(keyed.keys)
        for key in keys {
            guard let changes = keyed[key] else { continue }
            for (index, change) in changes.enumerated() where change.entry.map(selection.contains) == true {
                keyed[key]?[index].entry = nil
            }
        }
    }

    /// Returns true if there is a change to this key.
    func hasChange(to key: CacheKey) -> Bool {
        !keyed.isEmpty && keyed[key] != nil
    }

    /// Returns the entries for a key that have not been written to storage.
    func unwritten(_ key: CacheKey) -> [CacheEntry] {
        correct([], of: key, since: counter)
    }

    /// Returns true if a change contains this entry, because storage has not written it or a read may still need it.
    func contains(_ entry: CacheEntry) -> Bool {
        keyed[entry.key]?.contains { $0.entry === entry } ?? false
    }

    /// Drops the changes that storage had made before the oldest read in progress.
    mutating func forgetSettled() {
        guard !settled.isEmpty else { return }
        var first = readers.keys.min() ?? .max
        if settled.count > Self.settledLimit.count || settledBytes > Self.settledLimit.bytes {
            droppedReads = counter
            first = .max
        }
        let end = settled.firstIndex { $0.at > first } ?? settled.endIndex
        var hasBulkRemoval = false
        for (_, key, bytes) in settled[..<end] {
            settledBytes -= bytes
            if let key, var changes = keyed.removeValue(forKey: key) {
                changes.removeAll { $0.isSettled(by: first) }
                if !changes.isEmpty { keyed[key] = changes }
            } else if key == nil {
                hasBulkRemoval = true
            }
        }
        if hasBulkRemoval { bulkRemovals.removeAll { $0.isSettled(by: first) } }
        settled.removeSubrange(..<end)
    }
}

// MARK: - Settling changes

extension PendingChanges {
    /// Records the result of a batch.
    ///
    /// A failed store becomes a removal, because storage may contain an older entry. A failed removal is kept until it
    /// succeeds.
    ///
    /// - Parameters:
    ///   - batch: The changes passed to storage.
    ///   - failed: The numbers of the changes that failed.
    /// - Returns: The entries that storage has written.
    mutating func settle(_ batch: [Item], failed: Set<Int>) -> [CacheEntry] {
        counter += 1
        var stored: [CacheEntry] = []
        for item in batch {
            bytes -= item.bytes
            let selection: CacheSelection
            switch item.write {
            case .change(.store(let entry)): selection = CacheSelection(entry.key, variant: entry.variant)
            case .change(.remove(let removed)): selection = removed
            case .change(.touch): continue
            case .commit(_, let key, let variant): selection = CacheSelection(key, variant: variant)
            }
            let hasFailed = failed.contains(item.number)
            if hasFailed {
                addFailedRemoval(selection, number: item.number)
            } else {
                settled.append((counter, selection.key, item.bytes))
                settledBytes += item.bytes
            }
            guard let key = selection.key else {
                if !hasFailed, let index = bulkRemovals.firstIndex(where: { $0.number == item.number }) {
                    bulkRemovals[index].settled = counter
                }
                continue
            }
            if !hasFailed {
                dropFailedRemovals(key, variant: selection.variant, before: item.number)
                if item.isAwaited, willBeRemoved(item) { abandoned.insert(item.number) }
            }
            guard let index = keyed[key]?.firstIndex(where: { $0.number == item.number }) else { continue }
            if hasFailed {
                keyed[key]?[index].entry = nil
            } else {
                if let entry = keyed[key]?[index].entry { stored.append(entry) }
                keyed[key]?[index].settled = counter
            }
        }
        forgetSettled()
        if failedRemovals.count > Self.failedRemovalLimit { collapse() }
        return stored
    }

    /// Records a removal that must be made before all later changes.
    private mutating func addFailedRemoval(_ selection: CacheSelection, number: Int) {
        if let key = selection.key { dropFailedRemovals(key, variant: selection.variant, before: number) }
        failedRemovals[number] = Item(
            number: number,
            write: .change(.remove(selection)),
            bytes: Self.removalBytes,
            isRetry: true
        )
        bytes += Self.removalBytes
    }

    /// Returns true for a stored entry that an earlier removal, which has failed, will remove when it is repeated.
    private func willBeRemoved(_ item: Item) -> Bool {
        guard !failedRemovals.isEmpty, case .change(.store(let entry)) = item.write else { return false }
        let isRepeated = { (number: Int) in number < item.number && failedRemovals[number] != nil }
        return bulkRemovals.contains { isRepeated($0.number) && $0.selection.contains(entry) }
            || (keyed[entry.key] ?? []).contains { isRepeated($0.number) && $0.variant == nil }
    }

    /// Drops failed removals that a later change with the same key and variant supersedes. A value has no variants.
    private mutating func dropFailedRemovals(_ key: CacheKey, variant: String?, before number: Int) {
        guard !failedRemovals.isEmpty, let changes = keyed[key] else { return }
        let remaining = changes.filter { change in
            guard change.number < number, change.variant == variant || key.space == .values,
                let item = failedRemovals[change.number]
            else { return true }
            bytes -= item.bytes
            failedRemovals[change.number] = nil
            return false
        }
        if remaining.count < changes.count { keyed[key] = remaining.isEmpty ? nil : remaining }
    }

    /// Replaces failed and queued changes, up to the last queued removal, by a single removal of all entries in
    /// storage.
    ///
    /// Entries in storage are lost, but no removal is. Memory use stays bounded however long storage fails.
    mutating func collapse() {
        let lastRemoval = queue.lastIndex(where: \.isRemoval)
        let end = lastRemoval.map { $0 + 1 } ?? queue.startIndex
        guard let last = lastRemoval.map({ queue[$0].number }) ?? failedRemovals.keys.max() else { return }
        let replaced = failedRemovals.values + queue[..<end]
        let numbers = Set(replaced.map(\.number))
        for item in replaced { bytes -= item.bytes }
        for (number, earlier) in self.replaced where numbers.contains(earlier) { self.replaced[number] = last }
        for item in queue[..<end] where item.isAwaited && !superseded.contains(item.number) {
            if item.isRemoval { self.replaced[item.number] = last } else { abandoned.insert(item.number) }
        }
        superseded.subtract(numbers)
        failedRemovals = [:]
        removals = 0
        queue.removeSubrange(..<end)
        keyed = keyed.compactMapValues { changes in
            let remaining = changes.filter { !numbers.contains($0.number) }
            return remaining.isEmpty ? nil : remaining
        }
        bulkRemovals.removeAll { numbers.contains($0.number) }
        let position = bulkRemovals.firstIndex { $0.number > last } ?? bulkRemovals.endIndex
        bulkRemovals.insert(BulkRemoval(number: last, selection: CacheSelection()), at: position)
        addFailedRemoval(CacheSelection(), number: last)
    }
}

// MARK: - Fetch ticket

/// A fetch, from sending its request until its response is stored or dropped.
///
/// A removal outdates the fetches in progress: their responses are not stored, because they are older than the removal.
package final class FetchTicket: Sendable {
    private let store: CacheStore
    let number: Int

    fileprivate init(_ store: CacheStore, _ number: Int) {
        self.store = store
        self.number = number
    }

    deinit {
        store.state.withLock { $0.removals.endFetch() }
    }

    /// True if a response with this key and these tags may be stored.
    package func isCurrent(_ key: CacheKey, tags: Set<String>) -> Bool {
        store.state.withLock { $0.isCurrent(self, key, tags: tags) }
    }
}

extension CacheStore {
    /// Returns the ticket of a fetch that begins now.
    package nonisolated func beginFetch() -> FetchTicket {
        FetchTicket(self, state.withLock { $0.removals.beginFetch() })
    }
}

extension CacheStore.State {
    /// True if a response may be stored: no removal that concerns it has been made since its fetch began.
    func isCurrent(_ ticket: FetchTicket, _ key: CacheKey, tags: Set<String>) -> Bool {
        !removals.isOutdated(ticket.number, key, tags: tags)
    }
}

/// The removals and stored entries that outdate fetches in progress. They are recorded only while there are fetches.
///
/// The memory is bounded. Beyond a limit of removals, all fetches in progress count as outdated, and their responses are not stored. Beyond
/// a limit of stored entries, all of them are forgotten.
struct RemovalLog {
    /// The maximum number of keys and of stored entries, and of removals that concern more than one key.
    static let limit = (keys: 4096, selections: 64)

    private var counter = 0
    private var fetchCount = 0
    /// The number of the last removal of each key.
    private var keys: [CacheKey: Int] = [:]
    /// The removals that concern more than one key, each with its number.
    private var selections: [(number: Int, selection: CacheSelection)] = []
    /// The number of the last removal that outdates all earlier fetches.
    private var last = 0
    /// The number of the last fetch whose response was stored under each name, or has removed the entry.
    private var stored: [CacheStore.EntryName: Int] = [:]

    /// The number of recorded removals and stored entries.
    var count: Int { keys.count + selections.count + stored.count }

    /// Records the beginning of a fetch, and returns its number.
    mutating func beginFetch() -> Int {
        fetchCount += 1
        counter += 1
        return counter
    }

    /// Records the end of a fetch. Without fetches, no removal is needed any longer.
    mutating func endFetch() {
        fetchCount -= 1
        if fetchCount == 0 { forget() }
    }

    /// Records a removal. The removal of a single variant makes room for another response, and outdates no fetch. Nor
    /// does the removal of expired entries.
    mutating func record(_ selection: CacheSelection) {
        guard fetchCount > 0, selection.variant == nil, selection.expired == nil else { return }
        counter += 1
        if let key = selection.key {
            keys[key] = counter
        } else {
            selections.removeAll { $0.selection == selection }
            selections.append((counter, selection))
        }
        if keys.count > Self.limit.keys || selections.count > Self.limit.selections {
            forget()
            last = counter
        }
    }

    private mutating func forget() {
        keys = [:]
        selections = []
        stored = [:]
    }

    /// Records that an entry is stored, unless that of a later fetch has been.
    ///
    /// - Parameters:
    ///   - name: The name of the entry.
    ///   - fetch: The fetch that has received it; nil for an entry that is newer than all fetches in progress.
    /// - Returns: True if the entry can be stored.
    mutating func recordStore(_ name: CacheStore.EntryName, by fetch: Int?) -> Bool {
        if let fetch, stored[name] ?? 0 > fetch { return false }
        // The entry outdates no fetch but its own.
        guard fetchCount > (fetch == nil ? 0 : 1) else { return true }
        if fetch == nil { counter += 1 }
        if stored.count >= Self.limit.keys, stored[name] == nil { stored = [:] }
        stored[name] = fetch ?? counter
        return true
    }

    /// True if a removal that concerns a key and tags has been made since a fetch began.
    func isOutdated(_ fetch: Int, _ key: CacheKey, tags: Set<String>) -> Bool {
        if last > fetch || keys[key] ?? 0 > fetch { return true }
        return selections.contains { $0.number > fetch && $0.selection.contains(key, tags: tags) }
    }
}

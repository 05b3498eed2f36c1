import SluiceFoundation
import SluiceHTTP

// MARK: - Reading entries

extension CacheStore {
    /// The work that follows an access.
    fileprivate struct FollowUp: OptionSet {
        let rawValue: Int

        static let drain = FollowUp(rawValue: 1)
        static let checkForeignChanges = FollowUp(rawValue: 2)
    }

    /// Returns the unexpired entries for a key, in memory or waiting to be written, newest first. Never waits.
    package nonisolated func entriesInMemory(for key: CacheKey) -> [CacheEntry] {
        let date = self.date
        let now = date.timeIntervalSinceReferenceDate
        let (entries, followUp) = state.withLock { state in
            var touches: [MemoryTier.Touch] = []
            var entries = state.memory.entries(for: key, at: now, touches: &touches)
            if state.pending.hasChange(to: key) { entries.merge(state.pending.unwritten(key), at: date) }
            return (entries, state.recordAccesses(touches, at: now, inStorage: hasStorage))
        }
        run(followUp)
        return entries
    }

    /// Returns the entry for a key, in memory or waiting to be written, if it is the only one. Like
    /// ``entriesInMemory(for:)``, without an array.
    package nonisolated func onlyEntryInMemory(for key: CacheKey) -> CacheEntry? {
        let date = self.date
        let now = date.timeIntervalSinceReferenceDate
        let (entry, followUp) = state.withLock { state -> (CacheEntry?, FollowUp) in
            var touches: [MemoryTier.Touch] = []
            var entry = state.memory.onlyEntry(for: key, at: now, touches: &touches)
            if state.pending.hasChange(to: key) {
                var entries = entry.map { [$0] } ?? []
                entries.merge(state.pending.unwritten(key), at: date)
                entry = entries.count == 1 ? entries.first : nil
            }
            return (entry, state.recordAccesses(touches, at: now, inStorage: hasStorage))
        }
        run(followUp)
        return entry
    }

    /// Returns the unexpired entries for a key, in memory and in storage, newest first.
    ///
    /// Entries read from storage are also kept in memory.
    package nonisolated func entries(for key: CacheKey) async -> [CacheEntry] {
        guard let storage, key.space != .memoryValues else { return entriesInMemory(for: key) }
        await beginForeignChecks()
        let begun = state.withLock { $0.beginRead() }
        let found: Result<[CacheEntry], SluiceError>
        do throws(SluiceError) {
            found = .success(try await storage.entries(for: key, at: date))
        } catch {
            found = .failure(error)
        }
        return merge(found, for: key, since: begun)
    }

    /// Reads entries like ``entries(for:)``, but without a task. Returns false if that is not possible because storage
    /// does not support it or has not been opened; `completion` is then never called. `completion` runs on a thread of
    /// the storage, which it must not block. It gets nil if the entries must be read by ``entries(for:)``.
    package nonisolated func entries(
        for key: CacheKey,
        completion: @escaping @Sendable ([CacheEntry]?) -> Void
    ) -> Bool {
        guard let storage = storage as? any CallbackCacheStorage else { return false }
        let begun: StorageRead? = state.withLock { state in
            state.checksForeignChanges ? state.beginRead() : nil
        }
        guard let begun else { return false }
        storage.entries(for: key, at: date) { [self] found in
            if let found { return completion(merge(found, for: key, since: begun)) }
            state.withLock { $0.endRead(begun) }
            completion(nil)
        }
        return true
    }

    /// Merges the result of a read of storage with the entries for its key in memory. Entries found in storage are also
    /// kept in memory.
    private nonisolated func merge(
        _ found: Result<[CacheEntry], SluiceError>,
        for key: CacheKey,
        since begun: StorageRead
    ) -> [CacheEntry] {
        var stored: [CacheEntry] = []
        switch found {
        case .success(let entries): stored = entries
        case .failure(let error): if !error.isCancellation { notify(.readFailed(error)) }
        }
        let date = self.date
        let now = date.timeIntervalSinceReferenceDate
        let (entries, followUp) = state.withLock { [stored] state in
            let corrected = state.pending.correct(stored, of: key, since: begun.number)
            // Another process may have stored a newer entry, and the news of it may not have arrived.
            for entry in corrected { state.memory.removeOlder(than: entry) }
            var touches: [MemoryTier.Touch] = []
            var entries = state.memory.entries(for: key, at: now, touches: &touches)
            let added = entries.merge(corrected, at: date)
            for entry in added.reversed() {
                let isStored = !state.pending.contains(entry)
                // An entry that another process has changed since the read began is returned but not kept in memory.
                if !state.foreignChanges.isOutdated(begun.foreignNumber, key, tags: entry.tags),
                    state.memory.insert(entry, isStored: isStored, at: now)
                {
                    continue
                }
                var lifetime = CacheEntry.Lifetime(of: entry)
                let last = lifetime.lastAccess(of: entry)
                lifetime.extend(at: now)
                if isStored, let touch = MemoryTier.Touch(entry, lifetime, last: last, at: now) {
                    touches.append(touch)
                }
            }
            if !added.isEmpty { _ = state.memory.entries(for: key, at: now, touches: &touches) }
            state.endRead(begun)
            return (entries, state.recordAccesses(touches, at: now, inStorage: hasStorage))
        }
        run(followUp)
        return entries
    }

    private nonisolated func run(_ followUp: FollowUp) {
        guard !followUp.isEmpty else { return }
        if followUp.contains(.drain) { startDraining() }
        if followUp.contains(.checkForeignChanges) { Task.detached { await self.checkForeignChanges() } }
    }

    /// Begins to follow the changes of other processes before the first read or write.
    nonisolated func beginForeignChecks() async {
        guard let storage else { return }
        let isFirst = state.withLock { state in
            defer { state.checksForeignChanges = true }
            return !state.checksForeignChanges
        }
        guard isFirst else { return }
        if let invalidations = storage.invalidations() {
            let follower = Task.detached { [weak self] in
                for await invalidation in invalidations { self?.drop(invalidation) }
            }
            state.withLock { $0.follower = follower }
        }
        // An error is ignored, because the next operation fails with it too.
        if (try? await (storage as? any PolledCacheStorage)?.hasForeignChanges()) == true { drop(.everything) }
    }

    /// Drops the entries in memory that another process may have changed.
    private nonisolated func checkForeignChanges() async {
        do throws(SluiceError) {
            guard try await (storage as? any PolledCacheStorage)?.hasForeignChanges() == true else { return }
        } catch {
            return notify(.readFailed(error))
        }
        drop(.everything)
    }

    /// Drops the entries in memory that a change of another process concerns, except those that wait to be written.
    private nonisolated func drop(_ invalidation: CacheInvalidation) {
        let selection: CacheSelection
        var isRemoval = false
        switch invalidation {
        case .stored(let key): selection = CacheSelection(key)
        case .everything: selection = CacheSelection()
        case .removed(let removed):
            selection = removed
            isRemoval = true
        }
        let sweep = state.withLock { state in
            state.foreignChanges.record(selection)
            if isRemoval {
                state.removals.record(selection)
                state.pending.hide(selection)
            }
            return state.beginDropping(selection)
        }
        guard var sweep else { return }
        while state.withLock({ $0.dropPersistent(&sweep, selection) }) { sweep.releaseRemoved() }
    }
}

private struct StorageRead {
    /// Its number among the changes of this process.
    let number: Int
    /// Its number among those of other processes.
    let foreignNumber: Int
}

extension CacheStore.State {
    fileprivate mutating func beginRead() -> StorageRead {
        StorageRead(number: pending.beginRead(), foreignNumber: foreignChanges.beginFetch())
    }

    fileprivate mutating func endRead(_ read: StorageRead) {
        pending.endRead(read.number)
        foreignChanges.endFetch()
    }

    /// Begins to drop the selected entries in memory that are also in storage. Those under one key are dropped at once.
    ///
    /// - Returns: The sweep that drops the others; nil if there are none.
    fileprivate mutating func beginDropping(_ selection: CacheSelection) -> MemoryTier.Sweep? {
        guard let key = selection.key else { return memory.beginSweep() }
        memory.removeAll(under: key) { [pending] memory, index in
            Self.isDropped(index, in: memory, pending, selection)
        }
        return nil
    }

    /// Drops some of the selected entries in memory that are also in storage. Returns true if there are more.
    fileprivate mutating func dropPersistent(_ sweep: inout MemoryTier.Sweep, _ selection: CacheSelection) -> Bool {
        memory.continueSweep(&sweep) { [pending] memory, index in
            Self.isDropped(index, in: memory, pending, selection)
        }
    }

    private static func isDropped(
        _ index: Int,
        in memory: borrowing MemoryTier,
        _ pending: PendingChanges,
        _ selection: CacheSelection
    ) -> Bool {
        guard memory.isPersistent(index), let entry = memory.entries[index] else { return false }
        return selection.contains(entry) && !pending.contains(entry)
    }

    /// The number of accesses that are recorded before they are written to storage.
    private static let touchLimit = 64

    /// Records accesses and returns the work to do after the lock is released.
    fileprivate mutating func recordAccesses(
        _ touches: [MemoryTier.Touch],
        at now: Double,
        inStorage hasStorage: Bool
    ) -> CacheStore.FollowUp {
        guard hasStorage else { return [] }
        var followUp: CacheStore.FollowUp = []
        if !touches.isEmpty, record(touches) { followUp.insert(.drain) }
        // The absolute value, because the clock may have been set back.
        if checksForeignChanges, abs(now - lastForeignCheck) >= 1 {
            lastForeignCheck = now
            followUp.insert(.checkForeignChanges)
        }
        return followUp
    }

    /// Records accesses to entries.
    ///
    /// - Returns: True if the caller has to start the draining task.
    private mutating func record(_ touches: [MemoryTier.Touch]) -> Bool {
        var isDue = false
        for touch in touches {
            self.touches[CacheStore.EntryName(key: touch.key, variant: touch.variant)] = touch
            if touch.isExtension { isDue = true }
        }
        guard isDue || self.touches.count >= Self.touchLimit else { return false }
        queueTouches()
        return beginDraining()
    }
}

extension [CacheEntry] {
    /// Adds the unexpired entries of other variants, newest first.
    ///
    /// - Returns: The added entries.
    @discardableResult
    fileprivate mutating func merge(_ others: [CacheEntry], at now: Date) -> [CacheEntry] {
        if others.isEmpty { return [] }
        let added = others.filter { other in
            other.isLive(at: now) && !contains { $0.variant == other.variant }
        }
        guard !added.isEmpty else { return [] }
        append(contentsOf: added)
        if count > 1 { sort { $0.stored > $1.stored } }
        return added
    }
}

// MARK: - Storing and removing entries

extension CacheStore {
    /// Stores an entry: in memory at once, in storage later. Never waits.
    ///
    /// If the entry exceeds the limits of a tier, that tier removes the previous entry with its key and variant. So does
    /// storage for an entry in memory only. An expired entry also removes the previous one.
    ///
    /// - Parameters:
    ///   - entry: The entry.
    ///   - isAwaited: True if the caller waits for the write with ``waitUntilWritten(_:)``. Such writes are not limited
    ///     by `pendingBytes`, because there is at most one per caller.
    /// - Returns: The number of the change to wait for; nil if nothing is written.
    @discardableResult
    package nonisolated func insert(_ entry: CacheEntry, isAwaited: Bool = false) -> Int? {
        insert(entry, of: nil, isAwaited: isAwaited).number
    }

    /// Stores the response of a fetch, unless a removal or the response to a later request has outdated the fetch.
    ///
    /// - Returns: True if the fetch is current.
    @discardableResult
    package nonisolated func insert(_ entry: CacheEntry, of ticket: FetchTicket) -> Bool {
        insert(entry, of: ticket, isAwaited: false).isCurrent
    }

    private nonisolated func insert(
        _ entry: CacheEntry,
        of ticket: FetchTicket?,
        isAwaited: Bool
    ) -> (number: Int?, isCurrent: Bool) {
        let date = self.date
        let isLive = entry.isLive(at: date)
        guard isLive || entry.memory != nil else {
            return removePrevious(to: entry, of: ticket, isAwaited: isAwaited)
        }
        let bytes = entry.byteCount
        let isForStorage = hasStorage && entry.key.space != .memoryValues
        let isWritten = isForStorage && !entry.isMemoryOnly && isLive
        let isAdmitted = isWritten && configuration.disk.admits(bytes: bytes)
        let (isInMemory, number, startsDraining) = state.withLock { state -> (Bool?, Int?, Bool) in
            guard state.admits(entry, of: ticket) else { return (nil, nil, false) }
            let isInMemory = state.memory.insert(entry, isStored: false, at: date.timeIntervalSinceReferenceDate)
            // Accesses to the previous entry do not apply to this one.
            state.touches[EntryName(key: entry.key, variant: entry.variant)] = nil
            guard isForStorage else { return (isInMemory, nil, false) }
            let number: Int
            if isAdmitted, isAwaited || state.pending.bytes <= configuration.pendingBytes {
                number = state.pending.store(entry, bytes: bytes, isAwaited: isAwaited)
            } else {
                if isAdmitted {
                    state.dropped.count += 1
                    state.dropped.bytes += bytes
                }
                let selection = CacheSelection(entry.key, variant: entry.variant)
                number = state.pending.remove(selection, isAwaited: isAwaited)
            }
            if isAwaited { state.awaited[number] = .open }
            return (isInMemory, number, state.beginDraining())
        }
        guard let isInMemory else { return (nil, false) }
        if startsDraining { startDraining() }
        if isWritten ? !isAdmitted : !isInMemory { notify(.skipped(entry.key, bytes: bytes)) }
        return (number, true)
    }

    /// Removes the entry that a newer one would replace, because the newer one cannot be stored.
    ///
    /// - Returns: The number of the change to wait for, nil if nothing is written; and true if the fetch is current.
    @discardableResult
    nonisolated func removePrevious(
        to entry: CacheEntry,
        of ticket: FetchTicket?,
        isAwaited: Bool = false
    ) -> (number: Int?, isCurrent: Bool) {
        let selection = CacheSelection(entry.key, variant: entry.variant)
        let isForStorage = hasStorage && entry.key.space != .memoryValues
        let (number, isCurrent, startsDraining) = state.withLock { state -> (Int?, Bool, Bool) in
            guard state.admits(entry, of: ticket) else { return (nil, false, false) }
            state.memory.remove(selection)
            guard isForStorage else { return (nil, true, false) }
            let number = state.pending.remove(selection, isAwaited: isAwaited)
            if isAwaited { state.awaited[number] = .open }
            return (number, true, state.beginDraining())
        }
        if startsDraining { startDraining() }
        return (number, isCurrent)
    }

    /// Removes entries: from memory before the call returns, from storage later. They are not returned in the meantime.
    /// Fetches in progress do not store their responses in their place. Never waits.
    ///
    /// - Parameters:
    ///   - selection: The entries.
    ///   - isAwaited: True if the caller waits for the write with ``waitUntilWritten(_:)``.
    /// - Returns: The number of the change to wait for; nil if nothing is written.
    @discardableResult
    package nonisolated func remove(_ selection: CacheSelection, isAwaited: Bool = false) -> Int? {
        let isForStorage = hasStorage && selection.spaces.map { $0 != [.memoryValues] && !$0.isEmpty } ?? true
        let (sweep, number, startsDraining) = state.withLock { state -> (MemoryTier.Sweep?, Int?, Bool) in
            state.removals.record(selection)
            let sweep = state.memory.beginRemoval(selection)
            guard isForStorage else { return (sweep, nil, false) }
            let number = state.pending.remove(selection, isAwaited: isAwaited)
            if isAwaited { state.awaited[number] = .open }
            return (sweep, number, state.beginDraining())
        }
        if startsDraining { startDraining() }
        finishRemoval(sweep, of: selection)
        return number
    }

    /// Removes the entry that the response of a fetch makes invalid, unless that of a later fetch has been stored or has
    /// removed it. Responses to earlier requests that arrive later are not stored in its place.
    package nonisolated func remove(_ key: CacheKey, variant: String, by ticket: FetchTicket) {
        let selection = CacheSelection(key, variant: variant)
        let startsDraining = state.withLock { state in
            guard state.removals.recordStore(EntryName(key: key, variant: variant), by: ticket.number) else {
                return false
            }
            state.memory.remove(selection)
            guard hasStorage else { return false }
            _ = state.pending.remove(selection)
            return state.beginDraining()
        }
        if startsDraining { startDraining() }
    }

    /// Removes the selected entries from memory in steps, so that a cache hit waits for the lock only for microseconds.
    nonisolated func finishRemoval(_ sweep: MemoryTier.Sweep?, of selection: CacheSelection) {
        guard var sweep else { return }
        while state.withLock({ $0.memory.continueSweep(&sweep) { $0.isSelected($1, by: selection) } }) {
            sweep.releaseRemoved()
        }
    }

    /// Makes an entry visible whose body has already been written to storage.
    ///
    /// - Parameters:
    ///   - writer: The storage writer that has received the body.
    ///   - name: The key and variant of the entry.
    ///   - head: The entry without its body.
    ///   - entry: The entry with its body, if it fits into memory.
    ///   - ticket: The fetch that has received the body; nil for none.
    /// - Returns: True if storage has committed the entry; nil if something has outdated the fetch.
    nonisolated func commit(
        _ writer: any CacheWriter,
        _ name: EntryName,
        head: CacheEntry,
        entry: CacheEntry?,
        of ticket: FetchTicket?
    ) async -> Bool? {
        let now = self.date.timeIntervalSinceReferenceDate
        let begun: (Int, Bool)? = state.withLock { state in
            guard state.admits(head, of: ticket) else { return nil }
            if let entry {
                state.memory.insert(entry, isStored: false, at: now)
            } else {
                state.memory.remove(CacheSelection(name.key, variant: name.variant))
            }
            state.touches[name] = nil
            let number = state.pending.commit(writer, name.key, variant: name.variant, entry: entry)
            state.awaited[number] = .open
            return (number, state.beginDraining())
        }
        guard let (number, startsDraining) = begun else { return nil }
        if startsDraining { startDraining() }
        return await failure(of: number) == nil
    }

    /// Waits until an awaited change has been written. Must be called once for each change.
    ///
    /// - Returns: The error if the write failed; nil if it succeeded.
    nonisolated func failure(of number: Int) async -> SluiceError? {
        defer { state.synchronize() }
        return await withUnsafeContinuation { continuation in
            let outcome: SluiceError?? = state.withLock { state in
                switch state.awaited.removeValue(forKey: number) {
                case .settled(let error): return .some(error)
                case .open:
                    state.awaited[number] = .waiting(continuation)
                    return .none
                case .waiting, nil: return .some(nil)
                }
            }
            if let outcome { continuation.resume(returning: outcome) }
        }
    }
}

extension CacheStore.State {
    /// Returns true if an entry can be stored: neither a removal nor an entry of a later fetch has outdated its fetch. Responses may arrive
    /// in another order than their requests were sent.
    fileprivate mutating func admits(_ entry: CacheEntry, of ticket: FetchTicket?) -> Bool {
        if let ticket, !isCurrent(ticket, entry.key, tags: entry.tags) { return false }
        return removals.recordStore(CacheStore.EntryName(key: entry.key, variant: entry.variant), by: ticket?.number)
    }
}

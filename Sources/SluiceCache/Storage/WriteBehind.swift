import SluiceFoundation
import SluiceHTTP
import SluiceLibc

extension CacheStore {
    /// The maximum number of changes, and approximately of bytes, in one transaction.
    private static let batchLimit = (count: 1024, bytes: 8 << 20)
    /// The number of consecutive failures after which the rest of a batch counts as failed.
    private static let failureLimit = 8

    /// The number of changes that are settled while the lock is held once.
    private static let settlingLimit = 32

    /// Starts the task that writes pending changes. `beginDraining` must have returned true.
    nonisolated func startDraining() {
        ProcessExit.beginWork()
        Task.detached {
            await self.drain()
            ProcessExit.endWork()
        }
    }

    /// Waits until all changes so far have been written to storage or have failed, which is reported as an event.
    ///
    /// A program need not call it before it exits: returning from `main` and `exit` wait for writes, for two seconds at
    /// most.
    public nonisolated func flush() async {
        guard hasStorage else { return }
        await withUnsafeContinuation { continuation in
            let (isDone, startsDraining) = state.withLock { state in
                state.queueTouches()
                let startsDraining = state.beginDraining(retries: true)
                if state.isDraining { state.flushing.append((state.pending.lastNumber, continuation)) }
                return (!state.isDraining, startsDraining)
            }
            if startsDraining { startDraining() }
            if isDone { continuation.resume() }
        }
        state.synchronize()
    }

    private func drain() async {
        await beginForeignChecks()
        while let batch = nextBatch() {
            let failures = await write(batch)
            finish(batch, failures)
            evict(after: batch)
        }
        retryLater()
    }

    private func nextBatch() -> [PendingChanges.Item]? {
        let (batch, flushed) = state.withLock { $0.nextBatch(Self.batchLimit) }
        for continuation in flushed { continuation.resume() }
        return batch
    }

    /// Writes changes to storage. Complete entries are combined into as few transactions as possible.
    ///
    /// - Returns: The errors of the changes that failed, by their numbers.
    private func write(_ batch: [PendingChanges.Item]) async -> [Int: SluiceError] {
        guard let storage else { return [:] }
        var failures: [Int: SluiceError] = [:]
        var changes: [(number: Int, change: CacheChange)] = []
        for (index, item) in batch.enumerated() {
            // Changes that failed before are retried separately, so that they do not affect the others.
            if index > 0, batch[index - 1].isRetry, !item.isRetry {
                await apply(changes, to: storage, failures: &failures)
                changes = []
            }
            switch item.write {
            case .change(let change): changes.append((item.number, change))
            case .commit(let writer, _, _):
                await apply(changes, to: storage, failures: &failures)
                changes = []
                do throws(SluiceError) {
                    try await writer.commit()
                } catch {
                    failures[item.number] = error
                    notify(.writeFailed(error))
                }
            }
        }
        await apply(changes, to: storage, failures: &failures)
        return failures
    }

    /// Makes changes in one transaction. If it fails, makes them one by one, so that one failing change does not affect
    /// the others. Does not do so while another process holds the lock, because each change would wait for it.
    private func apply(
        _ changes: [(number: Int, change: CacheChange)],
        to storage: any CacheStorage,
        failures: inout [Int: SluiceError]
    ) async {
        guard !changes.isEmpty else { return }
        var failure: SluiceError
        do throws(SluiceError) {
            return try await storage.apply(changes.map(\.change))
        } catch {
            failure = error
        }
        notify(.writeFailed(failure))
        if failure.isLockTimeout {
            for (number, _) in changes { failures[number] = failure }
            return
        }
        var failuresInRow = changes.count == 1 ? Self.failureLimit : 0
        for (number, change) in changes {
            guard failuresInRow < Self.failureLimit else {
                failures[number] = failure
                continue
            }
            do throws(SluiceError) {
                try await storage.apply([change])
                failuresInRow = 0
            } catch {
                failure = error
                failures[number] = error
                failuresInRow += 1
            }
        }
    }

    private func finish(_ batch: [PendingChanges.Item], _ failures: [Int: SluiceError]) {
        let failed = Set(failures.keys)
        var rest = batch[...]
        while !rest.isEmpty {
            // Settles a few changes at a time, so that a cache hit waits for the lock only for microseconds.
            let some = Array(rest.prefix(Self.settlingLimit))
            rest = rest.dropFirst(some.count)
            state.withLock { state in
                for entry in state.pending.settle(some, failed: failed) { state.memory.markStored(entry) }
            }
        }
        let (woken, flushed, dropped) = state.withLock { state in
            defer { state.dropped = CacheSize() }
            return (state.wake(failures), state.wakeFlushing(), state.dropped)
        }
        if dropped.count > 0 { notify(.writesDropped(count: dropped.count, bytes: dropped.bytes)) }
        for (continuation, failure) in woken { continuation.resume(returning: failure) }
        for continuation in flushed { continuation.resume() }
    }

    /// Retries failed removals after a delay that doubles each time, up to one minute.
    private func retryLater() {
        guard state.withLock({ !$0.pending.failedRemovals.isEmpty }) else {
            retryDelay = .seconds(1)
            return
        }
        guard retry == nil else { return }
        retry = Task.detached { [weak self, clock = configuration.clock, retryDelay] in
            do { try await clock.sleep(for: retryDelay) } catch { return }
            await self?.retryRemovals()
        }
        retryDelay = min(retryDelay * 2, .seconds(60))
    }

    private func retryRemovals() {
        retry = nil
        if state.withLock({ $0.beginDraining(retries: true) }) { startDraining() }
    }
}

extension CacheStore.State {
    /// Marks the draining task as running if there are changes to write and it is not running.
    ///
    /// - Returns: True if the caller has to start the task.
    mutating func beginDraining(retries: Bool = false) -> Bool {
        if retries, !pending.failedRemovals.isEmpty { retriesRemovals = true }
        guard !isDraining, retriesRemovals || !pending.queue.isEmpty else { return false }
        isDraining = true
        return true
    }

    /// Adds the recorded accesses to the next batch.
    mutating func queueTouches() {
        for touch in touches.values { pending.touch(touch) }
        touches = [:]
    }

    /// Returns the next batch. If there is none, returns the continuations that wait in ``CacheStore/flush()``.
    fileprivate mutating func nextBatch(
        _ limit: (count: Int, bytes: Int)
    ) -> ([PendingChanges.Item]?, [UnsafeContinuation<Void, Never>]) {
        if !pending.queue.isEmpty { queueTouches() }
        let batch = pending.take(count: limit.count, bytes: limit.bytes, retries: retriesRemovals)
        retriesRemovals = false
        if batch != nil { return (batch, []) }
        isDraining = false
        defer { flushing = [] }
        return (nil, flushing.map(\.continuation))
    }

    /// Returns the continuations that wait for changes that are now settled, with their errors.
    fileprivate mutating func wake(
        _ failures: [Int: SluiceError]
    ) -> [(UnsafeContinuation<SluiceError?, Never>, SluiceError?)] {
        var woken: [(UnsafeContinuation<SluiceError?, Never>, SluiceError?)] = []
        for (number, change) in awaited where number <= pending.taken {
            let made = pending.replaced[number] ?? number
            var failure = failures[made]
            // The entry is not stored or will be removed, or the removal that replaces the others has not been made.
            if pending.abandoned.contains(number) || made != number && pending.failedRemovals[made] != nil {
                failure = failure ?? .cacheOverflow
            }
            switch change {
            case .open: awaited[number] = .settled(failure)
            case .waiting(let continuation):
                awaited[number] = nil
                woken.append((continuation, failure))
            case .settled: break
            }
        }
        let taken = pending.taken
        if !pending.abandoned.isEmpty { pending.abandoned = pending.abandoned.filter { $0 > taken } }
        if !pending.replaced.isEmpty { pending.replaced = pending.replaced.filter { $0.key > taken } }
        return woken
    }

    fileprivate mutating func wakeFlushing() -> [UnsafeContinuation<Void, Never>] {
        let woken = flushing.filter { $0.number <= pending.taken }.map(\.continuation)
        flushing.removeAll { $0.number <= pending.taken }
        return woken
    }
}

// MARK: - Eviction

extension CacheStore {
    /// Evicts entries from storage if the writes since the last eviction may have exceeded its limits noticeably, or if
    /// that eviction was at least a minute ago.
    func evict(after batch: [PendingChanges.Item]) {
        var isDue = false
        for item in batch {
            switch item.write {
            case .commit: isDue = true
            case .change(.store):
                written.bytes += item.bytes
                written.count += 1
            case .change: break
            }
        }
        if let bytes = configuration.disk.bytes, written.bytes >= bytes / 64 { isDue = true }
        if let count = configuration.disk.count, written.count >= count / 64 { isDue = true }
        let now = configuration.clock.now
        guard isDue || evicted.map({ now - $0 >= .seconds(60) }) ?? true else { return }
        written = CacheSize()
        evicted = now
        evictionIsDue = true
        evictSoon()
    }

    /// Evicts entries from storage in short steps, between which other reads and writes run.
    private func evictSoon() {
        guard !isEvicting, let storage else { return }
        isEvicting = true
        Task {
            defer { isEvicting = false }
            while evictionIsDue {
                evictionIsDue = false
                do throws(SluiceError) {
                    while try await storage.evict(to: configuration.disk, at: date) > 0 { await Task.yield() }
                } catch {
                    notify(.writeFailed(error))
                }
            }
        }
    }
}

extension SluiceError {
    /// The error of an entry that was not stored or will be removed, because so many changes wait or have failed that
    /// storage is cleared, or because a failed removal is repeated.
    fileprivate static let cacheOverflow = SluiceError(
        .cacheFailed,
        "The entry is in memory only, because too many changes wait, or a removal that failed will be repeated.",
        step: .cache
    )
}

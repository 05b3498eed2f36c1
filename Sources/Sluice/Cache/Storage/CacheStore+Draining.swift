import SluiceHTTP

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

extension CacheStore {
    /// How many changes, and about how many bytes, go to storage in one transaction at most.
    private static let batchLimit = (count: 1024, bytes: 8 << 20)
    /// After how many failures in a row storage is taken to fail at all that is left of a batch.
    private static let failureLimit = 8

    /// How many changes are settled at one go.
    private static let settlingLimit = 32

    /// Writes what waits in a task of its own, which was announced by `beginDraining`.
    nonisolated func startDraining() {
        WriteBehindExit.enter()
        Task.detached {
            await self.drain()
            WriteBehindExit.leave()
        }
    }

    /// Waits until all is in storage that has been kept or removed so far, or storage has failed at it, which is told as an event.
    ///
    /// A program need not call it at its end: one that exits by returning or `exit` waits by itself, for two seconds at most.
    public nonisolated func flush() async {
        guard hasStorage else { return }
        await withUnsafeContinuation { continuation in
            let (isDone, begins) = state.withLock { state in
                state.queueTouches()
                let begins = state.beginDraining(retries: true)
                if state.isDraining { state.flushing.append((state.pending.lastNumber, continuation)) }
                return (!state.isDraining, begins)
            }
            if begins { startDraining() }
            if isDone { continuation.resume() }
        }
        state.synchronize()
    }

    private func drain() async {
        await beginLooking()
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

    /// Gives changes to storage, those that were kept whole in as few transactions as can be.
    ///
    /// - Returns: Why some were not made.
    private func write(_ batch: [PendingChanges.Item]) async -> [Int: SluiceError] {
        guard let storage else { return [:] }
        var failures: [Int: SluiceError] = [:]
        var changes: [(number: Int, change: CacheChange)] = []
        for (index, item) in batch.enumerated() {
            // What failed before comes first, and by itself, so as to cost the others nothing.
            if index > 0, batch[index - 1].isOwed, !item.isOwed {
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
                    tell(.writeFailed(error))
                }
            }
        }
        await apply(changes, to: storage, failures: &failures)
        return failures
    }

    /// Makes changes together, or one by one if that fails, so that one that cannot be made does not cost the others; but not while
    /// another process holds the lock, for which each would wait.
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
        tell(.writeFailed(failure))
        if failure.isOfLock {
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
            // A few at a time, so that a hit waits for microseconds only.
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
        if dropped.count > 0 { tell(.writesDropped(count: dropped.count, bytes: dropped.bytes)) }
        for (continuation, failure) in woken { continuation.resume(returning: failure) }
        for continuation in flushed { continuation.resume() }
    }

    /// Tries again, after a while that doubles up to a minute, to make removals that storage could not make.
    private func retryLater() {
        guard state.withLock({ !$0.pending.owed.isEmpty }) else {
            retryDelay = .seconds(1)
            return
        }
        guard retry == nil else { return }
        retry = Task.detached { [weak self, time = configuration.time, retryDelay] in
            do { try await time.sleep(for: retryDelay) } catch { return }
            await self?.retryOwed()
        }
        retryDelay = min(retryDelay * 2, .seconds(60))
    }

    private func retryOwed() {
        retry = nil
        if state.withLock({ $0.beginDraining(retries: true) }) { startDraining() }
    }
}

extension CacheStore.State {
    /// Announces a task that writes, unless there is one, or nothing to write.
    ///
    /// - Returns: Whether the task has to be started.
    mutating func beginDraining(retries: Bool = false) -> Bool {
        if retries, !pending.owed.isEmpty { retriesOwed = true }
        guard !isDraining, retriesOwed || !pending.queue.isEmpty else { return false }
        isDraining = true
        return true
    }

    /// Lets storage know with the next batch what was asked for.
    mutating func queueTouches() {
        for touch in touches.values { pending.touch(touch) }
        touches = [:]
    }

    /// What is to be written next; if there is nothing, who waited for that.
    fileprivate mutating func nextBatch(
        _ limit: (count: Int, bytes: Int)
    ) -> ([PendingChanges.Item]?, [UnsafeContinuation<Void, Never>]) {
        if !pending.queue.isEmpty { queueTouches() }
        let batch = pending.take(count: limit.count, bytes: limit.bytes, retries: retriesOwed)
        retriesOwed = false
        if batch != nil { return (batch, []) }
        isDraining = false
        defer { flushing = [] }
        return (nil, flushing.map(\.continuation))
    }

    /// Those who asked what became of changes that are settled now.
    fileprivate mutating func wake(
        _ failures: [Int: SluiceError]
    ) -> [(UnsafeContinuation<SluiceError?, Never>, SluiceError?)] {
        var woken: [(UnsafeContinuation<SluiceError?, Never>, SluiceError?)] = []
        for (number, change) in awaited where number <= pending.taken {
            switch change {
            case .open: awaited[number] = .settled(failures[number])
            case .asked(let continuation):
                awaited[number] = nil
                woken.append((continuation, failures[number]))
            case .settled: break
            }
        }
        return woken
    }

    fileprivate mutating func wakeFlushing() -> [UnsafeContinuation<Void, Never>] {
        let woken = flushing.filter { $0.number <= pending.taken }.map(\.continuation)
        flushing.removeAll { $0.number <= pending.taken }
        return woken
    }
}

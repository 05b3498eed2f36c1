import SluiceHTTP

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

extension CacheStore {
    /// Keeps an entry: in memory at once, in storage soon. Never waits.
    ///
    /// Where it is over the limits of a tier, that tier no longer has what was under its key and variant either; one that is gone
    /// already removes what was there.
    nonisolated func keep(_ entry: CacheEntry) {
        put(entry, isAwaited: false)
    }

    /// Keeps an entry.
    ///
    /// - Parameters:
    ///   - entry: The entry.
    ///   - isAwaited: Whether its caller waits until it is written, so that no more are pending than there are callers.
    /// - Returns: What to wait for; nil if there is nothing.
    @discardableResult
    nonisolated func put(_ entry: CacheEntry, isAwaited: Bool) -> Int? {
        let date = self.date
        guard entry.isLive(at: date) else {
            return drop(CacheSelection(entry.key, variant: entry.variant), isAwaited: isAwaited)
        }
        let bytes = entry.byteCount
        let isForStorage = hasStorage && entry.key.space != .memoryValues
        let isAdmitted = isForStorage && configuration.disk.admits(bytes: bytes)
        let (isInMemory, number, begins) = state.withLock { state -> (Bool, Int?, Bool) in
            let isInMemory = state.memory.insert(entry, isStored: false, at: date.timeIntervalSinceReferenceDate)
            // What was noted of the one before is not for this one.
            state.touches[EntryName(key: entry.key, variant: entry.variant)] = nil
            guard isForStorage else { return (isInMemory, nil, false) }
            let number: Int
            if isAdmitted, isAwaited || state.pending.bytes <= configuration.pendingBytes {
                number = state.pending.store(entry, bytes: bytes)
            } else {
                if isAdmitted {
                    state.dropped.count += 1
                    state.dropped.bytes += bytes
                }
                number = state.pending.remove(CacheSelection(entry.key, variant: entry.variant))
            }
            if isAwaited { state.awaited[number] = .open }
            return (isInMemory, number, state.beginDraining())
        }
        if begins { startDraining() }
        if isForStorage ? !isAdmitted : !isInMemory { tell(.skipped(entry.key, bytes: bytes)) }
        return number
    }

    /// Removes entries: from memory at once, from storage soon, which does not give them back meanwhile. Never waits.
    nonisolated func discard(_ selection: CacheSelection) {
        drop(selection, isAwaited: false)
    }

    /// Removes entries.
    ///
    /// - Parameters:
    ///   - selection: Which.
    ///   - isAwaited: Whether its caller waits until it is written.
    /// - Returns: What to wait for; nil if there is nothing.
    @discardableResult
    nonisolated func drop(_ selection: CacheSelection, isAwaited: Bool) -> Int? {
        let isForStorage = hasStorage && selection.spaces.map { $0 != [.memoryValues] && !$0.isEmpty } ?? true
        let (number, begins) = state.withLock { state -> (Int?, Bool) in
            state.memory.remove(selection)
            guard isForStorage else { return (nil, false) }
            let number = state.pending.remove(selection)
            if isAwaited { state.awaited[number] = .open }
            return (number, state.beginDraining())
        }
        if begins { startDraining() }
        return number
    }

    /// Puts an entry whose body is in storage already in its place.
    ///
    /// - Parameters:
    ///   - writer: What has taken the body.
    ///   - name: What tells the entry apart from others.
    ///   - entry: The entry with its body, where memory may hold it.
    /// - Returns: Whether storage has it.
    nonisolated func commit(_ writer: any CacheWriter, _ name: EntryName, entry: CacheEntry?) async -> Bool {
        let now = date.timeIntervalSinceReferenceDate
        let (number, begins) = state.withLock { state in
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
        if begins { startDraining() }
        return await failure(of: number) == nil
    }

    /// Waits until an awaited change has been written; to be called once for each.
    ///
    /// - Returns: Why it has not; nil if it has.
    nonisolated func failure(of number: Int) async -> SluiceError? {
        defer { state.synchronize() }
        return await withUnsafeContinuation { continuation in
            let outcome: SluiceError?? = state.withLock { state in
                switch state.awaited.removeValue(forKey: number) {
                case .settled(let error): return .some(error)
                case .open:
                    state.awaited[number] = .asked(continuation)
                    return .none
                case .asked, nil: return .some(nil)
                }
            }
            if let outcome { continuation.resume(returning: outcome) }
        }
    }
}

extension CacheLimits {
    /// Whether an entry of that size is within them.
    func admits(bytes: Int) -> Bool {
        bytes <= entryBytes ?? .max && bytes <= self.bytes ?? .max && count ?? 1 > 0
    }
}

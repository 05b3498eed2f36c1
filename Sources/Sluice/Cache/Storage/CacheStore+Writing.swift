import SluiceHTTP

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

extension CacheStore {
    /// Stores an entry: in memory at once, in storage later. Never waits.
    ///
    /// If the entry exceeds the limits of a tier, that tier removes the previous entry with its key and variant. An
    /// expired entry also removes the previous one.
    nonisolated func keep(_ entry: CacheEntry) {
        put(entry, isAwaited: false)
    }

    /// Stores an entry.
    ///
    /// - Parameters:
    ///   - entry: The entry.
    ///   - isAwaited: True if the caller waits for the write. Such writes are not limited by `pendingBytes`, because
    ///     there is at most one per caller.
    /// - Returns: The number of the change to wait for; nil if nothing is written.
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
            // Accesses to the previous entry do not apply to this one.
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

    /// Removes entries: from memory at once, from storage later. They are not returned in the meantime. Never waits.
    nonisolated func discard(_ selection: CacheSelection) {
        drop(selection, isAwaited: false)
    }

    /// Removes entries.
    ///
    /// - Parameters:
    ///   - selection: The entries.
    ///   - isAwaited: True if the caller waits for the write.
    /// - Returns: The number of the change to wait for; nil if nothing is written.
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

    /// Makes an entry visible whose body has already been written to storage.
    ///
    /// - Parameters:
    ///   - writer: The storage writer that has received the body.
    ///   - name: The key and variant of the entry.
    ///   - entry: The entry with its body, if it fits into memory.
    /// - Returns: True if storage has committed the entry.
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
    /// Returns true if an entry of this size is within the limits.
    func admits(bytes: Int) -> Bool {
        bytes <= entryBytes ?? .max && bytes <= self.bytes ?? .max && count ?? 1 > 0
    }
}

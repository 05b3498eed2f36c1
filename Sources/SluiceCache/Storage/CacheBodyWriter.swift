import SluiceFoundation
import SluiceHTTP

/// A writer that receives the body of an entry piece by piece. Nothing is stored without ``commit()``.
///
/// A small body is stored in one piece, like any entry. A larger one goes to storage piece by piece, and no more of it
/// stays in memory than the memory limit of one entry. All incomplete bodies together have at most the size that storage may have.
package final class CacheBodyWriter: Sendable {
    private struct State {
        /// The body so far; nil once it exceeds the memory limit of an entry.
        var buffer: Data? = Data()
        var count = 0
        /// The storage writer for a body larger than ``wholeLimit``.
        var writer: (any CacheWriter)?
        /// The number of bytes that have been sent to storage.
        var stored = 0
        /// True if the entry is still to be stored in storage.
        var isForStorage: Bool
        var isFinished = false

        /// True if the entry can still be stored.
        var isUseful: Bool { !isFinished && (buffer != nil || isForStorage) }
    }

    /// The maximum body size, in bytes, that is stored without a storage writer.
    package static let wholeLimit = 256 << 10

    private let store: CacheStore
    private let entry: CacheEntry
    private let state: Locked<State>

    init(_ store: CacheStore, _ entry: CacheEntry) {
        self.store = store
        self.entry = entry
        state = Locked(State(isForStorage: store.isForStorage(entry)))
    }

    deinit { store.releaseRoom(for: state.withLock { $0.stored }) }

    /// Receives the next piece. Must be called by one task at a time.
    ///
    /// - Returns: True if further pieces are useful; false if the body exceeds the limits of every tier or storage has
    ///   failed.
    @discardableResult
    package func write(_ piece: Data) async -> Bool {
        let (limits, head) = (store.configuration, entry.byteCount)
        let (pieces, writer, isWriterNeeded) = state.withLock { state -> (Data?, (any CacheWriter)?, Bool) in
            guard state.isUseful else { return (nil, nil, false) }
            let (count, overflow) = state.count.addingReportingOverflow(piece.count)
            let size = overflow ? .max : count.addingReportingOverflow(head).partialValue
            state.count = count
            if overflow || size < 0 || !limits.disk.admits(bytes: size) {
                state.isForStorage = false
                state.writer = nil
            }
            let isForMemory = limits.memory.admits(bytes: entry.bytesInMemory(ofSize: size))
            if !overflow, size >= 0, isForMemory || state.isForStorage && count <= Self.wholeLimit {
                state.buffer?.append(piece)
            } else {
                defer { state.buffer = nil }
                guard state.isForStorage else { return (nil, nil, false) }
                if state.writer == nil { return ((state.buffer ?? Data()) + piece, nil, true) }
            }
            guard state.isForStorage, count > Self.wholeLimit else { return (nil, nil, false) }
            if let writer = state.writer { return (piece, writer, false) }
            return (state.buffer ?? piece, nil, true)
        }
        if let pieces { await store(pieces, writer, opens: isWriterNeeded) }
        return state.withLock { $0.isUseful }
    }

    /// Sends pieces to storage. Opens a storage writer for the first ones.
    private func store(_ pieces: Data, _ writer: (any CacheWriter)?, opens: Bool) async {
        guard store.reserveRoom(for: pieces.count) else {
            let count = state.withLock { state in
                state.writer = nil
                state.isForStorage = false
                return state.count
            }
            return store.notify(.skipped(entry.key, bytes: count))
        }
        state.withLock { $0.stored += pieces.count }
        do throws(SluiceError) {
            var writer = writer
            if opens, let storage = store.storage {
                let opened = try await storage.writer(for: entry)
                state.withLock { $0.writer = $0.isFinished ? nil : opened }
                writer = opened
            }
            try await writer?.write(pieces)
        } catch {
            state.withLock { state in
                state.writer = nil
                state.isForStorage = false
            }
            store.notify(.writeFailed(error))
        }
    }

    /// Makes the entry visible, in the place of the previous entry with its key and variant. If the entry cannot be
    /// stored, the previous one is removed.
    ///
    /// - Parameter ticket: The fetch that has received the body. If something has outdated it, nothing changes.
    /// - Returns: True if a tier stores the entry. A small entry is in memory at once. If the body was sent to storage
    ///   piece by piece, the call returns when storage has committed it.
    @discardableResult
    package func commit(of ticket: FetchTicket? = nil) async -> Bool {
        let (buffer, writer, isFinished) = state.withLock { state in
            defer {
                state.isFinished = true
                state.buffer = nil
                state.writer = nil
            }
            return (state.buffer, state.writer, state.isFinished)
        }
        if isFinished { return false }
        let whole = buffer.map { entry.with(body: $0) }
        guard let writer else {
            guard let whole else {
                store.removePrevious(to: entry, of: ticket)
                return false
            }
            guard let ticket else {
                store.insert(whole)
                return true
            }
            return store.insert(whole, of: ticket)
        }
        let name = CacheStore.EntryName(key: entry.key, variant: entry.variant)
        let isStored = await store.commit(writer, name, head: entry, entry: whole, of: ticket)
        return isStored.map { $0 || whole != nil } ?? false
    }

    /// Discards the entry.
    package func abandon() {
        state.withLock { state in
            state.isFinished = true
            state.buffer = nil
            state.writer = nil
        }
    }
}

extension CacheStore {
    /// Returns true if an entry is written to storage.
    nonisolated func isForStorage(_ entry: CacheEntry) -> Bool {
        hasStorage && entry.key.space != .memoryValues && !entry.isMemoryOnly
    }

    /// Creates a writer for an entry whose body arrives in pieces.
    ///
    /// - Parameter entry: The entry without its body.
    /// - Returns: The writer; nil if the entry has expired.
    package nonisolated func writer(for entry: CacheEntry) -> CacheBodyWriter? {
        entry.isLive(at: date) ? CacheBodyWriter(self, entry) : nil
    }
}

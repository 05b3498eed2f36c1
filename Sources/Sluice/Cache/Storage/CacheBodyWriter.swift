import SluiceHTTP

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Takes the body of an entry as it comes. Nobody sees the entry before ``commit()``; without it, nothing is kept.
///
/// A small body is kept whole, like any entry; a larger one goes to storage piece by piece, and never more of it is held than memory
/// would keep of one entry.
final class CacheBodyWriter: Sendable {
    private struct State {
        /// The body so far; nil once memory would not keep it.
        var buffer: Data? = Data()
        /// How much of the buffer storage has.
        var written = 0
        var count = 0
        /// Takes the body in storage, once it is larger than what is written at one go.
        var writer: (any CacheWriter)?
        /// Whether storage is to have it still.
        var isForStorage: Bool
        var isOver = false
    }

    /// Up to which size a body is not worth a writer of its own.
    static let wholeLimit = 256 << 10

    private let store: CacheStore
    private let entry: CacheEntry
    private let state: Locked<State>

    init(_ store: CacheStore, _ entry: CacheEntry) {
        self.store = store
        self.entry = entry
        state = Locked(State(isForStorage: store.hasStorage && entry.key.space != .memoryValues))
    }

    /// Takes the next piece; to be called by one task at a time.
    ///
    /// - Returns: Whether more is of use: false once the body is over the limits of every tier, or no tier takes it.
    @discardableResult
    func write(_ piece: Data) async -> Bool {
        let (limits, head) = (store.configuration, entry.byteCount)
        let (pieces, writer, isWriterNeeded) = state.withLock { state -> (Data?, (any CacheWriter)?, Bool) in
            guard !state.isOver else { return (nil, nil, false) }
            let (count, overflow) = state.count.addingReportingOverflow(piece.count)
            let size = overflow ? .max : count.addingReportingOverflow(head).partialValue
            state.count = count
            if overflow || size < 0 || !limits.disk.admits(bytes: size) {
                state.isForStorage = false
                state.writer = nil
            }
            if !overflow, size >= 0, limits.memory.admits(bytes: size) || state.isForStorage && count <= Self.wholeLimit
            {
                state.buffer?.append(piece)
            } else {
                defer { state.buffer = nil }
                guard state.isForStorage else {
                    state.isOver = true
                    return (nil, nil, false)
                }
                if state.writer == nil { return ((state.buffer ?? Data()) + piece, nil, true) }
            }
            guard state.isForStorage, count > Self.wholeLimit else { return (nil, nil, false) }
            if let writer = state.writer { return (piece, writer, false) }
            return (state.buffer ?? piece, nil, true)
        }
        if let pieces { await store(pieces, writer, opens: isWriterNeeded) }
        return state.withLock { !$0.isOver }
    }

    /// Gives pieces to storage, by a writer of its own the first time.
    private func store(_ pieces: Data, _ writer: (any CacheWriter)?, opens: Bool) async {
        do throws(SluiceError) {
            var writer = writer
            if opens, let storage = store.storage {
                let opened = try await storage.writer(for: entry)
                state.withLock { $0.writer = $0.isOver ? nil : opened }
                writer = opened
            }
            try await writer?.write(pieces)
        } catch {
            state.withLock { state in
                state.writer = nil
                state.isForStorage = false
                if state.buffer == nil { state.isOver = true }
            }
            store.tell(.writeFailed(error))
        }
    }

    /// Makes the entry seen, in the place of what was under its key and variant.
    ///
    /// - Returns: Whether any tier keeps it. It is in memory at once, where it is small enough; the call returns when storage has it
    ///   if it went there piece by piece.
    @discardableResult
    func commit() async -> Bool {
        let (buffer, writer, isOver) = state.withLock { state in
            defer {
                state.isOver = true
                state.buffer = nil
                state.writer = nil
            }
            return (state.buffer, state.writer, state.isOver)
        }
        if isOver { return false }
        let whole = buffer.map { entry.with(body: $0) }
        guard let writer else {
            guard let whole else { return false }
            store.keep(whole)
            return true
        }
        let name = CacheStore.EntryName(key: entry.key, variant: entry.variant)
        let isStored = await store.commit(writer, name, entry: whole)
        return isStored || whole != nil
    }

    /// Keeps nothing.
    func abandon() {
        state.withLock { state in
            state.isOver = true
            state.buffer = nil
            state.writer = nil
        }
    }
}

extension CacheStore {
    /// Begins an entry whose body comes in pieces.
    ///
    /// - Parameters:
    ///   - entry: All but the body.
    ///   - length: How long the body will be, where that is known.
    /// - Returns: What takes the body; nil if no tier would keep it.
    nonisolated func writer(for entry: CacheEntry, length: Int64? = nil) async -> CacheBodyWriter? {
        guard entry.isLive(at: date) else { return nil }
        let isForStorage = hasStorage && entry.key.space != .memoryValues
        let (size, overflow) = entry.byteCount.addingReportingOverflow(Int(clamping: length ?? 0))
        let bytes = overflow ? .max : size
        guard configuration.memory.admits(bytes: bytes) || isForStorage && configuration.disk.admits(bytes: bytes)
        else {
            if length != nil { tell(.skipped(entry.key, bytes: bytes)) }
            return nil
        }
        return CacheBodyWriter(self, entry)
    }
}

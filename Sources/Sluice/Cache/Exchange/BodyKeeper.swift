import SluiceHTTP

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Stores a response body while it is read by the caller. An incomplete body is not stored.
actor BodyKeeper {
    private let store: CacheStore
    private let entry: CacheEntry
    private let expected: Int64?
    private let ticket: SharedFetches.Ticket
    private var writer: CacheBodyWriter?
    private var count: Int64 = 0
    private var isOpen = false
    private var isTaking = false

    /// Creates a body keeper.
    ///
    /// - Parameters:
    ///   - store: The store for the entry.
    ///   - entry: The entry without its body.
    ///   - expected: The number of bytes that must be received; nil for any number.
    ///   - ticket: The fetch that receives the body.
    init(_ store: CacheStore, _ entry: CacheEntry, _ expected: Int64?, _ ticket: SharedFetches.Ticket) {
        self.ticket = ticket
        self.store = store
        self.entry = entry
        self.expected = expected
    }

    /// Stores the next piece; nil at the end of the body.
    func take(_ piece: Data?) async {
        if isTaking {
            // With concurrent reads, the order of the pieces is unknown.
            writer?.abandon()
            writer = nil
            isOpen = true
            return
        }
        isTaking = true
        defer { isTaking = false }
        if !isOpen {
            let opened = await store.writer(for: entry)
            if !isOpen { writer = opened }
            isOpen = true
        }
        guard let piece else {
            guard expected == nil || expected == count, ticket.isCurrent(entry.key), let writer else {
                return writer = nil
            }
            self.writer = nil
            if count <= CacheBodyWriter.wholeLimit {
                await writer.commit()
            } else {
                // The reader does not wait for the disk.
                Task { await writer.commit() }
            }
            return
        }
        count += Int64(piece.count)
        await writer?.write(piece)
    }
}

import SluiceHTTP

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Keeps a body as it is read by another; what does not come to its end is not kept.
actor BodyKeeper {
    private let store: CacheStore
    private let entry: CacheEntry
    private let expected: Int64?
    private let ticket: SharedFetches.Ticket
    private var writer: CacheBodyWriter?
    private var count: Int64 = 0
    private var isOpen = false
    private var isTaking = false

    /// Makes one.
    ///
    /// - Parameters:
    ///   - store: Where it is kept.
    ///   - entry: All but the body.
    ///   - expected: How many bytes must come; nil for as many as there are.
    ///   - ticket: The fetch that brings them.
    init(_ store: CacheStore, _ entry: CacheEntry, _ expected: Int64?, _ ticket: SharedFetches.Ticket) {
        self.ticket = ticket
        self.store = store
        self.entry = entry
        self.expected = expected
    }

    /// Takes the next piece, nil at the end.
    func take(_ piece: Data?) async {
        if isTaking {
            // Two read at once, and nobody knows in which order.
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
                // Who reads does not wait for the disk.
                Task { await writer.commit() }
            }
            return
        }
        count += Int64(piece.count)
        await writer?.write(piece)
    }
}

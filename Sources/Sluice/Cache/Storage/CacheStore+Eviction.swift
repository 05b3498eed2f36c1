import SluiceHTTP

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

extension CacheStore {
    /// The size of a store in memory and in storage.
    public struct Size: Sendable, Hashable {
        /// The size in memory.
        public var memory: CacheSize
        /// The size in storage; zero if there is none.
        public var disk: CacheSize

        /// Creates a size; zero by default.
        public init(memory: CacheSize = CacheSize(), disk: CacheSize = CacheSize()) {
            self.memory = memory
            self.disk = disk
        }
    }

    /// The current size. Entries that are not yet written count in memory only.
    ///
    /// - Throws: ``SluiceError/Code/cacheFailed`` if storage cannot be read.
    public nonisolated var size: Size {
        get async throws(SluiceError) {
            let memory = state.withLock { $0.memory.size }
            return Size(memory: memory, disk: try await storage?.size() ?? CacheSize())
        }
    }

    /// Removes expired entries, from storage in short steps.
    ///
    /// Expired entries are never returned; removing them frees space.
    ///
    /// - Throws: ``SluiceError/Code/cacheFailed`` if storage could not remove them.
    public func removeExpired() async throws(SluiceError) {
        var gone = CacheSelection()
        let now = date
        gone.expired = now
        state.withLock { [gone] in $0.memory.remove(gone) }
        guard let storage else { return }
        while try await storage.evict(to: CacheLimits(), at: now) > 0 { await Task.yield() }
    }

    /// Evicts entries from storage if the writes since the last eviction may have exceeded its limits noticeably, or if
    /// that eviction was at least a minute ago.
    func evict(after batch: [PendingChanges.Item]) {
        var isMuch = false
        for item in batch {
            switch item.write {
            case .commit: isMuch = true
            case .change(.store):
                written.bytes += item.bytes
                written.count += 1
            case .change: break
            }
        }
        if let bytes = configuration.disk.bytes, written.bytes >= bytes / 64 { isMuch = true }
        if let count = configuration.disk.count, written.count >= count / 64 { isMuch = true }
        let now = configuration.time.now
        guard isMuch || evicted.map({ now - $0 >= .seconds(60) }) ?? true else { return }
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
                    tell(.writeFailed(error))
                }
            }
        }
    }
}

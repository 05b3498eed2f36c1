import SluiceHTTP

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

extension CacheStore {
    /// How much a store holds in memory and in storage.
    public struct Size: Sendable, Hashable {
        /// What is in memory.
        public var memory: CacheSize
        /// What is in storage; nothing where there is none.
        public var disk: CacheSize

        /// Makes a size; nothing by default.
        public init(memory: CacheSize = CacheSize(), disk: CacheSize = CacheSize()) {
            self.memory = memory
            self.disk = disk
        }
    }

    /// How much it holds now, measured; what is on its way to storage counts in memory only.
    ///
    /// - Throws: ``SluiceError/Code/cacheFailed`` if storage cannot tell.
    public nonisolated var size: Size {
        get async throws(SluiceError) {
            let memory = state.withLock { $0.memory.size }
            return Size(memory: memory, disk: try await storage?.size() ?? CacheSize())
        }
    }

    /// Removes what is gone, from storage in short steps.
    ///
    /// It is never given out, removed or not; this makes room.
    ///
    /// - Throws: ``SluiceError/Code/cacheFailed`` if storage could not remove it.
    public func removeExpired() async throws(SluiceError) {
        var gone = CacheSelection()
        let now = date
        gone.expired = now
        state.withLock { [gone] in $0.memory.remove(gone) }
        guard let storage else { return }
        while try await storage.evict(to: CacheLimits(), at: now) > 0 { await Task.yield() }
    }

    /// Brings storage back to its limits, if enough has been written that it may be over them by more than a little.
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

    /// Brings storage back to its limits, in short steps between which it can be read and written.
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

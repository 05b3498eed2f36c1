import Measuring
import Sluice

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

extension SluiceBench {
    func store(_ count: Int, in folder: String) async throws -> Bool? {
        let store = CacheStore(directory: URL(filePath: folder)) { $0.memory.count = 0 }
        try await set(count, of: 4096, in: store, lanes: 64) { "entry \($0)" }
        await store.flush()
        return try await store.size.disk.count == count
    }

    func open(_ count: Int, in folder: String) async throws -> (opening: Duration, step: Duration)? {
        let storage = SQLiteCacheStorage(directory: URL(filePath: folder))
        let clock = ContinuousClock()
        var stored = 0
        let opening = try await clock.measure { stored = try await storage.size().count }
        if stored < count {
            try await fill(storage, by: count - stored)
            throw Unexpected(description: "the cache was filled; now it can be opened")
        }
        var step = Duration.zero
        for _ in 0..<20 {
            let time = try await clock.measure {
                _ = try await storage.evict(to: CacheLimits(count: count - 20_000), at: Date())
            }
            step = max(step, time)
        }
        let left = try await storage.size().count
        guard left < count else { throw Unexpected(description: "nothing was evicted") }
        try await fill(storage, by: count - left)
        return (opening, step)
    }

    /// Adds entries through a store that evicts none. Each lane waits for its writes, so that many lanes share one.
    private func fill(_ storage: SQLiteCacheStorage, by count: Int) async throws {
        let store = CacheStore(storage: storage) {
            $0.memory.count = 0
            $0.disk = CacheLimits()
        }
        try await set(count, of: 80, in: store, lanes: 1024) { _ in "entry \(UUID())" }
    }

    /// Sets values of a number of bytes, so many at a time as there are lanes.
    private func set(
        _ count: Int,
        of bytes: Int,
        in store: CacheStore,
        lanes: Int,
        name: @escaping @Sendable (Int) -> String
    ) async throws {
        let body = Data(repeating: 0x61, count: bytes)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for lane in 0..<lanes {
                group.addTask {
                    for number in stride(from: lane, to: count, by: lanes) {
                        try await store.set(body, for: name(number))
                    }
                }
            }
            try await group.waitForAll()
        }
    }
}

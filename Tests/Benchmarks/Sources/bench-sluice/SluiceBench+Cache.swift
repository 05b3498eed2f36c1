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
        let body = Data(repeating: 0x61, count: 4096)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for lane in 0..<64 {
                group.addTask {
                    for number in stride(from: lane, to: count, by: 64) {
                        try await store.set(body, for: "entry \(number)")
                    }
                }
            }
            try await group.waitForAll()
        }
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
        let body = Data(repeating: 0x61, count: 80)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for lane in 0..<1024 {
                group.addTask {
                    for _ in stride(from: lane, to: count, by: 1024) {
                        try await store.set(body, for: "entry \(UUID())")
                    }
                }
            }
            try await group.waitForAll()
        }
    }
}

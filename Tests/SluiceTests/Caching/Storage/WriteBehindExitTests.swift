#if os(Linux)
import Foundation
import SluiceHTTP
import Testing

@testable import Sluice
@testable import SluiceCache

@Suite struct WriteBehindExitTests {
    /// A slow storage that reports when it has written.
    private struct SlowStorage: CacheStorage {
        func entries(for key: CacheKey, at now: Date) async throws(SluiceError) -> [CacheEntry] { [] }
        func size() async throws(SluiceError) -> CacheSize { CacheSize() }
        func evict(to limits: CacheLimits, at now: Date) async throws(SluiceError) -> Int { 0 }

        func apply(_ changes: [CacheChange]) async throws(SluiceError) {
            for _ in 0..<1000 { await Task.yield() }
            FileHandle.standardOutput.write(Data("written".utf8))
        }

        func writer(for entry: CacheEntry) async throws(SluiceError) -> any CacheWriter {
            throw ScriptedStorage.failure
        }
    }

    @Test func pendingEntriesAreWrittenBeforeExit() async throws {
        let result = try await #require(processExitsWith: .exitCode(7), observing: [\.standardOutputContent]) {
            let store = CacheStore(storage: SlowStorage())
            store.insert(CacheEntry(of: "a"))
            exit(7)
        }
        #expect(String(decoding: result.standardOutputContent, as: UTF8.self).contains("written"))
    }

    @Test func exitDoesNotWaitForeverForStorage() async {
        await #expect(processExitsWith: .exitCode(7)) {
            let storage = ScriptedStorage()
            storage.hold(writes: AsyncSignal())
            let store = CacheStore(storage: storage)
            store.insert(CacheEntry(of: "a"))
            exit(7)
        }
    }
}
#endif

import Foundation
import SluiceHTTP
import SluiceTesting
import Testing

@testable import Sluice
@testable import SluiceCache

/// Concurrent readers and writers, a memory limit smaller than their data, and a storage that sometimes fails.
@Suite struct RandomCacheStoreTests {
    /// The last version of a key, and true if the key was removed since.
    private struct Written: Sendable {
        var version = 0
        var isRemoved = true
    }

    @Test(arguments: 1...4)
    func readsNeverReturnReplacedOrRemovedEntries(seed: UInt64) async {
        let storage = ScriptedStorage()
        if seed % 2 == 0 {
            let writes = Shared(0)
            storage.fail { _ in
                writes.change { count in
                    count += 1
                    return count % 5 == 0
                }
            }
        }
        let store = CacheStore(storage: storage) { $0.memory.count = seed < 3 ? 2 : 0 }
        let keys = (0..<6).map { "\($0)" }
        let written = keys.map { _ in Shared(Written()) }
        let isOver = Shared(false)
        await withTaskGroup(of: Void.self) { group in
            for (index, name) in keys.enumerated() {
                group.addTask {
                    var generator = SeededGenerator(seed: seed &* 100 &+ UInt64(index))
                    for version in 1...400 {
                        if Int.random(in: 0..<4, using: &generator) == 0 {
                            var selection = CacheSelection(.of(name))
                            if Bool.random(using: &generator) {
                                selection = CacheSelection()
                                selection.tag = name
                            }
                            store.remove(selection)
                            written[index].change { $0 = Written(version: version, isRemoved: true) }
                        } else {
                            store.insert(CacheEntry(of: name, "\(version)", tags: [name]))
                            written[index].change { $0 = Written(version: version, isRemoved: false) }
                        }
                        if version % 3 == 0 { await Task.yield() }
                    }
                    await store.flush()
                }
            }
            for reader in 0..<4 {
                group.addTask {
                    var generator = SeededGenerator(seed: seed &* 1000 &+ UInt64(reader))
                    while !isOver.read {
                        // Nothing here suspends, and the writers must run as well.
                        await Task.yield()
                        let index = Int.random(in: 0..<keys.count, using: &generator)
                        let before = written[index].read
                        let found = await store.entries(for: .of(keys[index]))
                        guard let text = found.first?.text, let version = Int(text) else { continue }
                        // A removal and its record are two steps, so the same version may belong to either.
                        if before.isRemoved ? version <= before.version : version < before.version {
                            Issue.record("\(keys[index]) was \(before), and \(version) was read.")
                        }
                    }
                }
            }
            group.addTask {
                await eventually { written.allSatisfy { $0.read.version == 400 } }
                await store.flush()
                isOver.change { $0 = true }
            }
        }
        storage.fail(nil)
        await store.flush()
        for (index, name) in keys.enumerated() {
            let found = await store.entries(for: .of(name))
            let last = written[index].read
            #expect(found.isEmpty || !last.isRemoved && found.map(\.text) == ["\(last.version)"])
            if seed % 2 == 1 { #expect(found.isEmpty == last.isRemoved) }
        }
        #expect(store.state.withLock { $0.pending.isEmpty })
        #expect(store.state.withLock { $0.pending.bytes } == 0)
    }
}

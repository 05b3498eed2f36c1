import Foundation
import SluiceHTTP
import SluiceTesting
import Testing

@testable import Sluice
@testable import SluiceCache

/// Removals outdate the fetches in progress.
@Suite struct FetchTicketTests {
    private static func selection(_ change: (inout CacheSelection) -> Void) -> CacheSelection {
        var selection = CacheSelection()
        change(&selection)
        return selection
    }

    private static let removals: [(CacheSelection, Bool)] = [
        (CacheSelection(), true),
        (selection { $0.partition = "p" }, true), (selection { $0.partition = "q" }, false),
        (selection { $0.partition = "" }, false),
        (selection { $0.tag = "t" }, true), (selection { $0.tag = "u" }, false),
        (selection { ($0.partition, $0.tag) = ("p", "t") }, true),
        (selection { ($0.partition, $0.tag) = ("q", "t") }, false),
        (selection { $0.spaces = [.http] }, true), (selection { $0.spaces = [.values, .memoryValues] }, false),
        (selection { ($0.name, $0.partition) = ("n", "p") }, true),
        (selection { ($0.name, $0.partition) = ("m", "p") }, false),
        (CacheSelection(CacheKey("n", in: .http, partition: "p")), true),
        (CacheSelection(CacheKey("n", in: .http)), false), (CacheSelection(CacheKey("n", partition: "p")), false),
        // These make room for other responses.
        (CacheSelection(CacheKey("n", in: .http, partition: "p"), variant: ""), false),
        (selection { $0.expired = .distantFuture }, false),
    ]

    private static func entry(_ body: String = "body") -> CacheEntry {
        CacheEntry("n", space: .http, partition: "p", body: Data(body.utf8), tags: ["t"])
    }

    @Test(arguments: removals)
    func removalOutdatesTheFetchesThatItConcerns(removal: CacheSelection, isOutdated: Bool) async throws {
        let store = CacheStore(storage: nil)
        let entry = Self.entry()
        let ticket = store.beginFetch()
        #expect(ticket.isCurrent(entry.key, tags: entry.tags))
        store.remove(removal)
        #expect(ticket.isCurrent(entry.key, tags: entry.tags) == !isOutdated)
        #expect(store.insert(entry, of: ticket) == !isOutdated)
        #expect(store.entriesInMemory(for: entry.key).isEmpty == isOutdated)
        let later = store.beginFetch()
        #expect(later.isCurrent(entry.key, tags: entry.tags))
        #expect(store.insert(entry, of: later))
        #expect(store.entriesInMemory(for: entry.key).count == 1)
    }

    /// The responses are stored in memory, in storage, or piece by piece.
    @Test(arguments: [10, 50_000, 500_000])
    func responseToAnEarlierRequestDoesNotReplaceALaterOne(count: Int) async throws {
        let folder = CacheFolder()
        let store = CacheStore(storage: folder.storage()) { $0.memory.entryBytes = 1000 }
        func entry(_ text: String) -> CacheEntry { Self.entry(text + String(repeating: " ", count: count)) }
        func stored() async -> String? {
            await store.entries(for: Self.entry().key).first?.text.trimmingCharacters(in: .whitespaces)
        }
        let (slow, fast) = (store.beginFetch(), store.beginFetch())
        let opened = store.writer(for: Self.entry(""))
        let writer = try #require(opened)
        await writer.write(entry("late").body)
        #expect(store.insert(entry("new"), of: fast))
        #expect(!store.insert(entry("old"), of: slow))
        #expect(await !writer.commit(of: slow))
        #expect(await stored() == "new")
        #expect(store.insert(entry("newest"), of: store.beginFetch()))
        // An entry without a fetch is newer than all fetches in progress.
        let before = store.beginFetch()
        store.insert(entry("set"))
        #expect(!store.insert(entry("before"), of: before))
        #expect(await stored() == "set")
    }

    @Test func storedEntriesAreBoundedHoweverLongAFetchTakes() {
        var log = RemovalLog()
        let old = log.beginFetch()
        func name(_ number: Int) -> CacheStore.EntryName { .init(key: CacheKey("\(number)"), variant: "") }
        for number in 0..<10_000 {
            let fetch = log.beginFetch()
            let (later, earlier) = (log.recordStore(name(number), by: fetch), log.recordStore(name(number), by: old))
            #expect(later && !earlier)
            log.endFetch()
            #expect(log.count <= RemovalLog.limit.keys)
        }
        log.endFetch()
        #expect(log.count == 0)
    }

    @Test(arguments: [10, 500_000])
    func bodyInPiecesIsNotStoredAfterARemoval(count: Int) async throws {
        let folder = CacheFolder()
        let store = CacheStore(storage: folder.storage()) { $0.memory.entryBytes = 100_000 }
        for isOutdated in [true, false] {
            let ticket = store.beginFetch()
            let opened = store.writer(for: Self.entry())
            let writer = try #require(opened)
            await writer.write(.noise(count))
            if isOutdated { store.remove(Self.selection { $0.partition = "p" }) }
            #expect(await writer.commit(of: ticket) == !isOutdated)
            #expect(await store.entries(for: Self.entry().key).isEmpty == isOutdated)
        }
    }

    @Test func fetchesAndRemovalsAtTheSameTimeLeaveNothingOutdated() async {
        let store = CacheStore(storage: nil)
        for round in 0..<300 {
            let ticket = store.beginFetch()
            await withTaskGroup(of: Void.self) { group in
                group.addTask { store.insert(Self.entry(), of: ticket) }
                group.addTask {
                    switch round % 3 {
                    case 0: store.remove(Self.selection { $0.partition = "p" })
                    case 1: store.remove(Self.selection { $0.tag = "t" })
                    default: store.remove(CacheSelection(Self.entry().key))
                    }
                }
            }
            #expect(store.entriesInMemory(for: Self.entry().key).isEmpty, "round \(round)")
        }
    }

    @Test(arguments: 1...20)
    func randomRemovalsMatchAModel(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var log = RemovalLog()
        var fetches: [(number: Int, removals: [CacheSelection])] = []
        func name() -> String { "\(Int.random(in: 0..<4, using: &random))" }
        func key() -> CacheKey {
            CacheKey(name(), in: Bool.random(using: &random) ? .http : .responses, partition: name())
        }
        for _ in 0..<600 {
            switch Int.random(in: 0..<4, using: &random) {
            case 0: fetches.append((log.beginFetch(), []))
            case 1:
                if let index = fetches.indices.randomElement(using: &random) {
                    fetches.remove(at: index)
                    log.endFetch()
                }
            case 2:
                var selection = CacheSelection(key())
                if Bool.random(using: &random) {
                    selection = CacheSelection()
                    if Int.random(in: 0..<9, using: &random) > 0 { selection.tag = name() }
                    if Bool.random(using: &random) { selection.partition = name() }
                }
                log.record(selection)
                for index in fetches.indices { fetches[index].removals.append(selection) }
            default:
                let (key, tags) = (key(), Set([name(), name()]))
                for (number, removals) in fetches {
                    let isOutdated = removals.contains { $0.contains(key, tags: tags) }
                    #expect(log.isOutdated(number, key, tags: tags) == isOutdated)
                }
            }
            if fetches.isEmpty { #expect(log.count == 0) }
        }
    }

    @Test func logIsBoundedHoweverLongAFetchTakes() {
        var log = RemovalLog()
        let old = log.beginFetch()
        for number in 0..<50_000 {
            log.record(CacheSelection(CacheKey("\(number)", in: .http)))
            log.record(Self.selection { $0.tag = "\(number)" })
            #expect(log.count <= RemovalLog.limit.keys + RemovalLog.limit.selections)
        }
        for number in 0..<50_000 { #expect(log.isOutdated(old, CacheKey("\(number)", in: .http), tags: [])) }
        let new = log.beginFetch()
        #expect(!log.isOutdated(new, CacheKey("1", in: .http), tags: ["1"]))
        // Removals of the same entries need no further memory.
        let count = log.count
        for _ in 0..<10_000 {
            log.record(CacheSelection())
            log.record(CacheSelection(CacheKey("1", in: .http)))
        }
        #expect(log.count <= count + 2)
        #expect(log.isOutdated(new, CacheKey("2", in: .http), tags: []))
        log.endFetch()
        log.endFetch()
        #expect(log.count == 0)
    }

    @Test func requestedKeysAreBounded() {
        let store = CacheStore(storage: nil)
        #expect(store.isFirstRequest(for: CacheKey("a")))
        #expect(!store.isFirstRequest(for: CacheKey("a")))
        for number in 0..<CacheStore.requestedKeyLimit { _ = store.isFirstRequest(for: CacheKey("\(number)")) }
        #expect(store.isFirstRequest(for: CacheKey("a")), "The key was forgotten.")
    }
}

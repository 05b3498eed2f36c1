import Foundation
import Sluice
import SluiceHTTP

/// A storage in memory. A test can delay its reads and writes or let them fail.
final class ScriptedStorage: PolledCacheStorage {
    struct State: Sendable {
        var entries: [CacheEntry] = []
        /// The changes of each transaction, including failed ones.
        var batches: [[CacheChange]] = []
        var touches: [(name: String, expires: Date?)] = []
        /// The number of writes that have started.
        var writes = 0
        var reads = 0
        var writers = 0
        var writeGate: AsyncSignal?
        var readGate: AsyncSignal?
        var isReadBroken = false
        var breaks: (@Sendable (CacheChange) -> Bool)?
        var isChangedByOthers = false
        /// The news of changes by others, once the store follows it.
        var news: AsyncStream<CacheInvalidation>.Continuation?
        /// The number of entries that it evicts at a time.
        var evictionStep = 2
        var evictions: [Int] = []
    }

    let state = Shared(State())

    static let failure = SluiceError(.cacheFailed, "The disk is full.", step: .cache)

    var names: [String] { state.read.entries.map(\.key.name).sorted() }

    func hold(writes gate: AsyncSignal? = nil, reads readGate: AsyncSignal? = nil) {
        state.change {
            $0.writeGate = gate
            $0.readGate = readGate
        }
    }

    func fail(_ breaks: (@Sendable (CacheChange) -> Bool)?) {
        state.change { $0.breaks = breaks }
    }

    func entries(for key: CacheKey, at now: Date) async throws(SluiceError) -> [CacheEntry] {
        let (found, gate, isBroken) = state.change { state in
            state.reads += 1
            return (state.entries.filter { $0.key == key }, state.readGate, state.isReadBroken)
        }
        await gate?.wait()
        if isBroken { throw Self.failure }
        return found.sorted { $0.stored > $1.stored }
    }

    func apply(_ changes: [CacheChange]) async throws(SluiceError) {
        let gate = state.change { state in
            state.writes += 1
            state.batches.append(changes)
            return state.writeGate
        }
        await gate?.wait()
        let isDone = state.change { state in
            if let breaks = state.breaks, changes.contains(where: breaks) { return false }
            for change in changes { state.make(change) }
            return true
        }
        if !isDone { throw Self.failure }
    }

    func writer(for entry: CacheEntry) async throws(SluiceError) -> any CacheWriter {
        let breaks = state.change { state in
            state.writers += 1
            return state.breaks
        }
        if breaks?(.store(entry)) ?? false { throw Self.failure }
        return Writer(storage: self, entry: entry)
    }

    func size() async throws(SluiceError) -> CacheSize {
        state.change { CacheSize(bytes: $0.entries.reduce(0) { $0 + $1.body.count }, count: $0.entries.count) }
    }

    func evict(to limits: CacheLimits, at now: Date) async throws(SluiceError) -> Int {
        state.change { state in
            var removed = 0
            while removed < state.evictionStep {
                if let expired = state.entries.firstIndex(where: { ($0.expires ?? .distantFuture) <= now }) {
                    state.entries.remove(at: expired)
                } else if state.entries.count > limits.count ?? .max {
                    state.entries.removeFirst()
                } else {
                    break
                }
                removed += 1
            }
            state.evictions.append(removed)
            return removed
        }
    }

    func hasForeignChanges() async throws(SluiceError) -> Bool {
        state.change { state in
            defer { state.isChangedByOthers = false }
            return state.isChangedByOthers
        }
    }

    func invalidations() -> AsyncStream<CacheInvalidation>? {
        let (stream, continuation) = AsyncStream.makeStream(of: CacheInvalidation.self)
        state.change { $0.news = continuation }
        return stream
    }

    private struct Writer: CacheWriter {
        let storage: ScriptedStorage
        let entry: CacheEntry
        let body = Shared(Data())

        func write(_ piece: Data) async throws(SluiceError) {
            body.change { $0.append(piece) }
        }

        func commit() async throws(SluiceError) {
            try await storage.apply([.store(CacheEntry(key: entry.key, body: body.read, stored: entry.stored))])
        }
    }
}

extension ScriptedStorage.State {
    mutating func make(_ change: CacheChange) {
        switch change {
        case .store(let entry):
            entries.removeAll { $0.key == entry.key && $0.variant == entry.variant }
            entries.append(entry)
        case .remove(let selection): entries.removeAll { selection.contains($0) }
        case .touch(let key, _, _, _, let expires): touches.append((key.name, expires))
        }
    }
}

extension CacheEntry {
    /// Creates an entry for a text.
    convenience init(
        of name: String,
        _ text: String = "",
        in space: CacheKey.Space = .responses,
        variant: String = "",
        stored: Date = Date(timeIntervalSince1970: 1_767_225_600),
        expires: Date? = nil,
        tags: Set<String> = []
    ) {
        self.init(
            key: CacheKey(name, in: space),
            variant: variant,
            body: Data(text.utf8),
            stored: stored,
            expires: expires,
            tags: tags
        )
    }

    var text: String { String(decoding: body, as: UTF8.self) }
}

extension CacheKey {
    /// Returns the key of entries for a text.
    static func of(_ name: String) -> CacheKey { CacheKey(name, in: .responses) }
}

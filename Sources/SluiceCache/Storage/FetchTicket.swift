import SluiceHTTP

/// A fetch, from sending its request until its response is stored or dropped.
///
/// A removal outdates the fetches in progress: their responses are not stored, because they are older than the removal.
package final class FetchTicket: Sendable {
    private let store: CacheStore
    fileprivate let number: Int

    fileprivate init(_ store: CacheStore, _ number: Int) {
        self.store = store
        self.number = number
    }

    deinit {
        store.state.withLock { $0.removals.endFetch() }
    }

    /// True if a response with this key and these tags may be stored.
    package func isCurrent(_ key: CacheKey, tags: Set<String>) -> Bool {
        store.state.withLock { $0.isCurrent(self, key, tags: tags) }
    }
}

extension CacheStore {
    /// Returns the ticket of a fetch that begins now.
    package nonisolated func beginFetch() -> FetchTicket {
        FetchTicket(self, state.withLock { $0.removals.beginFetch() })
    }
}

extension CacheStore.State {
    /// True if a response may be stored: no removal that concerns it has been made since its fetch began.
    func isCurrent(_ ticket: FetchTicket, _ key: CacheKey, tags: Set<String>) -> Bool {
        !removals.isOutdated(ticket.number, key, tags: tags)
    }
}

/// The removals that outdate fetches in progress. They are recorded only while there are fetches.
///
/// The memory is bounded: beyond a limit, all fetches in progress count as outdated, and their responses are not stored.
struct RemovalLog {
    /// The maximum number of keys, and of removals that concern more than one key.
    static let limit = (keys: 4096, selections: 64)

    private var counter = 0
    private var fetchCount = 0
    /// The number of the last removal of each key.
    private var keys: [CacheKey: Int] = [:]
    /// The removals that concern more than one key, each with its number.
    private var selections: [(number: Int, selection: CacheSelection)] = []
    /// The number of the last removal that outdates all earlier fetches.
    private var last = 0

    /// The number of recorded removals.
    var count: Int { keys.count + selections.count }

    /// Records the beginning of a fetch, and returns its number.
    mutating func beginFetch() -> Int {
        fetchCount += 1
        counter += 1
        return counter
    }

    /// Records the end of a fetch. Without fetches, no removal is needed any longer.
    mutating func endFetch() {
        fetchCount -= 1
        if fetchCount == 0 { forget() }
    }

    /// Records a removal. The removal of a single variant makes room for another response, and outdates no fetch. Nor
    /// does the removal of expired entries.
    mutating func record(_ selection: CacheSelection) {
        guard fetchCount > 0, selection.variant == nil, selection.expired == nil else { return }
        counter += 1
        if let key = selection.key {
            keys[key] = counter
        } else {
            selections.removeAll { $0.selection == selection }
            selections.append((counter, selection))
        }
        if keys.count > Self.limit.keys || selections.count > Self.limit.selections {
            forget()
            last = counter
        }
    }

    private mutating func forget() {
        keys = [:]
        selections = []
    }

    /// True if a removal that concerns a key and tags has been made since a fetch began.
    func isOutdated(_ fetch: Int, _ key: CacheKey, tags: Set<String>) -> Bool {
        if last > fetch || keys[key] ?? 0 > fetch { return true }
        return selections.contains { $0.number > fetch && $0.selection.contains(key, tags: tags) }
    }
}

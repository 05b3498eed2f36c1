import SluiceHTTP

/// Equal requests that miss at the same time: the first is sent, and the others wait for what it brings.
final class SharedFetches: Sendable {
    /// What the first brought.
    struct Fetched: Sendable {
        let outcome: TransportOutcome
        /// What of it may answer others; nil where it is for the first alone.
        let entry: CacheEntry?
    }

    /// What makes requests equal, before it is known by which fields their answers differ.
    struct Key: Hashable {
        let key: CacheKey
        let method: HTTPMethod
        let identity: String?
        /// The fields by which servers are known to choose.
        let preferences: [[FieldValue]]

        init(_ request: HTTPRequest, _ key: CacheKey, _ identity: String?) {
            self.key = key
            self.identity = identity
            method = request.method
            preferences = Self.fields.map(request.headers.fieldValues)
        }

        private static let fields: [HTTPHeaderName] = [
            "Accept", "Accept-Encoding", "Accept-Language", "Cache-Control", "Cookie", "Origin", "Prefer",
        ]
    }

    private struct State {
        var flights: [Key: (number: Int, flight: Flight<Fetched>, hasBegun: Bool)] = [:]
        var lastNumber = 0
        /// How many tickets there are, and for each key the number that was next when it was outdated last.
        var active = 0
        var outdated: [CacheKey: Int] = [:]
        /// What was last of use to nobody else, so that nobody waits for it in vain; by their hashes, the oldest first.
        var unshareable: [Int] = []
        /// What is being revalidated behind the backs of those who have had their answer.
        var revalidations: Set<Key> = []
    }

    private static let memory = 256
    private let state = Locked(State())

    /// The fetch that is under way, or a new one.
    ///
    /// - Parameters:
    ///   - key: What is fetched.
    ///   - fetch: Fetches it, in a task of its own.
    /// - Returns: The fetch, and whether the caller was the first; nil where waiting was of no use the last time.
    func flight(
        _ key: Key,
        _ fetch: @escaping @Sendable () async -> Fetched
    ) -> (flight: Flight<Fetched>, isFirst: Bool)? {
        state.withLock { state in
            if let known = state.flights[key] { return (known.flight, false) }
            if state.unshareable.contains(key.hashValue) { return nil }
            state.lastNumber += 1
            let number = state.lastNumber
            let flight = Flight(cancelled: Fetched(outcome: .failure(.cancelled), entry: nil)) { [self] land, _ in
                begin(key, number)
                let task = Task {
                    let fetched = await fetch()
                    end(key, number, fetched)
                    _ = land(fetched)
                }
                return { [self] in
                    // Nobody waits for it any longer; who comes now begins anew.
                    leave(key, number)
                    task.cancel()
                }
            }
            state.flights[key] = (number, flight, false)
            return (flight, true)
        }
    }

    /// Forgets a fetch that nobody has begun, since the first was cancelled before.
    func abandon(_ key: Key) {
        state.withLock { state in
            if state.flights[key]?.hasBegun == false { state.flights[key] = nil }
        }
    }

    /// A fetch from when it is sent until its body has been kept or dropped: as long as anybody holds this, what outdates it is known.
    final class Ticket: Sendable {
        private let fetches: SharedFetches
        private let number: Int

        fileprivate init(_ fetches: SharedFetches) {
            self.fetches = fetches
            number = fetches.state.withLock { state in
                state.active += 1
                state.lastNumber += 1
                return state.lastNumber
            }
        }

        deinit {
            fetches.state.withLock { state in
                state.active -= 1
                if state.active == 0 { state.outdated = [:] }
            }
        }

        /// Whether what it brings of a resource may be kept.
        func isCurrent(_ key: CacheKey) -> Bool {
            fetches.state.withLock { ($0.outdated[key] ?? 0) < number }
        }
    }

    /// Notes that something is fetched from now on.
    func begin() -> Ticket { Ticket(self) }

    /// Notes that what is on its way is of before a change: nobody joins it any longer, and it is not kept.
    func outdate(_ key: CacheKey) {
        state.withLock { state in
            state.lastNumber += 1
            if state.active > 0 { state.outdated[key] = state.lastNumber }
            for known in state.flights.keys where known.key == key { state.flights[known] = nil }
        }
    }

    /// Notes that a fetch which nobody joined would have been of use to others.
    func noteShareable(_ key: Key) {
        state.withLock { state in
            if !state.unshareable.isEmpty { state.unshareable.removeAll { $0 == key.hashValue } }
        }
    }

    /// Begins a revalidation, unless it has begun already.
    func beginRevalidation(_ key: Key) -> Bool {
        state.withLock { $0.revalidations.insert(key).inserted }
    }

    func endRevalidation(_ key: Key) {
        state.withLock { _ = $0.revalidations.remove(key) }
    }

    private func begin(_ key: Key, _ number: Int) {
        state.withLock { state in
            if state.flights[key]?.number == number { state.flights[key]?.hasBegun = true }
        }
    }

    private func leave(_ key: Key, _ number: Int) {
        state.withLock { state in
            if state.flights[key]?.number == number { state.flights[key] = nil }
        }
    }

    private func end(_ key: Key, _ number: Int, _ fetched: Fetched) {
        leave(key, number)
        state.withLock { state in
            state.unshareable.removeAll { $0 == key.hashValue }
            guard fetched.entry == nil, case .success = fetched.outcome else { return }
            state.unshareable.append(key.hashValue)
            if state.unshareable.count > Self.memory { state.unshareable.removeFirst() }
        }
    }
}

import SluiceHTTP

/// Shared requests. The first of several concurrent equal cache misses is sent; the others wait for its result.
final class RequestCoalescer: Sendable {
    /// The result of a shared request.
    struct Fetched: Sendable {
        let outcome: TransportOutcome
        /// The entry that may satisfy other requests; nil if the result is only for the first.
        let entry: CacheEntry?
    }

    /// The properties in which requests must be equal to be shared, before the `Vary` field of the response is known.
    struct Key: Hashable {
        let key: CacheKey
        let method: HTTPMethod
        let identity: String?
        /// The values of the fields that servers commonly vary by.
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
        var flights: [Key: (number: Int, flight: SingleFlight<Fetched>, hasBegun: Bool)] = [:]
        var lastNumber = 0
        /// The number of live tickets, and for each invalidated key the sequence number of its last invalidation.
        var active = 0
        var outdated: [CacheKey: Int] = [:]
        /// The hashes of the keys whose last result was not shareable, oldest first. Requests for them do not wait for
        /// each other.
        var unshareable: [Int] = []
        /// The keys of the background revalidations in progress.
        var revalidations: Set<Key> = []
    }

    private static let memory = 256
    private let state = Locked(State())

    /// Returns the shared request in progress for a key, or starts one.
    ///
    /// - Parameters:
    ///   - key: The key.
    ///   - fetch: Fetches the response. It runs in a separate task.
    /// - Returns: The shared request, and true if the caller is the first; nil if the last result for the key was not
    ///   shareable.
    func flight(
        _ key: Key,
        _ fetch: @escaping @Sendable () async -> Fetched
    ) -> (flight: SingleFlight<Fetched>, isFirst: Bool)? {
        state.withLock { state in
            if let known = state.flights[key] { return (known.flight, false) }
            if state.unshareable.contains(key.hashValue) { return nil }
            state.lastNumber += 1
            let number = state.lastNumber
            let flight = SingleFlight(cancelled: Fetched(outcome: .failure(.cancelled), entry: nil)) {
                [self] complete, _ in
                begin(key, number)
                let task = Task {
                    let fetched = await fetch()
                    end(key, number, fetched)
                    _ = complete(fetched)
                }
                return { [self] in
                    // No request waits any longer. A later request starts a new fetch.
                    leave(key, number)
                    task.cancel()
                }
            }
            state.flights[key] = (number, flight, false)
            return (flight, true)
        }
    }

    /// Removes a shared request that has not started because the first request was cancelled.
    func abandon(_ key: Key) {
        state.withLock { state in
            if state.flights[key]?.hasBegun == false { state.flights[key] = nil }
        }
    }

    /// A fetch, from sending the request until its body is stored or dropped. Invalidations are recorded while a ticket
    /// exists.
    final class Ticket: Sendable {
        private let fetches: RequestCoalescer
        private let number: Int

        fileprivate init(_ fetches: RequestCoalescer) {
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

        /// True if the response may be stored under the key: the key has not been invalidated since the fetch began.
        func isCurrent(_ key: CacheKey) -> Bool {
            fetches.state.withLock { ($0.outdated[key] ?? 0) < number }
        }
    }

    /// Returns the ticket of a fetch that begins now.
    func begin() -> Ticket { Ticket(self) }

    /// Invalidates the fetches of a key: no request joins them any longer, and their responses are not stored.
    func outdate(_ key: CacheKey) {
        state.withLock { state in
            state.lastNumber += 1
            if state.active > 0 { state.outdated[key] = state.lastNumber }
            for known in state.flights.keys where known.key == key { state.flights[known] = nil }
        }
    }

    /// Records that the result of a fetch that was not shared is shareable.
    func noteShareable(_ key: Key) {
        state.withLock { state in
            if !state.unshareable.isEmpty { state.unshareable.removeAll { $0 == key.hashValue } }
        }
    }

    /// Begins a revalidation. Returns false if one is in progress.
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

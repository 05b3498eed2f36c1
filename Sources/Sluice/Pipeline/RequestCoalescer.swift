import SluiceHTTP

/// Combines concurrent equal cache misses: the first request is sent, and the others wait for its result.
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

        /// The key of the lease for which equal requests of several processes compete.
        var lease: CacheKey {
            var name = "\(method.rawValue) \(key.name)\n\(identity ?? "")"
            for values in preferences {
                name += "\n"
                for value in values { name += "\(value.bytes.count):\(value.text)" }
            }
            return CacheKey(name, in: key.space, partition: key.partition)
        }

        private static let fields: [HTTPHeaderName] = [
            "Accept", "Accept-Encoding", "Accept-Language", "Cache-Control", "Cookie", "Origin", "Prefer",
        ]
    }

    /// A shared request in progress.
    private struct Flight {
        let number: Int
        let flight: SingleFlight<Fetched>
        var hasBegun = false
        /// The ticket of the fetch. A removal that outdates it also ends the sharing.
        let ticket: FetchTicket?
    }

    private struct State {
        var flights: [Key: Flight] = [:]
        var lastNumber = 0
        /// The hashes of the keys whose last result was not shareable, oldest first. Requests for them do not wait for
        /// each other.
        var unshareable: [Int] = []
        /// The keys of the background revalidations in progress.
        var revalidations: Set<Key> = []
    }

    /// The maximum number of keys in `State.unshareable`.
    private static let unshareableLimit = 256
    /// The maximum number of background revalidations in progress.
    static let revalidationLimit = 256
    private let state = Locked(State())

    /// The number of requests that wait for shared ones.
    var waiting: Int { state.withLock { $0.flights.values.reduce(0) { $0 + $1.flight.waiting } } }

    /// Returns the shared request in progress for a key, or starts one.
    ///
    /// - Parameters:
    ///   - key: The key.
    ///   - cache: The cache, whose removals end the sharing; nil for none.
    ///   - ticket: The ticket of the fetch.
    ///   - fetch: Fetches the response. It runs in a separate task.
    /// - Returns: The shared request, true if the caller is the first, the ticket of the request, and its number; nil if
    ///   the last result for the key was not shareable.
    func flight(
        _ key: Key,
        in cache: HTTPCache? = nil,
        by ticket: FetchTicket? = nil,
        _ fetch: @escaping @Sendable () async -> Fetched
    ) -> (flight: SingleFlight<Fetched>, isFirst: Bool, ticket: FetchTicket?, number: Int)? {
        state.withLock { state in
            if let known = state.flights[key], cache?.isCurrent(known.ticket, key.key) ?? true {
                return (known.flight, false, known.ticket, known.number)
            }
            if state.unshareable.contains(key.hashValue) { return nil }
            state.lastNumber += 1
            let number = state.lastNumber
            let flight = SingleFlight(cancelled: Fetched(outcome: .failure(.cancelled), entry: nil)) { [self] flight in
                markBegun(key, number)
                let task = Task {
                    let fetched = await fetch()
                    finish(key, number, fetched, isOutdated: cache?.isCurrent(ticket, key.key) == false)
                    flight.complete(fetched)
                }
                return { [self] in
                    // No request waits any longer. A later request starts a new fetch.
                    removeFlight(key, number)
                    task.cancel()
                }
            }
            state.flights[key] = Flight(number: number, flight: flight, ticket: ticket)
            return (flight, true, ticket, number)
        }
    }

    /// Removes a shared request that has not started because the first request was cancelled.
    func abandon(_ key: Key) {
        state.withLock { state in
            if state.flights[key]?.hasBegun == false { state.flights[key] = nil }
        }
    }

    /// Records that the result of a fetch that was not shared is shareable.
    func recordShareable(_ key: Key) {
        state.withLock { state in
            if !state.unshareable.isEmpty { state.unshareable.removeAll { $0 == key.hashValue } }
        }
    }

    /// Begins a revalidation. Returns false if one is in progress, or too many of other keys are.
    func beginRevalidation(_ key: Key) -> Bool {
        state.withLock { state in
            state.revalidations.count < Self.revalidationLimit && state.revalidations.insert(key).inserted
        }
    }

    func endRevalidation(_ key: Key) {
        state.withLock { _ = $0.revalidations.remove(key) }
    }

    private func markBegun(_ key: Key, _ number: Int) {
        state.withLock { state in
            if state.flights[key]?.number == number { state.flights[key]?.hasBegun = true }
        }
    }

    /// Prevents later requests from joining a shared request. Those that have joined it still get its result.
    func removeFlight(_ key: Key, _ number: Int) {
        state.withLock { state in
            if state.flights[key]?.number == number { state.flights[key] = nil }
        }
    }

    private func finish(_ key: Key, _ number: Int, _ fetched: Fetched, isOutdated: Bool) {
        removeFlight(key, number)
        // Neither a removal nor a stale response in place of a failure shows whether the server's responses can be shared.
        if isOutdated { return }
        state.withLock { state in
            state.unshareable.removeAll { $0 == key.hashValue }
            guard fetched.entry == nil, case .success(let response) = fetched.outcome, response.failure == nil else {
                return
            }
            state.unshareable.append(key.hashValue)
            if state.unshareable.count > Self.unshareableLimit { state.unshareable.removeFirst() }
        }
    }
}

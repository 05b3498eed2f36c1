/// The circuits of all keys.
struct Circuits: Sendable {
    private let policy: Circuit.Policy
    private var circuits: [String: Circuit] = [:]
    private var sweepCount = 1024

    init(_ policy: Circuit.Policy) {
        self.policy = policy
    }

    /// The number of keys with a circuit.
    var keyCount: Int { circuits.count }

    /// The state of a key's circuit; closed for an unknown key.
    func state(_ key: String) -> CircuitBreaker.State {
        circuits[key]?.state ?? .closed
    }

    /// Admits or refuses a request. Also returns the new state if the state changed.
    mutating func admit(_ key: String, now: Circuit.Instant) -> (Circuit.Admission, CircuitBreaker.State?) {
        guard let index = circuits.index(forKey: key) else {
            sweep(now)
            var circuit = Circuit(at: now, policy)
            let admission = circuit.admit(now: now, policy)
            circuits[key] = circuit
            return (admission, nil)
        }
        let policy = policy
        return circuits.values[index].noticing { $0.admit(now: now, policy) }
    }

    /// Records the outcome of a request. Returns the new state if the state changed.
    mutating func settle(
        _ key: String,
        _ ticket: Circuit.Ticket,
        _ judgement: CircuitBreaker.Judgement,
        now: Circuit.Instant
    ) -> CircuitBreaker.State? {
        guard let index = circuits.index(forKey: key) else { return nil }
        let policy = policy
        return circuits.values[index].noticing { $0.settle(ticket, judgement, now: now, policy) }.1
    }

    /// Removes the circuits that are as good as new, when the number of circuits has doubled since the last sweep.
    private mutating func sweep(_ now: Circuit.Instant) {
        if circuits.count < sweepCount { return }
        let slice = policy.slice(of: now)
        circuits = circuits.filter { !$0.value.isFresh(at: slice) }
        sweepCount = max(1024, circuits.count * 2)
    }
}

extension Circuit {
    /// Applies a change. Also returns the new state if the state changed.
    fileprivate mutating func noticing<Result>(
        _ change: (inout Circuit) -> Result
    ) -> (Result, CircuitBreaker.State?) {
        let before = generation
        let result = change(&self)
        return (result, generation == before ? nil : state)
    }
}

#if os(Linux)
import SluiceHTTP

/// Answers of look-ups by name, each until its time has passed.
struct AnswerCache {
    typealias Answer = Result<[ScopedAddress], Resolver.Failure>

    private struct Entry {
        let answer: Answer
        let expiry: MonotonicTime
        /// Its place in the order of arrival.
        let number: UInt64
    }

    /// A name that does not exist is asked for again after a second at the latest.
    private static var negativeLifetime: Duration { .seconds(1) }

    private let lifetime: Duration
    private let capacity: Int
    private var entries: [String: Entry] = [:]
    private var lastNumber: UInt64 = 0

    init(lifetime: Duration, capacity: Int) {
        self.lifetime = lifetime
        self.capacity = max(1, capacity)
    }

    var count: Int { entries.count }

    /// Returns the answer stored for a name, nil if there is none or its time has passed.
    mutating func answer(to key: String, at now: MonotonicTime) -> Answer? {
        guard let entry = entries[key] else { return nil }
        if entry.expiry > now { return entry.answer }
        entries[key] = nil
        return nil
    }

    /// Stores addresses, and for a short time that a name does not exist; a temporary failure is not stored.
    mutating func store(_ answer: Answer, for key: String, at now: MonotonicTime) {
        entries[key] = nil
        let lifetime: Duration
        switch answer {
        case .success: lifetime = self.lifetime
        case .failure(.notFound): lifetime = min(self.lifetime, AnswerCache.negativeLifetime)
        case .failure: return
        }
        guard lifetime > .zero else { return }
        if entries.count >= capacity { makeRoom(at: now) }
        lastNumber += 1
        entries[key] = Entry(answer: answer, expiry: now + lifetime, number: lastNumber)
    }

    mutating func remove(_ key: String) {
        entries[key] = nil
    }

    /// Removes all entries whose time has passed, or else the oldest one.
    private mutating func makeRoom(at now: MonotonicTime) {
        entries = entries.filter { $0.value.expiry > now }
        guard entries.count >= capacity, let oldest = entries.min(by: { $0.value.number < $1.value.number }) else {
            return
        }
        entries[oldest.key] = nil
    }
}
#endif

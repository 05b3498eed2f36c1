#if os(Linux)
import SluiceHTTP

/// A cache of look-up results by name, each with an expiration time.
struct AnswerCache {
    typealias Answer = Result<[ScopedAddress], Resolver.Failure>

    private struct Entry {
        let answer: Answer
        let expiry: MonotonicTime
        /// The position in the order of arrival.
        let number: UInt64
    }

    /// The maximum time for which a missing name is cached.
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

    /// Returns the cached answer for a name, or nil if there is none or it has expired.
    mutating func answer(to key: String, at now: MonotonicTime) -> Answer? {
        guard let entry = entries[key] else { return nil }
        if entry.expiry > now { return entry.answer }
        entries[key] = nil
        return nil
    }

    /// Stores addresses, and for a short time that a name does not exist. A temporary failure is not stored.
    mutating func store(_ answer: Answer, for key: String, at now: MonotonicTime) {
        entries[key] = nil
        let lifetime: Duration
        switch answer {
        case .success: lifetime = self.lifetime
        case .failure(.notFound): lifetime = min(self.lifetime, AnswerCache.negativeLifetime)
        case .failure: return
        }
        guard lifetime > .zero else { return }
        if entries.count >= capacity { evict(at: now) }
        lastNumber += 1
        entries[key] = Entry(answer: answer, expiry: now + lifetime, number: lastNumber)
    }

    mutating func remove(_ key: String) {
        entries[key] = nil
    }

    /// Removes all expired entries, or the oldest entry if none has expired.
    private mutating func evict(at now: MonotonicTime) {
        entries = entries.filter { $0.value.expiry > now }
        guard entries.count >= capacity, let oldest = entries.min(by: { $0.value.number < $1.value.number }) else {
            return
        }
        entries[oldest.key] = nil
    }
}
#endif

import SluiceHTTP

/// The state of a rate limit: a bucket for each key, and who waits for its tokens.
struct TokenBuckets<Waiter> {
    typealias Instant = ContinuousClock.Instant

    enum Arrival: Equatable {
        case admitted
        case waiting
        /// As many wait for the key as may.
        case full(waiting: Int)
        /// The wait would be longer than it may be.
        case tooLong(Duration)
    }

    private struct Place {
        let waiter: Waiter
        /// By when it wants to be admitted.
        let latest: Instant?
    }

    private struct Entry {
        var bucket: TokenBucket
        var line = WaitingLine<Place>()
        /// The time at which it stands among those that are due.
        var scheduled: Instant?

        /// Takes a token if there is one and nobody waits for it.
        mutating func take(_ rate: TokenBucket.Rate, now: Instant) -> Bool {
            line.isEmpty && bucket.take(rate, now: now)
        }
    }

    private let rate: TokenBucket.Rate
    private let maximumWaiting: Int
    private let maximumWait: Duration?
    private var entries: [String: Entry] = [:]
    private var dueTimes = DueTimes()
    private var sweepCount = 1024
    /// How many wait.
    private(set) var waiting = 0

    init(rate: TokenBucket.Rate, maximumWaiting: Int, maximumWait: Duration?) {
        self.rate = rate
        self.maximumWaiting = max(0, maximumWaiting)
        // Time and wait together are still a time.
        self.maximumWait = maximumWait.map { min($0, .seconds(1 << 31)) }
    }

    /// Keys about which anything is known.
    var keyCount: Int { entries.count }
    /// Times at which something is due, or was.
    var scheduledCount: Int { dueTimes.count }

    /// Takes a token if there is one and nobody waits for it.
    mutating func take(_ key: String, now: Instant) -> Bool {
        guard let index = entries.index(forKey: key) else {
            return insert(key, now: now) { $0.bucket.take($1, now: now) }
        }
        return entries.values[index].take(rate, now: now)
    }

    /// Takes a token, or a place in the key's line.
    mutating func arrive(_ waiter: Waiter, id: Int, _ key: String, now: Instant) -> Arrival {
        if take(key, now: now) { return .admitted }
        guard let index = entries.index(forKey: key) else { return .admitted }
        let waitingForKey = entries.values[index].line.count
        if waitingForKey >= maximumWaiting { return .full(waiting: waitingForKey) }
        let due = entries.values[index].bucket.due(behind: waitingForKey, rate, now: now)
        if let maximumWait, due - now > maximumWait { return .tooLong(due - now) }
        entries.values[index].line.append(Place(waiter: waiter, latest: maximumWait.map { now + $0 }), id: id)
        waiting += 1
        schedule(key, now: now)
        return .waiting
    }

    /// Gives up a place in line; nil if it had been admitted or refused already.
    mutating func leave(id: Int, _ key: String) -> Waiter? {
        guard let place = entries[key]?.line.remove(id: id) else { return nil }
        waiting -= 1
        return place.waiter
    }

    /// Puts back a token that was not used; returns whom it goes to.
    mutating func putBack(_ key: String, now: Instant) -> [Waiter] {
        // A bucket that is not known is full.
        guard let index = entries.index(forKey: key) else { return [] }
        entries.values[index].bucket.putBack(rate)
        return drain(key, now: now)
    }

    /// Gives no tokens of a key before a time; returns those for whom that is too late, and how long they would have waited.
    mutating func close(_ key: String, until time: Instant, now: Instant) -> [(Waiter, Duration)] {
        if entries[key] == nil { insert(key, now: now) { _, _ in } }
        guard let index = entries.index(forKey: key) else { return [] }
        entries.values[index].bucket.close(until: time)
        let bucket = entries.values[index].bucket
        var waits: [Duration] = []
        let leaving = entries.values[index].line.removeAll { position, place in
            guard let latest = place.latest else { return false }
            let due = bucket.due(behind: position, rate, now: now)
            if due > latest { waits.append(due - now) }
            return due > latest
        }
        waiting -= leaving.count
        schedule(key, now: now)
        return zip(leaving, waits).map { ($0.waiter, $1) }
    }

    /// Those whose tokens have come.
    mutating func release(now: Instant) -> [Waiter] {
        var admitted: [Waiter] = []
        while let (time, key) = nextDue(), time <= now {
            dueTimes.removeFirst()
            entries[key]?.scheduled = nil
            admitted += drain(key, now: now)
        }
        return admitted
    }

    /// When the next token comes that somebody waits for.
    mutating func nextDueTime() -> Instant? { nextDue()?.time }

    private mutating func nextDue() -> DueTimes.Entry? {
        while let first = dueTimes.first {
            if let index = entries.index(forKey: first.key), entries.values[index].scheduled == first.time {
                if !entries.values[index].line.isEmpty { return first }
                entries.values[index].scheduled = nil
            }
            dueTimes.removeFirst()
        }
        return nil
    }

    private mutating func drain(_ key: String, now: Instant) -> [Waiter] {
        guard let index = entries.index(forKey: key) else { return [] }
        var admitted: [Waiter] = []
        while !entries.values[index].line.isEmpty, entries.values[index].bucket.take(rate, now: now),
            let place = entries.values[index].line.popFirst()
        {
            admitted.append(place.waiter)
        }
        waiting -= admitted.count
        schedule(key, now: now)
        return admitted
    }

    private mutating func schedule(_ key: String, now: Instant) {
        guard let index = entries.index(forKey: key), !entries.values[index].line.isEmpty else { return }
        let due = entries.values[index].bucket.due(behind: 0, rate, now: now)
        if entries.values[index].scheduled == due { return }
        entries.values[index].scheduled = due
        dueTimes.insert(key, at: due)
    }

    /// Begins to know a key, and forgets those whose buckets are as good as new whenever they may be half of all.
    @discardableResult
    private mutating func insert<Result>(
        _ key: String,
        now: Instant,
        _ use: (inout Entry, TokenBucket.Rate) -> Result
    ) -> Result {
        if entries.count >= sweepCount {
            entries = entries.filter { !$0.value.line.isEmpty || !$0.value.bucket.isFresh(now: now) }
            sweepCount = max(1024, entries.count * 2)
        }
        return use(&entries[key, default: Entry(bucket: TokenBucket(now: now))], rate)
    }
}

import SluiceHTTP

/// The state of a rate limit: a bucket and a wait queue for each key.
struct TokenBuckets<Waiter> {
    typealias Instant = ContinuousClock.Instant

    enum Arrival: Equatable {
        case admitted
        case waiting
        /// The queue of the key is full.
        case full(waiting: Int)
        /// The wait would exceed the maximum.
        case tooLong(Duration)
        /// The server's pause ends after the deadline of the request.
        case tooLate(Duration)
    }

    private struct QueuedWaiter {
        let waiter: Waiter
        /// The latest time at which the waiter can be admitted.
        let latest: Instant?
        let deadline: Instant?
    }

    private struct Entry {
        var bucket: TokenBucket
        var queue = WaitQueue<QueuedWaiter>()
        /// The time of this entry in `dueTimes`.
        var scheduled: Instant?

        /// Takes a token if one is available and the queue is empty.
        mutating func take(_ rate: TokenBucket.Rate, now: Instant) -> Bool {
            queue.isEmpty && bucket.take(rate, now: now)
        }
    }

    private let rate: TokenBucket.Rate
    private let maximumWaiting: Int
    private let maximumWait: Duration?
    private var entries: [String: Entry] = [:]
    private var dueTimes = DueTimes()
    private var sweepCount = 1024
    /// The number of waiters.
    private(set) var waiting = 0

    init(rate: TokenBucket.Rate, maximumWaiting: Int, maximumWait: Duration?) {
        self.rate = rate
        self.maximumWaiting = max(0, maximumWaiting)
        // Bounded so that adding the wait to a time does not overflow.
        self.maximumWait = maximumWait.map { min($0, RetryAfter.longest) }
    }

    var keyCount: Int { entries.count }
    /// The number of scheduled times, including outdated ones.
    var scheduledCount: Int { dueTimes.count }

    /// Takes a token if one is available and no request waits for the key.
    mutating func take(_ key: String, now: Instant) -> Bool {
        guard let index = entries.index(forKey: key) else {
            return insert(key, now: now) { $0.bucket.take($1, now: now) }
        }
        return entries.values[index].take(rate, now: now)
    }

    /// Takes a token, or adds the waiter to the queue of the key.
    mutating func arrive(_ waiter: Waiter, id: Int, _ key: String, deadline: Instant? = nil, now: Instant) -> Arrival {
        if take(key, now: now) { return .admitted }
        guard let index = entries.index(forKey: key) else { return .admitted }
        let waitingForKey = entries.values[index].queue.count
        if waitingForKey >= maximumWaiting { return .full(waiting: waitingForKey) }
        let bucket = entries.values[index].bucket
        let due = bucket.due(waitersAhead: waitingForKey, rate, now: now)
        if let maximumWait, due - now > maximumWait { return .tooLong(due - now) }
        // The wait for tokens can become shorter, but not that for the server.
        if let deadline, bucket.pausedUntil > deadline { return .tooLate(due - now) }
        let queued = QueuedWaiter(waiter: waiter, latest: maximumWait.map { now + $0 }, deadline: deadline)
        entries.values[index].queue.append(queued, id: id)
        waiting += 1
        schedule(key, now: now)
        return .waiting
    }

    /// Removes a waiter from the queue. Returns nil if it has already been admitted or refused.
    mutating func leave(id: Int, _ key: String) -> Waiter? {
        guard let queued = entries[key]?.queue.remove(id: id) else { return nil }
        waiting -= 1
        return queued.waiter
    }

    /// Puts back a token that was taken at a time and not used. Returns the waiters that are admitted.
    mutating func putBack(_ key: String, taken: Instant, now: Instant) -> [Waiter] {
        // A key without an entry has a full bucket.
        guard let index = entries.index(forKey: key) else { return [] }
        entries.values[index].bucket.putBack(rate, taken: taken)
        return drain(key, now: now)
    }

    /// Stops the tokens of a key until a time, as ``TokenBucket/pause(_:until:now:)`` does. Removes and returns the
    /// waiters whose wait becomes too long or ends too late.
    mutating func pause(_ key: String, until time: Instant, now: Instant) -> [(Waiter, Arrival)] {
        if entries[key] == nil { insert(key, now: now) { _, _ in } }
        guard let index = entries.index(forKey: key) else { return [] }
        entries.values[index].bucket.pause(rate, until: time, now: now)
        let bucket = entries.values[index].bucket
        var reasons: [Arrival] = []
        let leaving = entries.values[index].queue.removeAll { position, queued in
            let due = bucket.due(waitersAhead: position, rate, now: now)
            if let latest = queued.latest, due > latest {
                reasons.append(.tooLong(due - now))
            } else if let deadline = queued.deadline, bucket.pausedUntil > deadline {
                reasons.append(.tooLate(due - now))
            } else {
                return false
            }
            return true
        }
        waiting -= leaving.count
        schedule(key, now: now)
        return zip(leaving, reasons).map { ($0.waiter, $1) }
    }

    /// Removes and returns the waiters whose tokens are available.
    mutating func release(now: Instant) -> [Waiter] {
        var admitted: [Waiter] = []
        while let (time, key) = nextDue(), time <= now {
            dueTimes.removeFirst()
            entries[key]?.scheduled = nil
            admitted += drain(key, now: now)
        }
        return admitted
    }

    /// The time at which the next token for a waiter is available.
    mutating func nextDueTime() -> Instant? { nextDue()?.time }

    private mutating func nextDue() -> DueTimes.Entry? {
        while let first = dueTimes.first {
            if let index = entries.index(forKey: first.key), entries.values[index].scheduled == first.time {
                if !entries.values[index].queue.isEmpty { return first }
                entries.values[index].scheduled = nil
            }
            dueTimes.removeFirst()
        }
        return nil
    }

    private mutating func drain(_ key: String, now: Instant) -> [Waiter] {
        guard let index = entries.index(forKey: key) else { return [] }
        var admitted: [Waiter] = []
        while !entries.values[index].queue.isEmpty, entries.values[index].bucket.take(rate, now: now),
            let queued = entries.values[index].queue.popFirst()
        {
            admitted.append(queued.waiter)
        }
        waiting -= admitted.count
        schedule(key, now: now)
        return admitted
    }

    private mutating func schedule(_ key: String, now: Instant) {
        guard let index = entries.index(forKey: key), !entries.values[index].queue.isEmpty else { return }
        let due = entries.values[index].bucket.due(waitersAhead: 0, rate, now: now)
        if entries.values[index].scheduled == due { return }
        entries.values[index].scheduled = due
        dueTimes.insert(key, at: due)
    }

    /// Adds an entry for a key, and applies a closure to it. When the number of entries has doubled since the last sweep,
    /// removes those that equal a new entry.
    @discardableResult
    private mutating func insert<Result>(
        _ key: String,
        now: Instant,
        _ use: (inout Entry, TokenBucket.Rate) -> Result
    ) -> Result {
        if entries.count >= sweepCount {
            entries = entries.filter { !$0.value.queue.isEmpty || !$0.value.bucket.isFresh(now: now) }
            sweepCount = max(1024, entries.count * 2)
        }
        return use(&entries[key, default: Entry(bucket: TokenBucket(now: now))], rate)
    }
}

/// The tokens of one key, stored as the time at which the bucket will be full again. No timer adds tokens, and fractions
/// of tokens are not lost.
package struct TokenBucket: Sendable {
    /// The rate at which tokens are added, and the capacity.
    package struct Rate: Sendable, Equatable {
        /// The time between two tokens; zero for no limit.
        package let interval: Duration
        /// The capacity of the bucket, at least 1.
        package let burst: Int
        /// The time it takes to fill a bucket that holds one token.
        fileprivate let depth: Duration

        /// Creates a rate. Values out of range are clamped.
        package init(_ count: Int, every period: Duration, burst: Int? = nil) {
            // Within these bounds, the product of burst and interval does not overflow a duration.
            let longest = RetryAfter.longest
            let highest = Int(clamping: longest.components.seconds)
            let count = min(max(1, count), highest)
            interval = min(max(.zero, period), longest) / count
            self.burst = min(max(1, burst ?? count), highest)
            depth = interval * (self.burst - 1)
        }
    }

    /// The time at which the bucket is full.
    private(set) var fullAt: ContinuousClock.Instant
    /// The time until which the server accepts no requests.
    private(set) var pausedUntil: ContinuousClock.Instant
    /// The earliest time at which the bucket can be full, because a pause adds no tokens.
    private var earliestFull: ContinuousClock.Instant
    /// The latest time at which the bucket was full and a token was taken.
    private var wasFullAt: ContinuousClock.Instant

    /// Creates a full bucket.
    package init(now: ContinuousClock.Instant) {
        fullAt = now
        pausedUntil = now
        earliestFull = now
        wasFullAt = now
    }

    package init(emptyAt now: ContinuousClock.Instant, _ rate: Rate) {
        fullAt = now + rate.interval * rate.burst
        pausedUntil = now
        earliestFull = now
        wasFullAt = now
    }

    /// True if the bucket is full and open, like a new one.
    func isFresh(now: ContinuousClock.Instant) -> Bool {
        fullAt <= now && pausedUntil <= now
    }

    /// The time at which a token is available for a waiter, given the number of waiters in front of it.
    package func due(waitersAhead waiting: Int, _ rate: Rate, now: ContinuousClock.Instant) -> ContinuousClock.Instant {
        let open = max(now, pausedUntil)
        return max(open, max(open, fullAt) + rate.interval * waiting - rate.depth)
    }

    /// Takes a token if one is available.
    package mutating func take(_ rate: Rate, now: ContinuousClock.Instant) -> Bool {
        guard pausedUntil <= now, fullAt - rate.depth <= now else { return false }
        if fullAt <= now { wasFullAt = now }
        fullAt = max(fullAt, now) + rate.interval
        return true
    }

    /// Puts a token back that was taken at a time. If the bucket has been full since then, it has no room for the token.
    mutating func putBack(_ rate: Rate, taken: ContinuousClock.Instant) {
        if taken >= wasFullAt { fullAt = max(fullAt - rate.interval, earliestFull) }
    }

    /// Stops the tokens until a time. The tokens that would have been added by then are missing afterwards, but for one. A burst would meet
    /// a server that has asked for less.
    mutating func pause(_ rate: Rate, until time: ContinuousClock.Instant, now: ContinuousClock.Instant) {
        guard time > now else { return }
        pausedUntil = max(pausedUntil, time)
        earliestFull = max(earliestFull, pausedUntil + min(rate.depth, now.duration(to: pausedUntil)))
        fullAt = max(fullAt, earliestFull)
    }
}

/// A binary heap of keys, ordered by the time at which they are due, the earliest first.
struct DueTimes {
    typealias Entry = (time: ContinuousClock.Instant, key: String)

    private var heap: [Entry] = []

    var first: Entry? { heap.first }
    /// The number of entries.
    var count: Int { heap.count }

    mutating func insert(_ key: String, at time: ContinuousClock.Instant) {
        heap.append((time, key))
        var child = heap.count - 1
        while child > 0 {
            let parent = (child - 1) / 2
            if heap[parent].time <= heap[child].time { break }
            heap.swapAt(parent, child)
            child = parent
        }
    }

    mutating func removeFirst() {
        guard let last = heap.popLast(), !heap.isEmpty else { return }
        heap[0] = last
        var parent = 0
        while true {
            var child = 2 * parent + 1
            if child >= heap.count { break }
            if child + 1 < heap.count, heap[child + 1].time < heap[child].time { child += 1 }
            if heap[parent].time <= heap[child].time { break }
            heap.swapAt(parent, child)
            parent = child
        }
    }
}

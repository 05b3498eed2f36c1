#if os(Linux)
import SluiceHTTP

/// The look-ups, waiters, cached answers and threads of a resolver. It processes events and returns the work to do.
///
///     request ──► queued ──► running ──► answered
///                   │           │
///              last waiter   last waiter
///                 leaves        leaves
///                   ▼           ▼
///                removed    abandoned ──► answered (the answer is cached)
///                               │
///                     request ──┘ running again
///
/// Equal names share a look-up. Look-ups start in the order of their requests, each on its own thread, and run concurrently up to a
/// bound. An abandoned look-up has no waiters, but cannot be stopped. It occupies its thread. For each abandoned look-up, another one may
/// run, up to the same bound, so there are at most twice as many threads as the bound. A name server that does not answer delays other
/// look-ups only if all of these threads wait for it.
struct ResolverState<Waiter: Sendable>: Sendable {
    typealias Answer = Result<[ScopedAddress], Resolver.Failure>

    enum Reply {
        case answer(Answer)
        case pending(Resolver.Ticket)
    }

    /// The work that an event requires.
    enum Work: Hashable {
        case none
        /// Start a thread, which then calls ``threadArrived()``. On failure, call ``threadFailed()``.
        case startThread
        /// Wake an idle thread, which then calls ``threadArrived()``.
        case wakeThread
    }

    /// The next step of a thread.
    enum Step: Hashable {
        case lookUp(id: UInt64, name: String)
        /// Wait to be woken. After the idle time, call ``idleTimePassed()``.
        case idle
        case end
    }

    private struct LookUp {
        let name: LookupName
        var isRunning = false
        var waiters: [UInt64: Waiter] = [:]
    }

    private let bound: Int
    private var cache: AnswerCache
    private var lookUps: [UInt64: LookUp] = [:]
    private var idsByKey: [String: UInt64] = [:]
    private var lastNumber: UInt64 = 0

    /// The queued look-ups from `first` on, the oldest first. Cancelled ones remain until they are skipped.
    private var queue: [UInt64] = []
    private var first = 0
    /// The number of look-ups that wait for a thread.
    private(set) var queued = 0
    /// The number of running look-ups without a waiter.
    private(set) var abandoned = 0

    /// The number of threads, including started ones that have not arrived.
    private(set) var threads = 0
    /// The number of threads that wait to be woken.
    private(set) var idle = 0
    /// The number of threads that have been started or woken and will ask for a look-up.
    private(set) var arriving = 0

    init(threads bound: Int, lifetime: Duration, cacheCapacity: Int = 1000) {
        self.bound = max(1, bound)
        cache = AnswerCache(lifetime: lifetime, capacity: cacheCapacity)
    }

    /// The number of threads that may currently be occupied.
    var capacity: Int { bound + min(abandoned, bound) }
    var occupied: Int { threads - idle }
    var running: Int { lookUps.count - queued }
    var cached: Int { cache.count }

    /// Returns a cached answer, or adds a waiter to the look-up of a name.
    mutating func request(_ name: LookupName, _ waiter: Waiter, at now: MonotonicTime) -> (Reply, Work) {
        if let answer = cache.answer(to: name.key, at: now) { return (.answer(answer), .none) }
        lastNumber += 1
        let number = lastNumber
        if let id = idsByKey[name.key], var lookUp = lookUps.removeValue(forKey: id) {
            if lookUp.isRunning, lookUp.waiters.isEmpty { abandoned -= 1 }
            lookUp.waiters[number] = waiter
            lookUps[id] = lookUp
            return (.pending(Resolver.Ticket(lookUp: id, number: number)), .none)
        }
        lookUps[number] = LookUp(name: name, waiters: [number: waiter])
        idsByKey[name.key] = number
        queue.append(number)
        queued += 1
        return (.pending(Resolver.Ticket(lookUp: number, number: number)), occupyThread())
    }

    /// Removes a waiter.
    ///
    /// - Returns: False if the waiter has already been answered or removed.
    mutating func cancel(_ ticket: Resolver.Ticket) -> (Bool, Work) {
        guard lookUps[ticket.lookUp]?.waiters.removeValue(forKey: ticket.number) != nil else { return (false, .none) }
        guard let lookUp = lookUps[ticket.lookUp], lookUp.waiters.isEmpty else { return (true, .none) }
        if lookUp.isRunning {
            abandoned += 1
            return (true, occupyThread())
        }
        lookUps[ticket.lookUp] = nil
        idsByKey[lookUp.name.key] = nil
        queued -= 1
        compactQueue()
        return (true, .none)
    }

    /// Removes the cached answer of a name.
    mutating func forget(_ name: LookupName) {
        cache.remove(name.key)
    }

    /// Moves an address to the end of the cached answer of a name.
    mutating func putLast(_ address: IPAddress, of name: LookupName) {
        cache.putLast(address, for: name.key)
    }

    /// Records the arrival of a started or woken thread.
    mutating func threadArrived() -> Step {
        arriving -= 1
        return nextStep()
    }

    /// Records a thread that could not be started.
    ///
    /// - Returns: The waiters to fail, if no thread is left to look up their names.
    mutating func threadFailed() -> [(Resolver.Ticket, Waiter)] {
        arriving -= 1
        threads -= 1
        guard threads == 0 else { return [] }
        var failed: [(Resolver.Ticket, Waiter)] = []
        while let id = popQueued() {
            guard let lookUp = lookUps.removeValue(forKey: id) else { continue }
            idsByKey[lookUp.name.key] = nil
            failed += lookUp.waiters.sorted { $0.key < $1.key }
                .map { (Resolver.Ticket(lookUp: id, number: $0.key), $0.value) }
        }
        return failed
    }

    /// Ends a look-up.
    ///
    /// - Returns: The answer and its waiters, in the order of their requests. After calling them, the thread requests its next step.
    mutating func finish(_ id: UInt64, _ result: Answer, at now: MonotonicTime) -> (Answer, [Waiter]) {
        guard let lookUp = lookUps.removeValue(forKey: id) else { return (result, []) }
        idsByKey[lookUp.name.key] = nil
        if lookUp.waiters.isEmpty { abandoned -= 1 }
        let answer = lookUp.name.answer(from: result)
        cache.store(answer, for: lookUp.name.key, at: now)
        return (answer, lookUp.waiters.sorted { $0.key < $1.key }.map(\.value))
    }

    /// Returns the next step of a thread that is not idle and has no look-up.
    mutating func nextStep() -> Step {
        if occupied <= capacity, let id = popQueued() {
            lookUps[id]?.isRunning = true
            return .lookUp(id: id, name: lookUps[id]?.name.text ?? "")
        }
        // Additional threads for abandoned look-ups are not kept.
        if threads > bound {
            threads -= 1
            return .end
        }
        idle += 1
        return .idle
    }

    /// Ends an idle thread.
    ///
    /// - Returns: False if the thread has just been woken. It then continues.
    mutating func idleTimePassed() -> Bool {
        guard idle > 0 else { return false }
        idle -= 1
        threads -= 1
        return true
    }

    /// Assigns a thread to a queued look-up, if no arriving thread will take it and the bound allows it.
    private mutating func occupyThread() -> Work {
        guard queued > arriving, occupied < capacity else { return .none }
        arriving += 1
        if idle > 0 {
            idle -= 1
            return .wakeThread
        }
        threads += 1
        return .startThread
    }

    private mutating func popQueued() -> UInt64? {
        while first < queue.count {
            let id = queue[first]
            first += 1
            if lookUps[id] != nil {
                queued -= 1
                compactQueue()
                return id
            }
        }
        compactQueue()
        return nil
    }

    /// Removes cancelled look-ups from the queue once they outnumber the waiting ones, so the average cost is constant.
    private mutating func compactQueue() {
        guard queue.count - queued > max(64, queued) || queued == 0 else { return }
        queue = queue[first...].filter { lookUps[$0].map { !$0.isRunning } ?? false }
        first = 0
    }
}

// MARK: - Answer cache

/// A cache of look-up results by name, each with an expiration time.
struct AnswerCache {
    typealias Answer = Result<[ScopedAddress], Resolver.Failure>

    private struct Entry {
        var answer: Answer
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

    /// Moves an address to the end of a cached answer.
    mutating func putLast(_ address: IPAddress, for key: String) {
        guard case .success(let addresses)? = entries[key]?.answer else { return }
        entries[key]?.answer = .success(
            addresses.filter { $0.address != address } + addresses.filter { $0.address == address }
        )
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

#if os(Linux)
import SluiceHTTP

/// The look-ups, their waiters, the cached answers and the threads of a resolver; it takes events and returns what is to be done.
///
///     request ──► queued ──► running ──► answered
///                   │           │
///              last waiter   last waiter
///                 leaves        leaves
///                   ▼           ▼
///                 gone      abandoned ──► answered (the answer is cached)
///                               │
///                     request ──┘ running again
///
/// Equal names share a look-up. Look-ups start in the order of their requests, each on a thread of its own, and run at the same time
/// up to a bound. An abandoned look-up, for which nobody waits any more, cannot be stopped; it holds its thread but does not count
/// against the bound, except for those above another such bound. So there are at most twice as many threads as the bound says, and
/// a name server that does not answer stops others only while that many look-ups hang.
struct ResolverState<Waiter: Sendable>: Sendable {
    typealias Answer = Result<[ScopedAddress], Resolver.Failure>

    enum Reply {
        case answer(Answer)
        case pending(Resolver.Ticket)
    }

    /// An effect that an event calls for.
    enum Work: Hashable {
        case none
        /// Start a thread, which then calls ``threadArrived()``, or else call ``threadFailed()``.
        case startThread
        /// Wake an idle thread, which then calls ``threadArrived()``.
        case wakeThread
    }

    /// The next thing for a thread to do.
    enum Step: Hashable {
        case lookUp(id: UInt64, name: String)
        /// Wait to be woken, and after a time call ``idleTimePassed()``.
        case idle
        case end
    }

    private struct LookUp {
        let name: LookUpName
        var isRunning = false
        var waiters: [UInt64: Waiter] = [:]
    }

    private let bound: Int
    private var cache: AnswerCache
    private var lookUps: [UInt64: LookUp] = [:]
    private var idsByKey: [String: UInt64] = [:]
    private var lastNumber: UInt64 = 0

    /// Queued look-ups, oldest first, from `first` on; those that are gone remain in it until they are skipped.
    private var queue: [UInt64] = []
    private var first = 0
    /// The number of look-ups that wait for a thread.
    private(set) var queued = 0
    /// The number of running look-ups without a waiter.
    private(set) var abandoned = 0

    /// The number of threads, started ones that have not arrived among them.
    private(set) var threads = 0
    /// The number of threads that wait to be woken.
    private(set) var idle = 0
    /// The number of threads that have been started or woken and will ask for a look-up.
    private(set) var arriving = 0

    init(threads bound: Int, lifetime: Duration, cacheCapacity: Int = 1000) {
        self.bound = max(1, bound)
        cache = AnswerCache(lifetime: lifetime, capacity: cacheCapacity)
    }

    /// The number of threads that may be occupied now.
    var capacity: Int { bound + min(abandoned, bound) }
    var occupied: Int { threads - idle }
    var running: Int { lookUps.count - queued }
    var cached: Int { cache.count }

    /// Returns a cached answer, or adds a waiter to the look-up of a name.
    mutating func request(_ name: LookUpName, _ waiter: Waiter, at now: MonotonicTime) -> (Reply, Work) {
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
    /// - Returns: False if there is none, since it has been answered or removed.
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
        closeUp()
        return (true, .none)
    }

    /// Removes the cached answer of a name.
    mutating func forget(_ name: LookUpName) {
        cache.remove(name.key)
    }

    /// Takes note of a started or woken thread.
    mutating func threadArrived() -> Step {
        arriving -= 1
        return nextStep()
    }

    /// Takes note of a thread that could not be started.
    ///
    /// - Returns: The waiters to fail, if no thread is left that would ever look up their names.
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
    /// - Returns: The answer and those who waited for it, in the order of their requests. When they have been called, the thread asks
    ///   for its next step.
    mutating func finish(_ id: UInt64, _ result: Answer, at now: MonotonicTime) -> (Answer, [Waiter]) {
        guard let lookUp = lookUps.removeValue(forKey: id) else { return (result, []) }
        idsByKey[lookUp.name.key] = nil
        if lookUp.waiters.isEmpty { abandoned -= 1 }
        let answer = lookUp.name.answer(from: result)
        cache.store(answer, for: lookUp.name.key, at: now)
        return (answer, lookUp.waiters.sorted { $0.key < $1.key }.map(\.value))
    }

    /// Returns the next step of a thread that is neither idle nor looks anything up.
    mutating func nextStep() -> Step {
        if occupied <= capacity, let id = popQueued() {
            lookUps[id]?.isRunning = true
            return .lookUp(id: id, name: lookUps[id]?.name.text ?? "")
        }
        // Threads that stood in for abandoned look-ups are not kept.
        if threads > bound {
            threads -= 1
            return .end
        }
        idle += 1
        return .idle
    }

    /// Ends an idle thread.
    ///
    /// - Returns: False if the thread has just been woken; it then finds that it was.
    mutating func idleTimePassed() -> Bool {
        guard idle > 0 else { return false }
        idle -= 1
        threads -= 1
        return true
    }

    /// Occupies a thread for a queued look-up, if one is waiting that no arriving thread will take, and the bound allows it.
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
                closeUp()
                return id
            }
        }
        closeUp()
        return nil
    }

    /// Removes from the queue what is gone, once it is more than what waits, so that the cost is constant on average.
    private mutating func closeUp() {
        guard queue.count - queued > max(64, queued) || queued == 0 else { return }
        queue = queue[first...].filter { lookUps[$0].map { !$0.isRunning } ?? false }
        first = 0
    }
}
#endif

#if os(Linux)
import Sluice
import SluiceHTTP

/// The reply to a call for permits.
struct BucketReply: Sendable, Equatable {
    let granted: Int
    /// The time until the next permit, if not all were granted.
    var wait = Duration.zero
    /// The time for which the upstream server accepts no requests.
    var pause = Duration.zero
    /// The time at which the bucket was full last, in microseconds of the server. The permits can be returned until it changes.
    var fullTime = 0
}

/// The permits of one key on one machine, taken from the bucket on the server in batches.
///
///     shared    permits of the batch are taken; the next batch is fetched when half of it is left
///               the server is unavailable                             → fallback, with an empty local bucket
///     fallback  the fallback decides; after each pause one call tries again
///               the server is available                               → shared
///
/// A permit that was not used is returned only if the bucket has not been full since it was granted. A full bucket has no room for it:
/// otherwise more requests than the burst could follow each other.
struct SharedBucket<Waiting: Sendable>: LimitState {
    struct Settings: Sendable {
        let rules: BatchRules
        var maximumWaiting = 1000
        var maximumWait: Duration?
        var maximumPause: Duration?
        var fallback = RedisLimitFallback.local(share: 0.1)
    }

    struct Call: Sendable, Equatable {
        let wanted: Int
        /// The permits that were not used.
        let returned: Int
        /// The ``BucketReply/fullTime`` with which these were granted.
        var fullTime = 0
    }

    typealias Reply = BucketReply
    typealias Released = [ReleasedWaiter<Waiting>]

    private struct Batch {
        var count: Int
        let end: Instant
        let fullTime: Int
    }

    private struct QueuedWaiter {
        let waiter: Waiting
        /// The latest time at which the waiter can be admitted.
        let latest: Instant?
    }

    /// The shortest time between two calls while waiters wait for the rate.
    static var shortestWait: Duration { .milliseconds(5) }
    /// The time between two calls while the server is unavailable.
    static var retryPause: Duration { .milliseconds(250) }

    private let settings: Settings
    private let localRate: TokenBucket.Rate
    private var batches: [Batch] = []
    /// The permits that were not used, granted since the bucket was full last.
    private var returned = 0
    /// The time at which the bucket was full last, as the server knew with the last reply.
    private var fullTime = 0
    /// The ``BucketReply/fullTime`` with which the permit that was taken last was granted; nil for one of the fallback.
    private(set) var lastGrant: Int?
    private var queue = WaitQueue<QueuedWaiter>()
    private var meter: DemandMeter
    private var isCalling = false
    /// The time of the next permit, if the server had none left.
    private var nextPermit: Instant?
    private var pausedUntil: Instant
    /// The local bucket, while the server is unavailable.
    private var local: TokenBucket?
    /// The time before which the server is not called again.
    private var restsUntil: Instant

    init(_ settings: Settings, now: Instant) {
        self.settings = settings
        var share = 1.0
        if case .local(let value) = settings.fallback { share = min(1, max(0.001, value)) }
        let burst = Int(Double(settings.rules.burst) * share)
        localRate = TokenBucket.Rate(1, every: settings.rules.interval / share, burst: burst)
        meter = DemandMeter(now: now)
        pausedUntil = now
        restsUntil = now
    }

    /// The number of waiters.
    var waiting: Int { queue.count }
    /// The number of permits that are held.
    var stock: Int { batches.reduce(0) { $0 + $1.count } }
    var isFallback: Bool { local != nil }

    /// Takes a permit if one is available and no request waits.
    mutating func take(now: Instant) -> Bool {
        guard queue.isEmpty, takeOne(now: now) else { return false }
        meter.count()
        return true
    }

    /// Takes a permit, or adds the waiter to the queue.
    mutating func arrive(_ waiter: Waiting, id: Int, now: Instant) -> LimitArrival {
        if take(now: now) { return .admitted }
        meter.count()
        if isFallback, settings.fallback == .refuse { return .refused(.unavailable) }
        if queue.count >= settings.maximumWaiting { return .full(waiting: queue.count) }
        let due = dueTimes(now: now).due(waitersAhead: queue.count)
        if let maximum = settings.maximumWait, due - now > maximum { return .refused(.tooLong(due - now)) }
        queue.append(QueuedWaiter(waiter: waiter, latest: settings.maximumWait.map { now + $0 }), id: id)
        return .waiting
    }

    mutating func leave(id: Int) -> Waiting? { queue.remove(id: id)?.waiter }

    /// Returns the permit of a request that was not sent.
    ///
    /// - Parameter grant: The ``lastGrant`` after it was taken.
    mutating func putBack(_ grant: Int?) {
        if grant == fullTime { returned += 1 }
    }

    /// Stops the permits until a time, because the upstream server asks for it.
    mutating func pause(until time: Instant, now: Instant) -> Released {
        pausedUntil = max(pausedUntil, time)
        return wake(now: now)
    }

    mutating func nextCall(now: Instant) -> Call? {
        guard !isCalling, pausedUntil <= now, restsUntil <= now else { return nil }
        removeExpired(now: now)
        meter.measure(now: now)
        let ahead = settings.rules.ahead(meter.rate)
        if isFallback {
            // The call tries the server, and asks for one permit.
        } else {
            guard (nextPermit ?? now) <= now, !queue.isEmpty || stock * 2 < ahead else { return nil }
        }
        isCalling = true
        nextPermit = nil
        let wanted = max(1, queue.count + max(0, ahead - stock))
        let call = Call(wanted: wanted, returned: returned, fullTime: fullTime)
        returned = 0
        return call
    }

    mutating func finished(_ call: Call, _ reply: BucketReply?, sentAt: Instant, now: Instant) -> Released {
        isCalling = false
        guard let reply else {
            restsUntil = now + Self.retryPause
            // Empty, because the permits of this moment may have been handed out by the server.
            if local == nil { local = TokenBucket(emptyAt: now, localRate) }
            return wake(now: now)
        }
        local = nil
        if reply.fullTime != fullTime { (returned, fullTime) = (0, reply.fullTime) }
        if let maximum = settings.maximumPause, reply.pause > .zero {
            pausedUntil = max(pausedUntil, now + min(reply.pause, maximum))
        }
        if reply.granted < call.wanted { nextPermit = now + max(reply.wait, Self.shortestWait) }
        var granted = reply.granted
        var released: Released = []
        while granted > 0, pausedUntil <= now, let waiter = queue.popFirst() {
            granted -= 1
            released.append(ReleasedWaiter(waiter: waiter.waiter, grant: fullTime))
        }
        // The server has handed them out when the call was sent, or later.
        let end = sentAt + settings.rules.hold
        if end > now, granted > 0 {
            batches.append(Batch(count: granted, end: end, fullTime: fullTime))
        } else {
            returned += granted
        }
        return released + wake(now: now)
    }

    mutating func wake(now: Instant) -> Released {
        var released: Released = []
        while !queue.isEmpty {
            if isFallback, settings.fallback == .refuse {
                guard let waiter = queue.popFirst() else { break }
                released.append(ReleasedWaiter(waiter: waiter.waiter, refusal: .unavailable))
            } else {
                guard takeOne(now: now), let waiter = queue.popFirst() else { break }
                released.append(ReleasedWaiter(waiter: waiter.waiter, grant: lastGrant))
            }
        }
        if settings.maximumWait == nil { return released }
        var waits: [Duration] = []
        let times = dueTimes(now: now)
        let late = queue.removeAll { position, waiter in
            guard let latest = waiter.latest else { return false }
            let due = times.due(waitersAhead: position)
            if due > latest { waits.append(due - now) }
            return due > latest
        }
        return released + zip(late, waits).map { ReleasedWaiter(waiter: $0.waiter, refusal: .tooLong($1)) }
    }

    func nextWake(now: Instant) -> Instant? {
        // Checked first, as it takes less time than to look for the first waiter.
        guard !queue.isEmpty, let first = queue.first else { return nil }
        var times: [Instant] = []
        if let latest = first.latest { times.append(latest + .milliseconds(1)) }
        if pausedUntil > now {
            times.append(pausedUntil)
        } else {
            if let local { times.append(local.due(waitersAhead: 0, localRate, now: now)) }
            if !isCalling { times.append(max(restsUntil, nextPermit ?? now)) }
        }
        return times.min()
    }

    func isIdle(now: Instant) -> Bool {
        queue.isEmpty && !isCalling && restsUntil <= now && pausedUntil <= now && batches.allSatisfy { $0.end <= now }
    }

    /// The earliest times at which waiters can have their permits.
    private struct DueTimes {
        let now: Instant
        /// The end of a pause, or the current time.
        let open: Instant
        let local: TokenBucket?
        let localRate: TokenBucket.Rate
        let nextPermit: Instant?
        let interval: Duration

        /// Returns the time for a waiter, given the number of waiters in front of it.
        func due(waitersAhead: Int) -> Instant {
            if let local { return max(open, local.due(waitersAhead: waitersAhead, localRate, now: now)) }
            // Without a time of the next permit, the server may have any number.
            guard let nextPermit else { return open }
            return max(open, nextPermit + interval * waitersAhead)
        }
    }

    private func dueTimes(now: Instant) -> DueTimes {
        DueTimes(
            now: now,
            open: max(now, pausedUntil),
            local: local,
            localRate: localRate,
            nextPermit: nextPermit,
            interval: settings.rules.interval
        )
    }

    private mutating func takeOne(now: Instant) -> Bool {
        guard pausedUntil <= now else { return false }
        removeExpired(now: now)
        if let first = batches.first {
            lastGrant = first.fullTime
            batches[0].count -= 1
            if batches[0].count == 0 { batches.removeFirst() }
            return true
        }
        guard local != nil else { return false }
        lastGrant = nil
        return switch settings.fallback {
        case .allow: true
        case .refuse: false
        case .local: takeLocal(now: now)
        }
    }

    private mutating func takeLocal(now: Instant) -> Bool {
        let rate = localRate
        return local?.take(rate, now: now) ?? false
    }

    /// Moves the permits that were held for too long to those that are returned with the next call.
    private mutating func removeExpired(now: Instant) {
        while let first = batches.first, first.end <= now {
            if first.fullTime == fullTime { returned += first.count }
            batches.removeFirst()
        }
    }
}

// MARK: - Bucket scripts

/// The scripts of a rate limit that machines share.
enum BucketScripts {
    /// Takes permits.
    ///
    /// The keys are the bucket and the time since which the server has the data of the limit. The arguments are the number of permits that
    /// are wanted, the number that was not used, the permits per period, the period in ticks, the capacity, the tick in microseconds, the
    /// longest pause in microseconds, and the time at which the bucket had been full last when those that were not used were granted. The
    /// reply is the number of permits, the time until the next one, the rest of a pause, and the time at which the bucket was full last, in
    /// microseconds.
    ///
    /// The bucket has the permits (n), the fraction of the next one in units of a period (f), the time of both (t), the end of a pause (p)
    /// and the time at which it was full last (l). It expires when it is full. So a bucket that is missing is full, unless the server has
    /// lost its data: it has been empty at the time since which the server has data. A time in the future, as of a clock that went back,
    /// counts as the present.
    static let take = RedisScript(
        """
        local time = redis.call('TIME')
        local now = time[1] * 1000000 + time[2]
        local wanted, unused, count, period = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3]), tonumber(ARGV[4])
        local capacity, tick, longest = tonumber(ARGV[5]), tonumber(ARGV[6]), tonumber(ARGV[7])
        local stored = redis.call('HMGET', KEYS[1], 'n', 'f', 't', 'p', 'l')
        local since = redis.call('GET', KEYS[2])
        if not since then
            since = string.format('%.0f', now)
            redis.call('SET', KEYS[2], since)
            stored = {}
        end
        local permits, fraction, at = tonumber(stored[1]), tonumber(stored[2]), tonumber(stored[3])
        if not stored[3] then permits, fraction, at = 0, 0, tonumber(since) end
        local pause, last = tonumber(stored[4] or '0'), tonumber(stored[5] or '')
        if not (permits and fraction and at and pause and permits >= 0 and fraction >= 0 and at >= 0) then
            return redis.error_reply('ERR the state of the limit is not valid')
        end
        if fraction >= period then fraction = 0 end
        if at > now then at = now end
        local elapsed = math.floor((now - at) / tick)
        if elapsed * count >= (capacity + 1) * period then
            permits, fraction, at = capacity, 0, now
        else
            local gained = elapsed * count + fraction
            permits = permits + math.floor(gained / period)
            fraction = gained % period
            at = at + elapsed * tick
        end
        if not (last and last >= 0 and last <= now) then last = now end
        -- A bucket that has been full since has no room for them.
        if ARGV[8] == string.format('%.0f', last) then permits = permits + unused end
        if permits >= capacity then permits, fraction, last = capacity, 0, now end
        if not (pause > now and pause <= now + longest) then pause = 0 end
        local granted, paused = 0, math.max(0, pause - now)
        if paused == 0 then granted = math.min(permits, wanted) end
        permits = permits - granted
        local wait = math.ceil((period - fraction) / count) * tick
        redis.call('HSET', KEYS[1], 'n', string.format('%.0f', permits), 'f', string.format('%.0f', fraction),
            't', string.format('%.0f', at), 'p', string.format('%.0f', pause), 'l', string.format('%.0f', last))
        local full = (capacity - permits) * period / count * tick
        redis.call('PEXPIRE', KEYS[1], string.format('%.0f', math.ceil((math.max(full, wait) + paused) / 1000) + 1000))
        return {granted, wait, paused, last}
        """
    )

    /// Stops the permits for a time. The key is the bucket, and the argument the time in microseconds.
    static let pause = RedisScript(
        """
        local time = redis.call('TIME')
        local stop = time[1] * 1000000 + time[2] + ARGV[1]
        if stop > (tonumber(redis.call('HGET', KEYS[1], 'p') or '0') or 0) then
            redis.call('HSET', KEYS[1], 'p', string.format('%.0f', stop))
            local left = math.ceil(ARGV[1] / 1000) + 1000
            if redis.call('PTTL', KEYS[1]) < left then redis.call('PEXPIRE', KEYS[1], string.format('%.0f', left)) end
        end
        return 1
        """,
        isIdempotent: true
    )
}

extension BucketReply {
    /// Creates a reply from that of the script.
    ///
    /// - Parameters:
    ///   - value: The value.
    ///   - wanted: The number of permits that were wanted.
    /// - Throws: A ``RedisError`` with code ``RedisError/Code/invalidReply`` for a value that the script does not return.
    init(_ value: RedisValue, wanted: Int) throws(RedisError) {
        let numbers = value.elements?.compactMap(\.int) ?? []
        guard numbers.count == 4, numbers.allSatisfy({ $0 >= 0 }), numbers[0] <= wanted else {
            throw RedisError(.invalidReply, "The Redis server sent something other than permits.")
        }
        self.init(
            granted: numbers[0],
            wait: .microseconds(numbers[1]),
            pause: .microseconds(numbers[2]),
            fullTime: numbers[3]
        )
    }
}
#endif

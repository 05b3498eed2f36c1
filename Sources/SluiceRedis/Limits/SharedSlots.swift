#if os(Linux)
import Sluice
import SluiceHTTP

/// The reply to a call for slots.
struct SlotsReply: Sendable, Equatable {
    /// The number of slots that the machine holds from now on. At least as many as it uses.
    let held: Int
    /// The number that the machine may hold while others wait for slots.
    let fairShare: Int
    /// The time for which the server gives no slots, because it has lost its data and machines may use slots that it does not know.
    var settling = Duration.zero
}

/// The slots of one key on one machine, which holds a number of those on the server under a lease.
///
///     shared    requests take slots that the machine holds; a call asks for more, renews the lease, or gives back what is idle
///               the server is unavailable, or has lost its data       → fallback
///     fallback  requests take slots that are held until the lease is over, or those of the fallback
///               the server is available, and has its data for a lease → shared
///
/// A call tells the server how many slots are wanted and how many the machine may use until the reply. So it may be repeated, and it
/// restores what the server has lost. The server gives no slot to another machine that this one may still use.
struct SharedSlots<Waiting: Sendable>: LimitState {
    struct Settings: Sendable {
        let limit: Int
        var maximumWaiting = 10_000
        var lease = Duration.seconds(10)
        var fallback = RedisLimitFallback.local(share: 0.1)
    }

    struct Call: Sendable, Equatable {
        let wanted: Int
        /// The number of slots that the machine may use until the reply.
        let usable: Int
        /// The number of slots in use.
        let running: Int
    }

    typealias Reply = SlotsReply
    typealias Released = [ReleasedWaiter<Waiting>]

    /// The time between two calls while waiters wait for slots of other machines.
    static var shortestWait: Duration { .milliseconds(20) }
    /// The time between two calls while the server is unavailable.
    static var retryPause: Duration { .milliseconds(250) }
    /// The time after which slots that were not needed are given back.
    static var idleTime: Duration { .milliseconds(100) }

    private let settings: Settings
    private var queue = WaitQueue<Waiting>()
    /// The number of slots in use, those of the fallback included.
    private(set) var running = 0
    private(set) var held = 0
    /// The number of slots that the server gave with the last reply. It keeps them for this machine until a call or the end of the lease.
    private var given = 0
    private var fairShare: Int
    /// The end of the lease. It is reckoned from the start of the call, so that the server's lease ends later.
    private var heldUntil: Instant
    private var renewsAt: Instant
    /// The number of slots taken since the last look at idle ones, and the highest number in use.
    private var peak = 0
    private var looksAt: Instant
    private var isCalling = false
    private var nextTry: Instant
    private var hasFailed = false
    private var settlesUntil: Instant
    /// True if a request was turned away without a place in the queue since the last call. The next call asks for a slot for it, as it may
    /// be the only one that tries a server that was unavailable.
    private var isAsked = false

    init(_ settings: Settings, now: Instant) {
        self.settings = settings
        fairShare = settings.limit
        (heldUntil, renewsAt, looksAt, nextTry, settlesUntil) = (now, now, now, now, now)
    }

    /// The number of waiters.
    var waiting: Int { queue.count }

    func isFallback(now: Instant) -> Bool { hasFailed || now < settlesUntil }

    /// Takes a slot if one is free and no request waits.
    mutating func take(now: Instant) -> Bool {
        queue.isEmpty && takeOne(now: now)
    }

    /// Takes a slot, or adds the waiter to the queue.
    mutating func arrive(_ waiter: Waiting, id: Int, now: Instant) -> LimitArrival {
        if take(now: now) { return .admitted }
        if isFallback(now: now), settings.fallback == .refuse {
            isAsked = true
            return .refused(.unavailable)
        }
        if queue.count >= settings.maximumWaiting {
            isAsked = true
            return .full(waiting: queue.count)
        }
        queue.append(waiter, id: id)
        return .waiting
    }

    mutating func leave(id: Int) -> Waiting? { queue.remove(id: id) }

    mutating func release(now: Instant) -> Released {
        running = max(0, running - 1)
        // A slot beyond the fair share goes to another machine with the next call.
        if held > max(running, fairShare) {
            held -= 1
            renewsAt = min(renewsAt, now + Self.shortestWait)
        }
        return wake(now: now)
    }

    mutating func nextCall(now: Instant) -> Call? {
        guard !isCalling, nextTry <= now else { return nil }
        let needed = running + max(queue.count, isAsked ? 1 : 0)
        // Also without a call: there is a slot for the next request then.
        isAsked = false
        var wanted = needed
        if needed > held {
            // Some more than are needed now, for those that arrive meanwhile.
            wanted += min(settings.limit / 10, needed / 4)
        } else if looksAt <= now, held > max(peak, needed) {
            wanted = max(peak, needed)
        } else if hasSlots(now: now), renewsAt <= now {
            wanted = max(held, needed)
        } else {
            if looksAt <= now { look(now: now) }
            return nil
        }
        if looksAt <= now { look(now: now) }
        isCalling = true
        // Before the call, because the server may give the other slots to other machines at once.
        held = min(held, wanted, max(running, fairShare))
        return Call(wanted: wanted, usable: max(running, now < heldUntil ? held : 0), running: running)
    }

    mutating func finished(_ call: Call, _ reply: SlotsReply?, sentAt: Instant, now: Instant) -> Released {
        isCalling = false
        guard let reply else {
            hasFailed = true
            nextTry = now + Self.retryPause
            return wake(now: now)
        }
        hasFailed = false
        held = reply.held
        given = reply.held
        fairShare = reply.fairShare
        heldUntil = sentAt + settings.lease
        renewsAt = held > max(running, fairShare) ? now + Self.shortestWait : sentAt + settings.lease / 3
        settlesUntil = now + reply.settling
        let released = wake(now: now)
        if reply.settling > .zero {
            nextTry = now + min(reply.settling, Self.retryPause)
        } else if reply.held < call.wanted {
            nextTry = now + Self.shortestWait
        }
        return released
    }

    mutating func wake(now: Instant) -> Released {
        var released: Released = []
        while !queue.isEmpty, takeOne(now: now), let waiter = queue.popFirst() {
            released.append(ReleasedWaiter(waiter: waiter))
        }
        guard isFallback(now: now), settings.fallback == .refuse else { return released }
        while let waiter = queue.popFirst() { released.append(ReleasedWaiter(waiter: waiter, refusal: .unavailable)) }
        return released
    }

    func nextWake(now: Instant) -> Instant? {
        guard !isCalling else { return nil }
        if !queue.isEmpty || isAsked { return max(now, nextTry) }
        if held > running { return max(nextTry, min(looksAt, renewsAt)) }
        return hasSlots(now: now) ? max(nextTry, renewsAt) : nil
    }

    /// True if the server keeps slots for this machine, or has to.
    private func hasSlots(now: Instant) -> Bool { held > 0 || running > 0 || given > 0 && now < heldUntil }

    func isIdle(now: Instant) -> Bool {
        queue.isEmpty && !isCalling && !isAsked && !hasSlots(now: now)
    }

    private mutating func takeOne(now: Instant) -> Bool {
        var allowed = now < heldUntil ? held : 0
        if isFallback(now: now) {
            switch settings.fallback {
            case .allow: allowed = .max
            case .refuse: break
            case .local(let share):
                let local = Double(settings.limit) * min(1, max(0, share))
                allowed = max(allowed, 1, Int(local))
            }
        }
        guard running < allowed else { return false }
        running += 1
        peak = max(peak, running)
        return true
    }

    /// Begins a new span, in which the highest number of slots in use is counted.
    private mutating func look(now: Instant) {
        peak = running
        looksAt = now + Self.idleTime
    }
}

// MARK: - Slot scripts

/// The script of a concurrency limit that machines share.
enum SlotScripts {
    /// Sets the number of slots of a machine.
    ///
    /// The keys are the slots and the time since which the server has the data of the limit. The arguments are the machine, the number of
    /// slots that are wanted, the number that the machine may use until the reply, the limit, the lease in milliseconds, the number of
    /// slots in use, and the number of the call. The reply is the number of slots that the machine holds, its fair share, and the time in
    /// milliseconds for which no slots are given.
    ///
    /// The hash has for each machine its number of slots, the end of its lease, the number wanted, and the number of the call that has set
    /// them. A call whose time was over may run after later ones, and then changes nothing. So a machine without slots stays for a lease,
    /// or for a second if it waits for slots.
    /// If the server has lost its data, machines may use slots that it does not know. They tell it before their leases would have ended,
    /// and only then it gives slots. If all leases have ended, the machines may not have reached the server. Slots whose lease ended at most
    /// six leases ago then stay for another lease, in which no slots are given. Their entries have 0 as the number wanted and as the number
    /// of the call. A time in the future, as of a clock that went back, counts as the present.
    static let set = RedisScript(
        """
        local time = redis.call('TIME')
        local now = time[1] * 1000 + math.floor(time[2] / 1000)
        local id, wanted, usable, limit, lease = ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3]), tonumber(ARGV[4]), tonumber(ARGV[5])
        local running, number, last = tonumber(ARGV[6]), tonumber(ARGV[7]), 0
        local since = tonumber(redis.call('GET', KEYS[2]) or '')
        if not since or since > now then
            since = now
            redis.call('SET', KEYS[2], string.format('%.0f', now))
        end
        local stored = redis.call('HGETALL', KEYS[1])
        local own, others, machines, isStarved, wishes, recent = 0, 0, 1, false, {}, {}
        local expired, isKnown, restored = {}, false, 0
        for index = 1, #stored, 2 do
            -- Earlier versions write no number of the call.
            local held, ends, wish, call = string.match(stored[index + 1], '^(%d+) (%d+) (%d+) ?(%d*)$')
            if not held then return redis.error_reply('ERR the state of the limit is not valid') end
            held, ends, wish, call = tonumber(held), tonumber(ends), tonumber(wish), tonumber(call) or 0
            if stored[index] == id then last = call end
            isKnown = isKnown or ends > now
            if held > 0 and wish == 0 and call == 0 then restored = math.max(restored, math.min(lease, ends - now)) end
            if ends <= now then
                expired[#expired + 1] = { stored[index], held, ends, wish }
            elseif stored[index] == id then
                own = held
            else
                others, machines = others + held, machines + 1
                wishes[#wishes + 1] = wish
                -- A machine that waits for slots calls many times a second.
                if held == 0 or now - (ends - lease) <= 1000 then recent[#recent + 1] = { held, wish } end
                if ends > now + lease then
                    local entry = string.format('%.0f %.0f %.0f %.0f', held, now + lease, wish, call)
                    redis.call('HSET', KEYS[1], stored[index], entry)
                end
            end
        end
        for _, entry in ipairs(expired) do
            local machine, held, ends, wish = unpack(entry)
            if held > 0 and wish > 0 and not isKnown and now - ends <= 6 * lease then
                redis.call('HSET', KEYS[1], machine, string.format('%.0f %.0f 0 0', held, now + lease))
                restored = lease
                if machine == id then own = held else
                    others, machines = others + held, machines + 1
                    wishes[#wishes + 1] = 0
                end
            else
                redis.call('HDEL', KEYS[1], machine)
            end
        end
        if number < last then return {own, limit, 0} end
        -- Machines that want less than an equal part leave the rest to the others in equal parts.
        local left, sharing = limit, machines
        table.sort(wishes)
        for _, wish in ipairs(wishes) do
            if wish * sharing >= left then break end
            left, sharing = left - wish, sharing - 1
        end
        local share, least = math.ceil(left / sharing), math.floor(left / sharing)
        for _, other in ipairs(recent) do
            if other[1] < math.min(other[2], math.max(1, least)) then isStarved = true end
        end
        -- While another machine has too few, one that has enough takes no more, and gives up one if none is free.
        if isStarved and own >= math.max(1, least) then
            local rest = own
            if limit - others - own <= 0 then rest = own - 1 end
            share = math.min(share, math.max(least, rest))
        end
        local held = math.max(0, math.min(wanted, limit - others, share))
        local settling = math.max(0, since + lease - now, restored)
        if settling > 0 then held = math.min(held, own) end
        -- The slots that are not in use belong to others once the lease is over, unless the server has lost its data and gives none.
        local kept = own
        if settling > 0 then kept = usable end
        held = math.max(held, running, math.min(usable, kept))
        -- A machine that only waits calls often.
        local ends = now + lease
        if held == 0 and wanted > 0 then ends = now + math.min(lease, 1000) end
        redis.call('HSET', KEYS[1], id, string.format('%.0f %.0f %.0f %.0f', held, ends, wanted, number))
        redis.call('PEXPIRE', KEYS[1], (held + others > 0 and 8 or 2) * lease)
        return {held, share, settling}
        """,
        isIdempotent: true
    )
}

extension SlotsReply {
    /// Creates a reply from that of the script.
    ///
    /// - Parameters:
    ///   - value: The value.
    ///   - wanted: The number of slots that were wanted.
    ///   - running: The number of slots in use.
    ///   - lease: The lease.
    /// - Throws: A ``RedisError`` with code ``RedisError/Code/invalidReply`` for a value that the script does not return.
    init(_ value: RedisValue, wanted: Int, running: Int, lease: Duration) throws(RedisError) {
        let numbers = value.elements?.compactMap(\.int) ?? []
        guard numbers.count == 3, numbers.allSatisfy({ $0 >= 0 }), (running...max(wanted, running)).contains(numbers[0])
        else {
            throw RedisError(.invalidReply, "The Redis server sent something other than slots.")
        }
        self.init(held: numbers[0], fairShare: numbers[1], settling: min(.milliseconds(numbers[2]), lease))
    }
}
#endif

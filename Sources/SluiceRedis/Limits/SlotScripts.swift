#if os(Linux)
import SluiceHTTP

/// The script of a concurrency limit that machines share.
enum SlotScripts {
    /// Sets the number of slots of a machine.
    ///
    /// The keys are the slots and the time since which the server has the data of the limit. The arguments are the machine, the number of
    /// slots that are wanted, the number that the machine may use until the reply, the limit, the lease in milliseconds, and the number
    /// of slots in use. The reply is the number of slots that the machine holds, its fair share, and the time in milliseconds for which no
    /// slots are given.
    ///
    /// The hash has for each machine its number of slots, the end of its lease, and the number wanted. If the server has lost its data,
    /// machines may use slots that it does not know. They tell it before their leases would have ended, and only then it gives slots. A
    /// time in the future, as of a clock that went back, counts as the present.
    static let set = RedisScript(
        """
        local time = redis.call('TIME')
        local now = time[1] * 1000 + math.floor(time[2] / 1000)
        local id, wanted, usable, limit, lease = ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3]), tonumber(ARGV[4]), tonumber(ARGV[5])
        local running = tonumber(ARGV[6])
        local since = tonumber(redis.call('GET', KEYS[2]) or '')
        if not since or since > now then
            since = now
            redis.call('SET', KEYS[2], string.format('%.0f', now))
        end
        local stored = redis.call('HGETALL', KEYS[1])
        local own, others, machines, isStarved, wishes, recent = 0, 0, 1, false, {}, {}
        for index = 1, #stored, 2 do
            local held, ends, wish = string.match(stored[index + 1], '^(%d+) (%d+) (%d+)$')
            if not held then return redis.error_reply('ERR the state of the limit is not valid') end
            held, ends, wish = tonumber(held), tonumber(ends), tonumber(wish)
            if ends <= now then
                redis.call('HDEL', KEYS[1], stored[index])
            elseif stored[index] == id then
                own = held
            else
                others, machines = others + held, machines + 1
                wishes[#wishes + 1] = wish
                -- A machine that waits for slots calls many times a second.
                if held == 0 or now - (ends - lease) <= 1000 then recent[#recent + 1] = { held, wish } end
                if ends > now + lease then
                    redis.call('HSET', KEYS[1], stored[index], string.format('%.0f %.0f %.0f', held, now + lease, wish))
                end
            end
        end
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
        local settling = math.max(0, since + lease - now)
        if settling > 0 then held = math.min(held, own) end
        -- The slots that are not in use belong to others once the lease is over, unless the server has lost its data and gives none.
        local kept = own
        if settling > 0 then kept = usable end
        held = math.max(held, running, math.min(usable, kept))
        if held > 0 or wanted > 0 then
            -- A machine that only waits calls often.
            local ends = now + lease
            if held == 0 then ends = now + math.min(lease, 1000) end
            redis.call('HSET', KEYS[1], id, string.format('%.0f %.0f %.0f', held, ends, wanted))
            redis.call('PEXPIRE', KEYS[1], 2 * lease)
        else
            redis.call('HDEL', KEYS[1], id)
        end
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

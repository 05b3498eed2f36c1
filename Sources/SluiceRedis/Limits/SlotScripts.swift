#if os(Linux)
import SluiceHTTP

/// The script of a concurrency limit that machines share.
enum SlotScripts {
    /// Sets the number of slots of a machine.
    ///
    /// The keys are the slots and the time since which the server has the data of the limit. The arguments are the machine, the number of
    /// slots that are wanted, the number that the machine may use until the reply, the limit, and the lease in milliseconds. The reply is
    /// the number of slots that the machine holds, its fair share, and the time in milliseconds for which no slots are given.
    ///
    /// The hash has for each machine its number of slots, the end of its lease, and the number wanted. If the server has lost its data,
    /// machines may use slots that it does not know. They tell it before their leases would have ended, and only then it gives slots. A
    /// time in the future, as of a clock that went back, counts as the present.
    static let set = RedisScript(
        """
        local time = redis.call('TIME')
        local now = time[1] * 1000 + math.floor(time[2] / 1000)
        local id, wanted, usable, limit, lease = ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3]), tonumber(ARGV[4]), tonumber(ARGV[5])
        local since = tonumber(redis.call('GET', KEYS[2]) or '')
        if not since or since > now then
            since = now
            redis.call('SET', KEYS[2], string.format('%.0f', now))
        end
        local stored = redis.call('HGETALL', KEYS[1])
        local own, others, machines, isStarved, wishes = 0, 0, 1, false, {}
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
                if held == 0 then isStarved = true end
                if ends > now + lease then
                    redis.call('HSET', KEYS[1], stored[index], string.format('%.0f %.0f %.0f', held, now + lease, wish))
                end
            end
        end
        local part = math.ceil(limit / machines)
        local share = part
        for _, wish in ipairs(wishes) do share = share + math.max(0, part - wish) end
        if isStarved and limit - others - own <= 0 then share = math.min(share, math.max(0, own - 1)) end
        local held = math.max(0, math.min(wanted, limit - others, share))
        local settling = math.max(0, since + lease - now)
        if settling > 0 then held = math.min(held, own) end
        held = math.max(held, usable)
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
    ///   - usable: The number of slots that the machine may use until the reply.
    ///   - lease: The lease.
    /// - Throws: A ``RedisError`` with code ``RedisError/Code/invalidReply`` for a value that the script does not return.
    init(_ value: RedisValue, wanted: Int, usable: Int, lease: Duration) throws(RedisError) {
        let numbers = value.elements?.compactMap(\.int) ?? []
        guard numbers.count == 3, numbers.allSatisfy({ $0 >= 0 }), (usable...max(wanted, usable)).contains(numbers[0])
        else {
            throw RedisError(.invalidReply, "The Redis server sent something else than slots.")
        }
        self.init(held: numbers[0], fairShare: numbers[1], settling: min(.milliseconds(numbers[2]), lease))
    }
}
#endif

#if os(Linux)

/// The scripts of the cache. Each uses keys of one hash slot, as Redis Cluster requires.
enum CacheScripts {
    /// Returns a generation, and begins one if there is none. `KEYS`: the generation.
    static let generation = RedisScript(
        """
        local value = redis.call('GET', KEYS[1])
        if value then return value end
        local time = redis.call('TIME')
        value = string.format('%.0f', (time[1] * 1000000 + time[2]) * 2)
        redis.call('SET', KEYS[1], value)
        return value
        """,
        isIdempotent: true
    )

    /// Begins a generation with a removal. It is later than the one before, even if the clock was set back. `KEYS`: the generation.
    static let removal = RedisScript(
        """
        local time = redis.call('TIME')
        local value = (time[1] * 1000000 + time[2]) * 2 + 1
        local before = tonumber(redis.call('GET', KEYS[1]) or '0') or 0
        if before >= value then value = before + 2 - (before + 1) % 2 end
        value = string.format('%.0f', value)
        redis.call('SET', KEYS[1], value)
        return value
        """,
        isIdempotent: true
    )

    /// Stores a record, unless its key was removed after its request was sent, or the stored record is that of a later request. The
    /// time of a stored record that is in the future does not count, because the clock of the server was set back. `KEYS`: the entry.
    /// `ARGV`: the field, the record, the reference of its body or an empty text, the lifetime in milliseconds, the time of the request in
    /// microseconds, this process, the maximum error of the time in microseconds, the number of the change among those of this process. A
    /// call whose time was over may run after a later removal.
    ///
    /// Returns 1 and the reference of the replaced body, or 0 if nothing was stored.
    static let store = RedisScript(
        """
        local removed = redis.call('HGET', KEYS[1], 'r')
        if removed then
            local isOwn = redis.call('HGET', KEYS[1], 'o') == ARGV[6]
            if isOwn and tonumber(redis.call('HGET', KEYS[1], 'c') or '0') > tonumber(ARGV[8]) then return {0} end
            if not isOwn and tonumber(removed) >= tonumber(ARGV[5]) then return {0} end
        end
        local latest = tonumber(redis.call('HGET', KEYS[1], 'q' .. ARGV[1]) or '0')
        if latest > tonumber(ARGV[5]) + tonumber(ARGV[7]) then
            local time = redis.call('TIME')
            if latest <= time[1] * 1000000 + time[2] then return {0} end
        end
        local left = redis.call('PTTL', KEYS[1])
        local before = redis.call('HGET', KEYS[1], 'b' .. ARGV[1])
        -- The script has run before, and its reply was lost.
        if before == ARGV[3] then before = false end
        redis.call('HSET', KEYS[1], 'v' .. ARGV[1], ARGV[2], 'q' .. ARGV[1], ARGV[5])
        redis.call('HDEL', KEYS[1], 'x' .. ARGV[1])
        if ARGV[3] == '' then
            if before then redis.call('HDEL', KEYS[1], 'b' .. ARGV[1]) end
        else
            redis.call('HSET', KEYS[1], 'b' .. ARGV[1], ARGV[3])
        end
        if left < tonumber(ARGV[4]) then redis.call('PEXPIRE', KEYS[1], ARGV[4]) end
        return {1, before or ''}
        """,
        isIdempotent: true
    )

    /// Removes the record of a field, or all of them. `KEYS`: the entry. `ARGV`: the field or an empty text, the time in milliseconds for
    /// which other processes store no responses to requests from before, this process, the number of the change.
    ///
    /// Returns the references of the bodies.
    static let remove = RedisScript(
        """
        if ARGV[1] ~= '' then
            local body = redis.call('HGET', KEYS[1], 'b' .. ARGV[1])
            redis.call('HDEL', KEYS[1], 'v' .. ARGV[1], 'b' .. ARGV[1], 'x' .. ARGV[1], 'q' .. ARGV[1])
            return body and {body} or {}
        end
        local bodies = {}
        local fields = redis.call('HGETALL', KEYS[1])
        for i = 1, #fields, 2 do
            if string.sub(fields[i], 1, 1) == 'b' then bodies[#bodies + 1] = fields[i + 1] end
        end
        local time = redis.call('TIME')
        redis.call('DEL', KEYS[1])
        redis.call('HSET', KEYS[1], 'r', string.format('%.0f', time[1] * 1000000 + time[2]), 'o', ARGV[3],
            'c', ARGV[4])
        redis.call('PEXPIRE', KEYS[1], ARGV[2])
        return bodies
        """,
        isIdempotent: true
    )

    /// Removes the record of a field if it is still the given one. `KEYS`: the entry. `ARGV`: the field, the record.
    ///
    /// Returns the reference of the body.
    static let discard = RedisScript(
        """
        if redis.call('HGET', KEYS[1], 'v' .. ARGV[1]) ~= ARGV[2] then return {} end
        local body = redis.call('HGET', KEYS[1], 'b' .. ARGV[1])
        redis.call('HDEL', KEYS[1], 'v' .. ARGV[1], 'b' .. ARGV[1], 'x' .. ARGV[1], 'q' .. ARGV[1])
        return body and {body} or {}
        """,
        isIdempotent: true
    )

    /// Extends the lifetime of a stored record. `KEYS`: the entry. `ARGV`: the field, the extension, the lifetime in milliseconds.
    static let extend = RedisScript(
        """
        if redis.call('HEXISTS', KEYS[1], 'v' .. ARGV[1]) == 0 then return 0 end
        redis.call('HSET', KEYS[1], 'x' .. ARGV[1], ARGV[2])
        if redis.call('PTTL', KEYS[1]) < tonumber(ARGV[3]) then redis.call('PEXPIRE', KEYS[1], ARGV[3]) end
        return 1
        """,
        isIdempotent: true
    )

    /// Appends messages to the stream of changes, with numbers that have no gaps. `KEYS`: the stream, the counter. `ARGV`: the maximum length
    /// of the stream, the sender, the messages.
    static let publish = RedisScript(
        """
        for i = 3, #ARGV do
            local number = redis.call('INCR', KEYS[2])
            redis.call('XADD', KEYS[1], 'MAXLEN', '~', ARGV[1], '*', 's', ARGV[2], 'n', number, 'm', ARGV[i])
        end
        return 1
        """,
        isIdempotent: true
    )

    /// Takes a lease that is free. It runs once: see ``release``. `KEYS`: the lease, its release by the owner. `ARGV`: the owner, the
    /// lifetime in milliseconds.
    ///
    /// Returns 1, or 0 if another owner has the lease, or if the owner has abandoned it.
    static let lease = RedisScript(
        """
        if redis.call('EXISTS', KEYS[2]) == 1 then return 0 end
        return redis.call('SET', KEYS[1], ARGV[1], 'NX', 'PX', ARGV[2]) and 1 or 0
        """
    )

    /// Releases a lease of its owner. `KEYS` and `ARGV` are those of ``lease``. The second key is for an owner that does not know if it has
    /// the lease, and is missing otherwise: the owner gets no lease if ``lease`` runs later, as after its time was over.
    static let release = RedisScript(
        """
        if KEYS[2] then redis.call('SET', KEYS[2], '', 'PX', ARGV[2]) end
        if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end
        return 0
        """,
        isIdempotent: true
    )

    /// Extends a lease of its owner. `KEYS`: the lease. `ARGV`: the owner, the lifetime in milliseconds.
    static let renew = RedisScript(
        """
        if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('PEXPIRE', KEYS[1], ARGV[2]) end
        return 0
        """,
        isIdempotent: true
    )
}
#endif

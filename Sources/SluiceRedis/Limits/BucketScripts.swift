#if os(Linux)
import SluiceHTTP

/// The scripts of a rate limit that machines share.
enum BucketScripts {
    /// Takes permits.
    ///
    /// The keys are the bucket and the time since which the server has the data of the limit. The arguments are the number of permits that
    /// are wanted, the number that was not used, the permits per period, the period in ticks, the capacity, the tick in microseconds, and
    /// the longest pause in microseconds. The reply is the number of permits, the time until the next one, and the rest of a pause, in
    /// microseconds.
    ///
    /// The bucket has the permits (n), the fraction of the next one in units of a period (f), the time of both (t) and the end of a pause
    /// (p). It expires when it is full. So a bucket that is missing is full, unless the server has lost its data: it has been empty at the
    /// time since which the server has data. A time in the future, as of a clock that went back, counts as the present.
    static let take = RedisScript(
        """
        local time = redis.call('TIME')
        local now = time[1] * 1000000 + time[2]
        local wanted, unused, count, period = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3]), tonumber(ARGV[4])
        local capacity, tick, longest = tonumber(ARGV[5]), tonumber(ARGV[6]), tonumber(ARGV[7])
        local stored = redis.call('HMGET', KEYS[1], 'n', 'f', 't', 'p')
        local since = redis.call('GET', KEYS[2])
        if not since then
            since = string.format('%.0f', now)
            redis.call('SET', KEYS[2], since)
            stored = {}
        end
        local permits, fraction, at = tonumber(stored[1]), tonumber(stored[2]), tonumber(stored[3])
        if not stored[3] then permits, fraction, at = 0, 0, tonumber(since) end
        local pause = tonumber(stored[4] or '0')
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
        permits = permits + unused
        if permits >= capacity then permits, fraction = capacity, 0 end
        if not (pause > now and pause <= now + longest) then pause = 0 end
        local granted, paused = 0, math.max(0, pause - now)
        if paused == 0 then granted = math.min(permits, wanted) end
        permits = permits - granted
        local wait = math.ceil((period - fraction) / count) * tick
        redis.call('HSET', KEYS[1], 'n', string.format('%.0f', permits), 'f', string.format('%.0f', fraction),
            't', string.format('%.0f', at), 'p', string.format('%.0f', pause))
        local full = (capacity - permits) * period / count * tick
        redis.call('PEXPIRE', KEYS[1], string.format('%.0f', math.ceil((math.max(full, wait) + paused) / 1000) + 1000))
        return {granted, wait, paused}
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
        guard numbers.count == 3, numbers.allSatisfy({ $0 >= 0 }), numbers[0] <= wanted else {
            throw RedisError(.invalidReply, "The Redis server sent something other than permits.")
        }
        self.init(granted: numbers[0], wait: .microseconds(numbers[1]), pause: .microseconds(numbers[2]))
    }
}
#endif

#if os(Linux)
/// The scripts of the lock of a token. Each may run twice.
enum TokenScripts {
    /// Takes the lock.
    ///
    /// The keys are the lock, the fence and the token. The arguments are the owner, the lease in milliseconds, and the highest number that
    /// the owner has seen. The number is higher than that and than the last one. It is at least the server's time, so that numbers grow
    /// also after the server has lost its data. The reply is the number and the token, or an empty array if the lock is taken.
    static let take = RedisScript(
        """
        local holder = redis.call('GET', KEYS[1])
        if holder and holder ~= ARGV[1] then return {} end
        local fence, token = redis.call('GET', KEYS[2]), redis.call('GET', KEYS[3])
        if not holder or not fence then
            local time = redis.call('TIME')
            local last = math.max(tonumber(fence or '0') or 0, tonumber(ARGV[3]))
            fence = string.format('%.0f', math.max(last + 1, time[1] * 1000000 + time[2]))
            redis.call('SET', KEYS[2], fence, 'PX', 86400000)
        end
        redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
        return {fence, token}
        """,
        isIdempotent: true
    )

    /// Marks a refresh token that is about to be sent, and begins the lease again.
    ///
    /// The keys are the lock and the mark. The arguments are the owner, the lease in milliseconds, the name of the machine, the number of
    /// the lock, the hash of the refresh token, and 1 if a token may be sent again that another machine has sent.
    static let mark = RedisScript(
        """
        if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 'locked' end
        redis.call('PEXPIRE', KEYS[1], ARGV[2])
        local mark = redis.call('GET', KEYS[2])
        if ARGV[6] == '0' and mark and string.sub(mark, -#ARGV[5]) == ARGV[5]
            and string.sub(mark, 1, #ARGV[3]) ~= ARGV[3] then return 'interrupted' end
        redis.call('SET', KEYS[2], ARGV[3] .. ' ' .. ARGV[4] .. ' ' .. ARGV[5])
        return 'marked'
        """,
        isIdempotent: true
    )

    /// Replaces or deletes the token. A new token removes the mark of the refresh token that was sent for it.
    ///
    /// The keys are the fence, the token and the mark. The arguments are the number of the lock, the value that was read with it, and the
    /// new value. A fence or a token that the server has lost does not count.
    static let change = RedisScript(
        """
        local fence = redis.call('GET', KEYS[1])
        if fence and fence ~= ARGV[1] then return 'locked' end
        local stored = redis.call('GET', KEYS[2])
        if stored and stored ~= ARGV[2] and stored ~= ARGV[3] then return 'replaced' end
        if ARGV[3] == '' then
            redis.call('SET', KEYS[2], '', 'PX', 86400000)
        else
            redis.call('SET', KEYS[2], ARGV[3])
            redis.call('DEL', KEYS[3])
        end
        return 'changed'
        """,
        isIdempotent: true
    )

    /// Releases the lock if it still has its owner, and removes the mark of a machine that goes on.
    ///
    /// The keys are the lock and the mark. The arguments are the owner, and the beginning of the mark: the name of the machine and the
    /// number of the lock. An empty argument leaves the lock or the mark as it is.
    static let release = RedisScript(
        """
        local mark = ARGV[2] ~= '' and redis.call('GET', KEYS[2])
        if mark and string.sub(mark, 1, #ARGV[2] + 1) == ARGV[2] .. ' ' then redis.call('DEL', KEYS[2]) end
        if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end
        return 0
        """,
        isIdempotent: true
    )
}
#endif

#if os(Linux)
import Sluice
import SluiceFoundation
import SluiceHTTP

/// The keys of one token. They share a hash tag, so that a cluster keeps them on one node.
struct TokenKeys: Sendable {
    /// The sealed record, or nothing after a sign-out.
    let token: String
    /// The owner of the lock. It expires with the lease.
    let lock: String
    /// The number that was given out with the lock last.
    let fence: String
    /// The machine, the number of the lock and the hash of the refresh token that is about to be sent. It is removed when the new token is
    /// saved, or by the machine if it got none.
    let mark: String

    init(tag: String) {
        token = "sluice:{\(tag)}:token"
        lock = "sluice:{\(tag)}:lock"
        fence = "sluice:{\(tag)}:fence"
        mark = "sluice:{\(tag)}:mark"
    }

    /// The key that says for the time of a lease that an owner has released the lock. A command of the owner that takes the lock and runs
    /// later, because its time was over or its connection was lost, gets no lock, which nobody would release.
    func released(_ owner: String) -> String { "\(lock):\(owner)" }
}

/// The contents of a sealed value.
struct TokenRecord: Codable, Sendable {
    /// The number that was given out with the lock under which the token was saved. Later tokens have higher numbers.
    let version: Int
    let token: OAuth2.Token
    /// True if the authorization server has kept the refresh token when it was used last, so that it may be used again. Nil in records of
    /// earlier versions.
    var keepsRefreshToken: Bool?
}

/// The value under the key of the token.
enum StoredToken: Sendable, Equatable {
    /// No value: no token has been saved, or the server has lost it.
    case missing
    /// The token was deleted. Such a value expires after a day.
    case deleted
    case value(Data)

    /// Creates a value from a reply.
    init(_ reply: RedisValue) throws(RedisError) {
        switch reply {
        case .null, .boolean(false): self = .missing
        case .bytes(let data): self = data.isEmpty ? .deleted : .value(data)
        default: throw RedisError(.invalidReply, "The Redis server sent something other than a token.")
        }
    }

    /// The argument that stands for the value.
    var argument: Data {
        if case .value(let data) = self { data } else { Data() }
    }
}

/// A lock that the server has given, with the value at that time.
struct HeldToken: Sendable {
    let owner: String
    /// The number of the lock, as the server wrote it.
    let fence: String
    let version: Int
    var stored: StoredToken
    /// The time until which the lock is certainly held.
    var until: ContinuousClock.Instant

    /// Creates a lock from a reply; nil if another machine holds the lock.
    init?(_ reply: RedisValue, owner: String, until: ContinuousClock.Instant) throws(RedisError) {
        guard let elements = reply.elements else { throw HeldToken.invalid }
        if elements.isEmpty { return nil }
        guard elements.count == 2, let fence = elements[0].word, let version = Int(fence),
            version < 1 << 53
        else { throw HeldToken.invalid }
        self.owner = owner
        self.fence = fence
        self.version = version
        self.until = until
        stored = try StoredToken(elements[1])
    }

    private static let invalid = RedisError(.invalidReply, "The Redis server sent something other than a lock.")
}

/// The newest token that this machine has seen. A server that falls back to an older state, as after a failover, or to which somebody has
/// written an older value, does not bring a spent refresh token back.
struct TokenMemory: Sendable {
    /// The number of the newest token.
    private(set) var version = 0
    /// The newest token; nil if it was deleted.
    private(set) var token: OAuth2.Token?
    /// True if the authorization server has kept the refresh token of ``token`` when it was used last.
    private(set) var keepsRefreshToken = false
    /// The hashes of the refresh tokens that were exchanged for tokens that are not saved yet. The server still holds them, and their marks
    /// are those of this machine, which does not stop another gate of the same process.
    var spent: Set<String> = []

    /// Records the value that the server holds.
    ///
    /// - Parameters:
    ///   - stored: The value.
    ///   - record: The contents of the value.
    /// - Returns: The token that counts.
    mutating func found(_ stored: StoredToken, _ record: TokenRecord?) -> OAuth2.Token? {
        switch stored {
        case .missing: token = nil
        case .deleted:
            // From now on the value that was deleted is an older one.
            if token != nil { version += 1 }
            token = nil
        case .value:
            if let record, record.version >= version {
                (version, token) = (record.version, record.token)
                keepsRefreshToken = record.keepsRefreshToken == true
            }
        }
        return token
    }

    /// Records a token that this machine has saved, or deleted.
    mutating func keep(_ token: OAuth2.Token?, version: Int, keepsRefreshToken: Bool = false) {
        self.version = max(self.version, version)
        self.token = token
        self.keepsRefreshToken = keepsRefreshToken
    }

    /// True if the authorization server has kept the refresh token of a token that is to be saved.
    ///
    /// - Parameters:
    ///   - token: The token.
    ///   - sent: The refresh token that was sent for it; nil if it is unknown.
    /// - Returns: The answer; false if it is unknown.
    func isRefreshTokenKept(by token: OAuth2.Token, sent: Secret?) -> Bool {
        guard let refresh = token.refreshToken else { return false }
        if let sent { return sent.reveal() == refresh }
        // A token that is saved again.
        return keepsRefreshToken && token == self.token
    }
}

// MARK: - Token scripts

/// The scripts of the lock of a token. Each may run twice.
enum TokenScripts {
    /// Takes the lock.
    ///
    /// The keys are the lock, the fence, the token, and the release of the owner. The arguments are the owner, the lease in milliseconds,
    /// and the highest number that the owner has seen. The number is higher than that and than the last one. It is at least the server's
    /// time, so that numbers grow also after the server has lost its data. The reply is the number and the token, or an empty array if the
    /// lock is taken, or was released by the owner.
    static let take = RedisScript(
        """
        if redis.call('EXISTS', KEYS[4]) == 1 then return {} end
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
        elseif stored ~= ARGV[3] then
            -- A token that is stored already may have been marked by another machine since.
            redis.call('SET', KEYS[2], ARGV[3])
            redis.call('DEL', KEYS[3])
        end
        return 'changed'
        """,
        isIdempotent: true
    )

    /// Releases the lock if it still has its owner, and removes the mark of a machine that goes on. The owner cannot take the lock again.
    ///
    /// The keys are the lock, the mark, and the release of the owner. The arguments are the owner, the beginning of the mark, and the
    /// lifetime of the release in milliseconds. The mark begins with the name of the machine and the number of the lock. An empty argument
    /// leaves the lock or the mark as it is.
    static let release = RedisScript(
        """
        local mark = ARGV[2] ~= '' and redis.call('GET', KEYS[2])
        if mark and string.sub(mark, 1, #ARGV[2] + 1) == ARGV[2] .. ' ' then redis.call('DEL', KEYS[2]) end
        if ARGV[1] == '' then return 0 end
        redis.call('SET', KEYS[3], '', 'PX', ARGV[3])
        if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end
        return 0
        """,
        isIdempotent: true
    )
}
#endif

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
        guard elements.count == 2, let fence = elements[0].string, let version = Int(fence),
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
#endif

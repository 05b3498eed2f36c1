#if os(Linux)
import Sluice
import SluiceFoundation
import SluiceHTTP

/// A store that keeps the token of an `OAuth2` gate on a Redis server, for all machines of a fleet.
///
/// ```swift
/// $0.store = try RedisTokenStore(redis, named: "payments", seal: seal)
/// ```
///
/// One machine refreshes the token, and the others take it over. Before a gate requests a token, it takes a lock on the server and reads
/// the token again. So a refresh token that another machine has already exchanged is not used. The lock expires after its lease, so that a
/// machine that stops holds up the others no longer. A machine that continues after its lease replaces and deletes nothing if another has
/// taken the lock since. A machine that signs out signs the others out as well, once their access token has expired.
///
/// Tokens are always encrypted, also by a seal that only authenticates, and a name on the server shows nothing. A value that does not open
/// is an error. Nothing replaces it until a sign-in or sign-out, or until it is removed.
///
/// If the server rotates refresh tokens, Redis must not lose what it has confirmed: use a server with an append-only file, and
/// `maxmemory-policy noeviction`. A lost token is a sign-out, as the refresh token that a machine remembers may be spent.
///
/// While Redis is unavailable, a gate uses its token until that expires. A new token that cannot be stored is used as well. It is stored
/// as soon as Redis is available again.
public struct RedisTokenStore: TokenStore {
    /// The behavior when a token must be replaced and Redis is unavailable.
    public enum Fallback: Sendable, Hashable {
        /// Requests fail with `storeFailed`, once their token has expired.
        case fail
        /// Each machine obtains a token of its own. Only for grants without refresh tokens, or with those that can be used again.
        case refreshAlone
    }

    /// The behavior after a machine has stopped between sending a refresh token and storing the new token.
    public enum InterruptedRefresh: Sendable, Hashable {
        /// The refresh token is not sent again, as it is probably spent: gates fail with `authorizationRequired`, or obtain a token by
        /// their grant. It is sent again if the authorization server has kept it in the refresh before, which is known from the second
        /// refresh on.
        case signIn
        /// The refresh token is sent again. For authorization servers that accept a spent one for some time.
        case refreshAgain
    }

    let redis: RedisClient
    let keys: TokenKeys
    private let seal: RedisSeal
    private let lease: Duration
    private let fallback: Fallback
    private let interruptedRefresh: InterruptedRefresh
    private let memory = Locked(TokenMemory())
    /// The name of this machine in marks.
    private let machine = HexText.text(of: (0..<16).map { _ in UInt8.random(in: .min ... .max) }[...])

    /// Creates a store, which connects when it is used first.
    ///
    /// - Parameters:
    ///   - redis: The client.
    ///   - name: The name of the token. All machines use the same one. Other grants and other users need other names.
    ///   - seal: The seal, with the same key on all machines.
    ///   - lease: The time after which the lock of a machine that stopped is free; 30 seconds by default. It is extended to five seconds
    ///     more than the gate's time-out, in which a request for a token ends.
    ///   - fallback: The behavior while Redis is unavailable. ``Fallback/fail`` by default.
    ///   - interruptedRefresh: The behavior after a machine has stopped during a refresh. ``InterruptedRefresh/signIn`` by default.
    /// - Throws: ``RedisSeal/Failure/unavailable``.
    public init(
        _ redis: RedisClient,
        named name: String,
        seal: RedisSeal,
        lease: Duration = .seconds(30),
        whenUnavailable fallback: Fallback = .fail,
        afterInterruption interruptedRefresh: InterruptedRefresh = .signIn
    ) throws(RedisSeal.Failure) {
        self.redis = redis
        self.seal = seal.encrypting
        self.lease = lease
        self.fallback = fallback
        self.interruptedRefresh = interruptedRefresh
        keys = TokenKeys(tag: try seal.name("token/\(name)"))
    }

    /// Reads the token; nil if there is none.
    ///
    /// - Returns: The token.
    /// - Throws: An error if Redis is unavailable, or for a value that is not a token of this store.
    public func load() async throws -> OAuth2.Token? {
        do {
            let value = try await call { () throws(RedisError) in
                try await redis.send(RedisCommand("GET", keys.token, isIdempotent: true))
            }
            return try token(in: StoredToken(value))
        } catch  where fallback == .refreshAlone && error is RedisError {
            return memory.withLock { $0.token }
        } catch {
            throw Self.publicError(error)
        }
    }

    /// Replaces the token. Waits while a machine holds the lock.
    ///
    /// - Parameter token: The token to save.
    /// - Throws: An error if Redis is unavailable, or if other machines hold the lock for too long.
    public func save(_ token: OAuth2.Token) async throws {
        try await lock(timeout: lease, on: SystemClock()).save(token)
    }

    /// Removes the token. Waits while a machine holds the lock.
    ///
    /// - Throws: An error if Redis is unavailable, or if other machines hold the lock for too long.
    public func delete() async throws {
        try await lock(timeout: lease, on: SystemClock()).delete()
    }
}

extension RedisTokenStore: SharedTokenStore {
    package var allowsUnsavedTokens: Bool { true }

    package func lock(timeout: Duration, on clock: any SluiceClock) async throws -> any TokenLock {
        do {
            return RedisTokenLock(try await hold(timeout: timeout, on: clock), of: self, timeout: timeout, on: clock)
        } catch  where fallback == .refreshAlone && error is RedisError {
            return LocalTokenLock(memory)
        } catch {
            throw Self.publicError(error)
        }
    }

    /// The part of a lease that is left for delays between a check and the request that follows.
    static let margin = Duration.seconds(1)
    /// The time between two attempts in the background.
    static let retryInterval = Duration.milliseconds(250)
    /// The time after a lease in which a mark is removed that could not be removed before.
    private static let markPatience = Duration.seconds(600)

    /// Returns the arguments of ``TokenScripts/mark``.
    ///
    /// - Throws: A `TokenStoreError`, or a `RefreshInterrupted` if another gate of this process has sent the refresh token.
    func arguments(toMark refreshToken: Secret, of held: HeldToken, _ timeout: Duration) throws -> [any RedisArgument] {
        guard let hash = hash(of: refreshToken) else {
            throw TokenStoreError("The refresh token could not be hashed.")
        }
        if interruptedRefresh == .signIn, memory.withLock({ $0.spent.contains(hash) }) { throw RefreshInterrupted() }
        let isKept = memory.withLock { $0.keepsRefreshToken && $0.token?.refreshToken == refreshToken.reveal() }
        return [
            held.owner, milliseconds(lease(timeout)), machine, held.fence, hash,
            isKept || interruptedRefresh == .refreshAgain ? 1 : 0,
        ]
    }

    private func hash(of refreshToken: Secret) -> String? { try? seal.name("refresh/\(refreshToken.reveal())") }

    /// Records that a refresh token was exchanged for a token that is not saved yet, unless the authorization server has kept it.
    func recordSpent(_ refreshToken: Secret, for token: OAuth2.Token) {
        guard token.refreshToken != refreshToken.reveal(), let hash = hash(of: refreshToken) else { return }
        memory.withLock { _ = $0.spent.insert(hash) }
    }

    /// Records that the token for which a refresh token was exchanged is saved or deleted.
    func forgetSpent(_ refreshToken: Secret) {
        guard let hash = hash(of: refreshToken) else { return }
        memory.withLock { _ = $0.spent.remove(hash) }
    }

    /// The beginning of the mark that was made under a lock.
    func mark(_ held: HeldToken) -> String { "\(machine) \(held.fence)" }

    /// Returns the lease of a lock, which is longer than a request for a token.
    func lease(_ timeout: Duration) -> Duration { max(lease.bounded, timeout.bounded + .seconds(5)) }

    private func milliseconds(_ duration: Duration) -> Int { Int(duration.nanoseconds / 1_000_000) }

    /// Takes the lock.
    ///
    /// - Returns: The lock with the value that the server holds.
    /// - Throws: A ``RedisError``, or a `TokenStoreError` if other machines hold the lock for too long.
    func hold(timeout: Duration, on clock: any SluiceClock) async throws -> HeldToken {
        let owner = HexText.text(of: (0..<16).map { _ in UInt8.random(in: .min ... .max) }[...])
        let lease = lease(timeout)
        let end = clock.now + timeout.bounded + lease
        do {
            while true {
                let start = clock.now
                let floor = memory.withLock { $0.version }
                let value = try await call { () throws(RedisError) in
                    try await redis.run(
                        TokenScripts.take,
                        keys: [keys.lock, keys.fence, keys.token, keys.released(owner)],
                        arguments: [owner, milliseconds(lease), floor]
                    )
                }
                if let held = try HeldToken(value, owner: owner, until: start + lease) { return held }
                guard clock.now < end else {
                    throw TokenStoreError(
                        "Other machines have held the lock of the token on Redis for too long. Try again later."
                    )
                }
                try await clock.sleep(for: .milliseconds(Int64.random(in: 20...50)))
            }
        } catch {
            // The server may have given the lock although no reply arrived, unless the command was never sent.
            let isUnsent = (error as? RedisError)?.isUnsent == true
            if !isUnsent { release(owner, clearing: nil, until: clock.now + lease, on: clock) }
            throw error
        }
    }

    /// Releases a lock unless another owner has taken it. Tries again until the lease is over, and for a mark ten minutes longer.
    ///
    /// - Parameters:
    ///   - owner: The owner of the lock.
    ///   - mark: The beginning of the mark to remove; nil for none.
    ///   - end: The end of the lease.
    ///   - clock: The clock.
    func release(
        _ owner: String,
        clearing mark: String?,
        until end: ContinuousClock.Instant,
        on clock: any SluiceClock
    ) {
        let end = mark == nil ? end : end + Self.markPatience
        let names = [keys.lock, keys.mark, keys.released(owner)]
        let arguments: [any RedisArgument] = [owner, mark ?? "", milliseconds(lease(.zero))]
        Task { [redis] in
            while (try? await redis.run(TokenScripts.release, keys: names, arguments: arguments)) == nil,
                clock.now < end
            {
                do { try await clock.sleep(for: Self.retryInterval) } catch { return }
            }
        }
    }

    /// Opens a value, and remembers its token.
    func token(in stored: StoredToken) throws(TokenStoreError) -> OAuth2.Token? {
        var record: TokenRecord?
        if case .value(let sealed) = stored { record = try open(sealed) }
        return memory.withLock { $0.found(stored, record) }
    }

    private func open(_ sealed: Data) throws(TokenStoreError) -> TokenRecord {
        let reason: String
        do {
            let contents = try seal.open(sealed, as: keys.token)
            if let record = try? JSONDecoder().decode(TokenRecord.self, from: contents) { return record }
            reason = "it is of another version"
        } catch {
            reason = "\(error)"
        }
        throw TokenStoreError(
            "The value on Redis is not a token of this store: \(reason). Sign in again to replace it."
        )
    }

    /// Returns the value of a token, and true if the authorization server has kept its refresh token.
    ///
    /// - Parameters:
    ///   - token: The token.
    ///   - version: The number of the lock.
    ///   - sent: The refresh token that was sent for it; nil if it is unknown.
    /// - Returns: The value and the answer.
    /// - Throws: A `TokenStoreError` if the token cannot be encoded or encrypted.
    func sealed(_ token: OAuth2.Token, version: Int, sent: Secret?) throws(TokenStoreError) -> (Data, isKept: Bool) {
        let isKept = memory.withLock { $0.isRefreshTokenKept(by: token, sent: sent) }
        let record = TokenRecord(version: version, token: token, keepsRefreshToken: isKept)
        guard let contents = try? JSONEncoder().encode(record) else {
            throw TokenStoreError("The token could not be encoded: its expiration date is not valid.")
        }
        guard let sealed = try? seal.seal(contents, as: keys.token) else {
            throw TokenStoreError("The token could not be encrypted.")
        }
        return (sealed, isKept)
    }

    func remember(_ token: OAuth2.Token?, version: Int, keepsRefreshToken: Bool = false) {
        memory.withLock { $0.keep(token, version: version, keepsRefreshToken: keepsRefreshToken) }
    }

    /// Calls the server, up to three times if the reply is lost. All calls can be repeated.
    ///
    /// - Throws: The last error; the one before it if the last call was not sent, because the server may have executed the others.
    func call(_ body: () async throws(RedisError) -> RedisValue) async throws(RedisError) -> RedisValue {
        var failures = 0
        var lost: RedisError?
        while true {
            do throws(RedisError) {
                return try await body()
            } catch {
                failures += 1
                if error.isUnsent, let lost { throw lost }
                guard failures < 3, error.code == .timedOut || error.code == .connectionLost else { throw error }
                lost = error
            }
        }
    }

    static func publicError(_ error: any Error) -> any Error {
        guard let error = error as? RedisError else { return error }
        if error.code == .cancelled { return CancellationError() }
        return TokenStoreError("The token could not be read from or written to Redis. \(error.description)")
    }
}
#endif

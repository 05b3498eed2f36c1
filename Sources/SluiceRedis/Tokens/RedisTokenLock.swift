#if os(Linux)
import Sluice
import SluiceFoundation
import SluiceHTTP

/// The lock of a token on Redis. It has a lease, and a number that is higher than that of all earlier locks.
///
/// A token is saved or deleted only if no later lock was given, and if the stored token is the one that was read with the lock. Where a
/// later lock was given and nothing was changed, the lock is taken again first.
///
/// A token that could not be saved is saved again in the background, for as long as the gate keeps the lock. Otherwise another machine
/// would use the spent refresh token once the lease is over, if this one has no further requests. One attempt runs at a time, because two
/// could wait for each other's lock, or an older token could replace a newer one.
final class RedisTokenLock: TokenLock {
    private struct State {
        var held: HeldToken
        /// The bytes that were sent last, which are sent again where no reply arrived.
        var sent: (token: OAuth2.Token, value: Data, keepsRefreshToken: Bool)?
        /// The token that is not saved yet. Without it, nobody may use the refresh token that was sent for it.
        var saves = TokenSaves()
        /// The refresh token that was marked under this lock, and the beginning of its mark.
        var marked: (refreshToken: Secret, mark: String)?
        /// The task that saves the token again.
        var retrying: Task<Void, Never>?
        /// The running attempt of that task.
        var attempt: Task<Void, Never>?
    }

    private let store: RedisTokenStore
    private let timeout: Duration
    private let clock: any SluiceClock
    private let state: Locked<State>

    init(_ held: HeldToken, of store: RedisTokenStore, timeout: Duration, on clock: any SluiceClock) {
        self.store = store
        self.timeout = timeout
        self.clock = clock
        state = Locked(State(held: held))
    }

    deinit {
        let (held, mark) = state.withLock { ($0.held, $0.saves.unsaved == nil ? $0.marked?.mark : nil) }
        store.release(held.owner, clearing: mark, until: held.until, on: clock)
    }

    func willSend(refreshToken token: Secret) async throws {
        let held = state.withLock { $0.held }
        let arguments = try store.arguments(toMark: token, of: held, timeout)
        let end = clock.now + store.lease(timeout)
        state.withLock { $0.marked = (token, store.mark(held)) }
        switch try await run(TokenScripts.mark, [store.keys.lock, store.keys.mark], arguments) {
        case "marked": state.withLock { $0.held.until = end }
        case "interrupted": throw RefreshInterrupted()
        default: throw TokenLockExpired()
        }
    }

    func refreshFailed() async {
        guard let mark = state.withLock({ $0.marked?.mark }) else { return }
        // Another attempt follows when the lock is released.
        let keys = store.keys
        _ = try? await run(TokenScripts.release, [keys.lock, keys.mark, keys.released("")], ["", mark, 0])
    }

    func isHeld(for duration: Duration) -> Bool {
        clock.now + duration.bounded + RedisTokenStore.margin <= state.withLock { $0.held.until }
    }

    var backgroundSave: Task<Void, Never>? { state.withLock { $0.retrying } }

    /// Returns the token that the server held when it gave the lock.
    func load() async throws -> OAuth2.Token? {
        try store.token(in: state.withLock { $0.held.stored })
    }

    func save(_ token: OAuth2.Token) async throws {
        let (attempt, refreshToken) = state.withLock { state in
            state.saves.requestBegins(saving: token)
            return (state.attempt, state.marked?.refreshToken)
        }
        if let refreshToken { store.recordSpent(refreshToken, for: token) }
        defer { state.withLock { $0.saves.requestEnds() } }
        await attempt?.value
        do {
            try await write(token)
        } catch {
            if error is TokenStoreError { retry() }
            throw error
        }
    }

    /// Writes a token. Returns false if it need not be saved any more: it was saved or deleted meanwhile, or there is a newer one.
    @discardableResult
    private func write(_ token: OAuth2.Token) async throws -> Bool {
        while true {
            let (held, sent, refreshToken, isUnsaved) = state.withLock { state in
                (state.held, state.sent, state.marked?.refreshToken, state.saves.unsaved == token)
            }
            if !isUnsaved { return false }
            let (value, isKept): (Data, Bool)
            if let sent, sent.token == token {
                (value, isKept) = (sent.value, sent.keepsRefreshToken)
            } else {
                (value, isKept) = try store.sealed(token, version: held.version, sent: refreshToken)
            }
            state.withLock { $0.sent = (token, value, isKept) }
            if try await change(to: value) {
                state.withLock { state in
                    state.held.stored = .value(value)
                    state.saves.saved(token)
                }
                store.remember(token, version: held.version, keepsRefreshToken: isKept)
                if let refreshToken { store.forgetSpent(refreshToken) }
                return true
            }
            try await lockAgain()
        }
    }

    /// Starts a task that saves the token again until that is done, another machine has replaced it, or the lock is released.
    private func retry() {
        state.withLock { state in
            state.saves.failed()
            guard state.retrying == nil else { return }
            state.retrying = Task { [weak self, clock] in
                repeat {
                    do {
                        try await clock.sleep(for: RedisTokenStore.retryInterval)
                    } catch {
                        self?.state.withLock { $0.retrying = nil }
                        return
                    }
                } while await self?.saveAgain() == true
            }
        }
    }

    /// Tries to save the token again, unless a request does. Returns true if another attempt must follow.
    private func saveAgain() async -> Bool {
        let attempt = state.withLock { state -> Task<Void, Never>? in
            guard let token = state.saves.nextAttempt() else { return nil }
            let attempt = Task { await saveInBackground(token) }
            state.attempt = attempt
            return attempt
        }
        await attempt?.value
        return state.withLock { state in
            state.attempt = nil
            if state.saves.goesOn { return true }
            state.retrying = nil
            return false
        }
    }

    private func saveInBackground(_ token: OAuth2.Token) async {
        do {
            guard try await write(token) else { return }
        } catch {
            if error is TokenStoreError { state.withLock { $0.saves.failed() } }
            return
        }
        // The other machines need not wait for the next request of this one, unless that request already uses the lock.
        let held = state.withLock { state -> HeldToken? in
            if state.saves.hasRequests { return nil }
            defer { state.held.until = clock.now }
            return state.held
        }
        if let held { store.release(held.owner, clearing: nil, until: held.until, on: clock) }
    }

    func delete() async throws {
        let (wasUnsaved, attempt, refreshToken) = state.withLock { state in
            defer { state.saves.requestBegins(saving: nil) }
            return (state.saves.unsaved != nil, state.attempt, state.marked?.refreshToken)
        }
        defer { state.withLock { $0.saves.requestEnds() } }
        // An attempt that ends later would save the token again.
        await attempt?.value
        // If the older token remains, nobody may use its refresh token, which is spent.
        if wasUnsaved { state.withLock { $0.marked = nil } }
        let isChanged: Bool
        do {
            isChanged = try await change(to: Data())
        } catch let error as TokenLockExpired {
            // The token may have been saved although no reply arrived.
            guard let sent = state.withLock({ $0.sent }) else { throw error }
            state.withLock { $0.held.stored = .value(sent.value) }
            isChanged = try await change(to: Data())
        }
        guard isChanged else { throw TokenLockExpired() }
        let version = state.withLock { state in
            state.held.stored = .deleted
            return state.held.version
        }
        store.remember(nil, version: version)
        if let refreshToken { store.forgetSpent(refreshToken) }
    }

    /// Changes the stored value.
    ///
    /// - Parameter value: The new value; empty to delete the token.
    /// - Returns: False if another machine has taken the lock since.
    /// - Throws: A `TokenLockExpired` if another machine has changed the value, or a `TokenStoreError`.
    private func change(to value: Data) async throws -> Bool {
        let (held, keys) = (state.withLock { $0.held }, store.keys)
        let arguments: [any RedisArgument] = [held.fence, held.stored.argument, value]
        switch try await run(TokenScripts.change, [keys.fence, keys.token, keys.mark], arguments) {
        case "changed": return true
        case "locked": return false
        default: throw TokenLockExpired()
        }
    }

    private func run(_ script: RedisScript, _ keys: [String], _ arguments: [any RedisArgument]) async throws -> String?
    {
        let redis = store.redis
        // More patient than other commands: a token that is not saved may be lost.
        let timeout = max(redis.server.commandTimeout, .seconds(1))
        do {
            return try await store.call { () throws(RedisError) in
                try await redis.run(script, keys: keys, arguments: arguments, timeout: timeout)
            }.word
        } catch {
            throw RedisTokenStore.publicError(error)
        }
    }

    /// Takes the lock again after its lease, if the stored value is still the one that was read, or is the one that was sent, or is lost.
    private func lockAgain() async throws {
        let held: HeldToken
        do {
            held = try await store.hold(timeout: timeout, on: clock)
        } catch {
            throw RedisTokenStore.publicError(error)
        }
        let isUnchanged = state.withLock { state in
            guard
                held.stored == state.held.stored || held.stored == .missing
                    || state.sent.map({ held.stored == .value($0.value) }) == true
            else { return false }
            if case .value(let value) = held.stored, value == state.sent?.value {} else { state.sent = nil }
            state.held = held
            return true
        }
        if !isUnchanged {
            // The number of the former lock stays, so that later attempts do not change the value either.
            store.release(held.owner, clearing: nil, until: held.until, on: clock)
            throw TokenLockExpired()
        }
    }
}

/// The token that is not saved yet, and the attempts to save it, of which one runs at a time.
///
///     a request begins   the background begins no attempt until the request ends; the request waits for an attempt that runs
///     an attempt fails   the background tries again
///     it succeeds        the token is saved, unless a request has brought another one since
struct TokenSaves: Sendable {
    private(set) var unsaved: OAuth2.Token?
    /// The number of requests that save or delete a token.
    private var requests = 0
    /// True if an attempt has failed, and no other one has begun since.
    private var hasFailed = false

    /// True while a request saves or deletes a token.
    var hasRequests: Bool { requests > 0 }
    /// True if the background has to try again later.
    var goesOn: Bool { hasFailed || hasRequests }

    /// Begins the attempt of a request, which is over with ``requestEnds()``.
    ///
    /// - Parameter token: The token to save; nil for a deletion, after which nothing is to be saved.
    mutating func requestBegins(saving token: OAuth2.Token?) {
        unsaved = token
        requests += 1
    }

    mutating func requestEnds() {
        requests -= 1
    }

    /// Records that a token was saved.
    mutating func saved(_ token: OAuth2.Token) {
        if unsaved == token { unsaved = nil }
    }

    /// Records that an attempt must be repeated.
    mutating func failed() {
        hasFailed = true
    }

    /// Begins an attempt of the background. Returns the token; nil if there is none, or if a request saves one itself.
    mutating func nextAttempt() -> OAuth2.Token? {
        guard !hasRequests else { return nil }
        hasFailed = false
        return unsaved
    }
}

/// The lock of a machine that obtains a token of its own while Redis is unavailable.
final class LocalTokenLock: TokenLock {
    private let memory: Locked<TokenMemory>

    init(_ memory: Locked<TokenMemory>) {
        self.memory = memory
    }

    func isHeld(for duration: Duration) -> Bool { true }
    func load() async -> OAuth2.Token? { memory.withLock { $0.token } }
    func save(_ token: OAuth2.Token) async { memory.withLock { $0.keep(token, version: 0) } }
    func delete() async { memory.withLock { $0.keep(nil, version: 0) } }
}
#endif

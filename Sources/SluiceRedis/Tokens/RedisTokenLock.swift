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
/// would use the spent refresh token once the lease is over, if this one has no further requests.
final class RedisTokenLock: TokenLock {
    private struct State {
        var held: HeldToken
        /// The bytes that were sent last, which are sent again where no reply arrived.
        var sent: (token: OAuth2.Token, value: Data, keepsRefreshToken: Bool)?
        /// The token that is not saved yet. Without it, nobody may use the refresh token that was sent for it.
        var unsaved: OAuth2.Token?
        /// The refresh token that was marked under this lock, and the beginning of its mark.
        var marked: (refreshToken: Secret, mark: String)?
        /// True while a task saves the token again.
        var isRetrying = false
        /// The last attempt of that task.
        var saving: Task<Bool, Never>?
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
        let (held, mark) = state.withLock { ($0.held, $0.unsaved == nil ? $0.marked?.mark : nil) }
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
        _ = try? await run(TokenScripts.release, [store.keys.lock, store.keys.mark], ["", mark])
    }

    func isHeld(for duration: Duration) -> Bool {
        clock.now + duration + RedisTokenStore.margin <= state.withLock { $0.held.until }
    }

    /// Returns the token that the server held when it gave the lock.
    func load() async throws -> OAuth2.Token? {
        try store.token(in: state.withLock { $0.held.stored })
    }

    func save(_ token: OAuth2.Token) async throws {
        state.withLock { $0.unsaved = token }
        do {
            try await write(token)
        } catch {
            if error is TokenStoreError { retry() }
            throw error
        }
    }

    private func write(_ token: OAuth2.Token) async throws {
        while true {
            let (held, sent, refreshToken) = state.withLock { ($0.held, $0.sent, $0.marked?.refreshToken) }
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
                    state.unsaved = nil
                }
                return store.remember(token, version: held.version, keepsRefreshToken: isKept)
            }
            try await lockAgain()
        }
    }

    /// Starts a task that saves the token again until that is done, another machine has replaced it, or the lock is released.
    private func retry() {
        let isRetrying = state.withLock { state in
            defer { state.isRetrying = true }
            return state.isRetrying
        }
        if isRetrying { return }
        Task { [weak self, clock] in
            repeat {
                do { try await clock.sleep(for: RedisTokenStore.retryInterval) } catch { break }
            } while await self?.saveAgain() == true
            self?.state.withLock { $0.isRetrying = false }
        }
    }

    /// Returns true if the token must be saved again later.
    private func saveAgain() async -> Bool {
        let attempt = state.withLock { state -> Task<Bool, Never>? in
            state.saving = state.unsaved.map { token in Task { await saveAgain(token) } }
            return state.saving
        }
        return await attempt?.value ?? false
    }

    private func saveAgain(_ token: OAuth2.Token) async -> Bool {
        do {
            try await write(token)
        } catch {
            return error is TokenStoreError
        }
        // The other machines need not wait for the next request of this one.
        let held = state.withLock { state in
            defer { state.held.until = clock.now }
            return state.held
        }
        store.release(held.owner, clearing: nil, until: held.until, on: clock)
        return false
    }

    func delete() async throws {
        let (wasUnsaved, saving) = state.withLock { state in
            defer { state.unsaved = nil }
            return (state.unsaved != nil, state.saving)
        }
        // An attempt that ends later would save the token again.
        _ = await saving?.value
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

    /// Runs a script, and returns its reply.
    private func run(_ script: RedisScript, _ keys: [String], _ arguments: [any RedisArgument]) async throws -> String?
    {
        let redis = store.redis
        // More patient than other commands: a token that is not saved may be lost.
        let timeout = max(redis.server.commandTimeout, .seconds(1))
        do {
            return try await store.call { () throws(RedisError) in
                try await redis.run(script, keys: keys, arguments: arguments, timeout: timeout)
            }.string
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
            let isUnchanged =
                held.stored == state.held.stored || held.stored == .missing
                || state.sent.map { held.stored == .value($0.value) } == true
            if case .value(let value) = held.stored, value == state.sent?.value {} else { state.sent = nil }
            state.held = held
            return isUnchanged
        }
        if !isUnchanged { throw TokenLockExpired() }
    }
}

/// The lock of a machine that obtains a token of its own while Redis is away.
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

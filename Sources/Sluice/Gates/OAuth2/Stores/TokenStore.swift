import SluiceFoundation
import SluiceHTTP

/// A store that keeps the token of an ``OAuth2`` gate between runs of the program.
///
/// ```swift
/// struct VaultTokenStore: TokenStore {
///     let vault: Vault
///
///     func load() async throws -> OAuth2.Token? { try await vault.read("token") }
///     func save(_ token: OAuth2.Token) async throws { try await vault.write(token, as: "token") }
///     func delete() async throws { try await vault.remove("token") }
/// }
/// ```
///
/// A gate never calls two of these methods at the same time. An error that one throws fails the requests that wait for
/// a token, as the underlying error of ``OAuth2Error/Code/storeFailed``. A token that could not be saved stays in
/// memory. The next request saves it before it is used.
public protocol TokenStore: Sendable {
    /// Returns the token that was saved last; nil if there is none. Called when the first request needs a token.
    func load() async throws -> OAuth2.Token?

    /// Saves a token, which replaces any other. The token must be durable when this method returns: a server that
    /// rotates refresh tokens no longer accepts the previous one.
    func save(_ token: OAuth2.Token) async throws

    /// Removes the token; does nothing if there is none.
    func delete() async throws
}

/// A token store that several processes may share. A gate holds its lock from reading a refresh token until the token that
/// replaces it is saved.
package protocol SharedTokenStore: TokenStore {
    /// True if a token that could not be saved is used nevertheless, while each request tries again to save it.
    var allowsUnsavedTokens: Bool { get }

    /// Waits for the lock.
    ///
    /// - Parameters:
    ///   - timeout: The time-out of a request for a token. A wait may take longer than this, but must end.
    ///   - clock: The clock that measures the time.
    /// - Returns: The lock.
    /// - Throws: A ``TokenStoreError``, or a `CancellationError`.
    func lock(timeout: Duration, on clock: any SluiceClock) async throws -> any TokenLock
}

/// A lock on a shared store, which is released once, when it is deallocated. While a gate holds it, the gate reads and
/// writes the token through the lock.
package protocol TokenLock: AnyObject, TokenStore {
    /// True if the lock is still held after a duration, unless it is released.
    func isHeld(for duration: Duration) -> Bool

    /// Records that a refresh token is about to be sent, so that no other process sends it after this one has stopped
    /// before the new token is saved. The default implementation records nothing.
    ///
    /// - Parameter token: The refresh token.
    /// - Throws: A ``RefreshInterrupted``, ``TokenLockExpired`` or ``TokenStoreError``. The token must not be sent then.
    func willSend(refreshToken token: Secret) async throws

    /// Removes the record of ``willSend(refreshToken:)``, because no token was received.
    func refreshFailed() async
}

extension TokenLock {
    /// Records nothing.
    package func willSend(refreshToken token: Secret) async throws {}

    /// Removes nothing.
    package func refreshFailed() async {}
}

/// The failure for a refresh token that another process has sent, and which has not saved the new token.
package struct RefreshInterrupted: Error {
    /// Creates a failure.
    package init() {}
}

/// The failure of a lock that has expired: another process has locked the store since, or has replaced the token. The
/// token was not changed.
package struct TokenLockExpired: Error {
    /// Creates a failure.
    package init() {}
}

/// A failure of one of Sluice's token stores.
public struct TokenStoreError: LocalizedError, Sendable, CustomStringConvertible {
    /// A sentence for the user, which contains no part of the token.
    public let description: String

    /// The ``description``, as `localizedDescription`.
    public var errorDescription: String? { description }

    /// Creates an error.
    public init(_ description: String) {
        self.description = description
    }
}

/// A store that keeps the token in memory.
public final class MemoryTokenStore: TokenStore {
    private let token: Locked<OAuth2.Token?>

    /// Creates a store.
    ///
    /// - Parameter token: The initial token; nil by default.
    public init(_ token: OAuth2.Token? = nil) {
        self.token = Locked(token)
    }

    /// Returns the token.
    public func load() async -> OAuth2.Token? {
        token.withLock { $0 }
    }

    /// Replaces the token.
    public func save(_ token: OAuth2.Token) async {
        self.token.withLock { $0 = token }
    }

    /// Removes the token.
    public func delete() async {
        token.withLock { $0 = nil }
    }
}

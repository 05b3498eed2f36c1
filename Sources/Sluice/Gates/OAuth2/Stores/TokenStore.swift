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
protocol SharedTokenStore: TokenStore {
    /// Waits for the lock.
    ///
    /// - Parameters:
    ///   - limit: The longest time to wait.
    ///   - clock: The clock that measures it.
    /// - Returns: The lock, which is held until it is deallocated.
    /// - Throws: A ``TokenStoreError``, or a `CancellationError`.
    func lock(within limit: Duration, on clock: any SluiceClock) async throws -> FileLock
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

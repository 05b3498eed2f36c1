import Dispatch
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
/// A gate never calls two of these methods at the same time. A call that waits for another one for longer than
/// ``OAuth2/Configuration/timeout`` fails. An error that one throws fails the requests that wait for a token, as the
/// underlying error of ``OAuth2Error/Code/storeFailed``. A token that could not be saved stays in memory. The next
/// request saves it before it is used.
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
    /// True if a token that could not be saved is used nevertheless. Each request tries again to save it, unless the lock does so in the
    /// background.
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

    /// The task that goes on to save a token that could not be saved; nil if there is none. It ends when the token is saved
    /// or another process has replaced it, or soon after the lock is released, and does not keep the lock. The default
    /// implementation has none.
    var backgroundSave: Task<Void, Never>? { get }
}

extension TokenLock {
    /// Records nothing.
    package func willSend(refreshToken token: Secret) async throws {}

    /// Removes nothing.
    package func refreshFailed() async {}

    /// Nil.
    package var backgroundSave: Task<Void, Never>? { nil }
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
package struct TokenStoreError: LocalizedError, Sendable, CustomStringConvertible, DescribedError {
    /// A sentence for the user, which contains no part of the token.
    package let description: String

    /// Creates an error.
    package init(_ description: String) {
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

// MARK: - File token store

/// A store that keeps the token in a file that only the user can read.
///
/// ```swift
/// $0.store = FileTokenStore(URL(filePath: "/var/lib/shop/token.json"))
/// ```
///
/// The file is JSON and is created with mode 0600. A token is written to a second file, flushed to the
/// disk and then moved into place. After a crash the file holds the old token or the new one, never a part
/// of one. The folder must exist.
///
/// A file that others can read or write is refused, as ssh refuses such a key. Run `chmod 600` to correct its mode if
/// no other user can have read it. A file that holds no token is refused too. It is not changed until it is removed, or
/// until a sign-in or sign-out.
///
/// Several programs may use the file at the same time, with one grant of one user. Before a gate requests a token, it
/// locks a file beside this one, with `.lock` after its name, and reads the token again. So a refresh token that another
/// program has already exchanged is not used. A program whose gate signs out signs the others out as well, once their
/// access token has expired. The lock file stays when the token is removed. It must be on a file system with locks that
/// all the programs share.
public struct FileTokenStore: TokenStore {
    private let file: PrivateFile
    /// Serial, so that operations run in the order of their calls.
    private let queue = DispatchQueue(label: "sluice.tokens")

    /// Creates a store.
    ///
    /// - Parameter url: The URL of the file, which need not exist.
    public init(_ url: URL) {
        file = PrivateFile(path: url.path, contentName: "a token", limit: 1 << 20)
    }

    /// Reads the token; nil if there is no file.
    ///
    /// - Returns: The token.
    /// - Throws: An error for a file that cannot be read, that others can read, or that holds no token.
    public func load() async throws -> OAuth2.Token? {
        guard let contents = try await perform({ file throws(PrivateFile.Failure) in try file.read() }) else {
            return nil
        }
        do {
            return try JSONDecoder().decode(OAuth2.Token.self, from: contents)
        } catch {
            // The decoder's error may quote the contents, so it is not included.
            throw TokenStoreError(
                "The file “\(file.path)” does not contain a token. Remove it, or sign in again to replace it."
            )
        }
    }

    /// Writes the token to the disk.
    ///
    /// - Parameter token: The token to save.
    /// - Throws: An error if it cannot be written. The file then keeps its contents.
    public func save(_ token: OAuth2.Token) async throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        let contents: Data
        do {
            contents = try encoder.encode(token)
        } catch {
            throw TokenStoreError("The token could not be encoded: its expiration date is not valid.")
        }
        try await perform { file throws(PrivateFile.Failure) in try file.replace(with: contents) }
    }

    /// Removes the file.
    ///
    /// - Throws: An error if the file exists and cannot be removed.
    public func delete() async throws {
        try await perform { file throws(PrivateFile.Failure) in try file.remove() }
    }

    private func perform<Value: Sendable>(
        _ operation: @escaping @Sendable (PrivateFile) throws(PrivateFile.Failure) -> Value
    ) async throws(TokenStoreError) -> Value {
        try await queue.result { [file] () -> Result<Value, TokenStoreError> in
            Result { () throws(PrivateFile.Failure) in try operation(file) }.mapError {
                TokenStoreError($0.description)
            }
        }.get()
    }
}

extension FileTokenStore: SharedTokenStore {
    /// The time between two attempts to take the lock.
    private static let lockInterval = Duration.milliseconds(20)

    package var allowsUnsavedTokens: Bool { false }

    package func lock(timeout: Duration, on clock: any SluiceClock) async throws -> any TokenLock {
        let end = clock.now + timeout.bounded
        while true {
            let lock = try await perform { file throws(PrivateFile.Failure) in try file.attemptLock() }
            if let lock { return FileTokenLock(lock, store: self) }
            guard clock.now < end else {
                throw TokenStoreError(
                    "Another program has held the lock of the file “\(file.path)” for too long. Try again later."
                )
            }
            try await clock.sleep(for: Self.lockInterval)
        }
    }
}

/// The lock beside the file of a token. It does not expire.
private final class FileTokenLock: TokenLock {
    private let lock: FileLock
    private let store: FileTokenStore

    init(_ lock: FileLock, store: FileTokenStore) {
        self.lock = lock
        self.store = store
    }

    func isHeld(for duration: Duration) -> Bool { true }
    func load() async throws -> OAuth2.Token? { try await store.load() }
    func save(_ token: OAuth2.Token) async throws { try await store.save(token) }
    func delete() async throws { try await store.delete() }
}

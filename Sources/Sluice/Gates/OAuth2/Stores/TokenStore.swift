/// Where an ``OAuth2`` gate keeps its token from one run of the program to the next.
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
/// A gate never calls two of them at once. What one throws fails the requests that wait for a token, as the underlying error of
/// ``OAuth2Error/Code/storeFailed``; a token that could not be saved stays in memory, and the next request tries again to save
/// it before it is used.
public protocol TokenStore: Sendable {
    /// The token that was saved last; nil if there is none. Asked once, when the first request needs a token.
    func load() async throws -> OAuth2.Token?

    /// Keeps a token in the place of any other. When it returns, the token must be safe: a server that rotates refresh tokens
    /// accepts the one before no longer.
    func save(_ token: OAuth2.Token) async throws

    /// Removes the token; does nothing if there is none.
    func delete() async throws
}

/// What a token store of Sluice's could not do.
public struct TokenStoreError: Error, Sendable, CustomStringConvertible {
    /// A sentence for the user, without any of the token.
    public let description: String

    /// Makes an error.
    public init(_ description: String) {
        self.description = description
    }
}

import SluiceHTTP

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

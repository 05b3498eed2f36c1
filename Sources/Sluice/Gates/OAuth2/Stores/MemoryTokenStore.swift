import SluiceHTTP

/// Keeps a token as long as the store is held, and no longer.
public final class MemoryTokenStore: TokenStore {
    private let token: Locked<OAuth2.Token?>

    /// Makes a store.
    ///
    /// - Parameter token: What it holds at first, nothing by default.
    public init(_ token: OAuth2.Token? = nil) {
        self.token = Locked(token)
    }

    /// The token.
    public func load() async -> OAuth2.Token? {
        token.withLock { $0 }
    }

    /// Keeps a token.
    public func save(_ token: OAuth2.Token) async {
        self.token.withLock { $0 = token }
    }

    /// Removes the token.
    public func delete() async {
        token.withLock { $0 = nil }
    }
}

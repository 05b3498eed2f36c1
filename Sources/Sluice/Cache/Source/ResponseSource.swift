/// Where a response came from.
///
/// ```swift
/// let response = await request.sender().response
/// if case .cache(let use) = response.source, !use.isFresh { banner.show("As of \(use.age) ago") }
/// ```
public enum ResponseSource: Sendable, Hashable {
    /// The server.
    case server
    /// The cache.
    case cache(CacheUse)

    /// Whether it came from the cache, asked again or not.
    public var isCache: Bool {
        if case .cache = self { true } else { false }
    }
}

/// How a cache answered.
public struct CacheUse: Sendable, Hashable {
    /// How old the response is: since its server made or last confirmed it (RFC 9111 §4.2.3), or, where a ``DataSource`` asked for it,
    /// since it was kept.
    public var age: Duration
    /// Whether it may be given without asking the server; what a ``DataSource`` asked for always may.
    public var isFresh: Bool
    /// Whether the server has just said that it still holds (RFC 9110 §15.4.5).
    public var isRevalidated: Bool
    /// Whether another request that was under way brought it.
    public var isShared: Bool

    /// Makes a fresh one.
    public init(age: Duration, isFresh: Bool = true, isRevalidated: Bool = false, isShared: Bool = false) {
        self.age = age
        self.isFresh = isFresh
        self.isRevalidated = isRevalidated
        self.isShared = isShared
    }
}

/// The source of a response.
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

    /// True if the response came from the cache, revalidated or not.
    public var isCache: Bool {
        if case .cache = self { true } else { false }
    }
}

/// Details of a response from the cache.
public struct CacheUse: Sendable, Hashable {
    /// The age of the response: since the origin server generated or last validated it (RFC 9111 §4.2.3), or, for a
    /// ``DataSource``, since it was stored.
    public var age: Duration
    /// True if the response is fresh. Responses of a ``DataSource`` always are.
    public var isFresh: Bool
    /// True if the origin server has just validated the response (RFC 9110 §15.4.5).
    public var isRevalidated: Bool
    /// True if a concurrent request fetched the response.
    public var isShared: Bool

    /// Creates details, by default of a fresh response.
    public init(age: Duration, isFresh: Bool = true, isRevalidated: Bool = false, isShared: Bool = false) {
        self.age = age
        self.isFresh = isFresh
        self.isRevalidated = isRevalidated
        self.isShared = isShared
    }
}

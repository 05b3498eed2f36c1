import SluiceHTTP

/// The source of a response: the server or a stored response to an earlier request.
///
/// ```swift
/// let feed = client.get("feed", as: [Post].self).dataSource(.cacheThenServer)
/// for try await posts in feed.sender().values { show(posts) }      // the stored posts, then the server's
/// ```
///
/// The cache is read before any gate or interceptor, so that a program without network or token can show stored data.
/// All sources except ``server`` and ``cache`` store each successful response. Data sources are separate from the HTTP
/// cache (``Caching/http``), which comes after the interceptors and follows the server's cache directives.
///
/// If HTTP caching is enabled, a fresh response from the HTTP cache counts as the server's response;
/// ``CachePolicy/reload`` requests a newer one. A client's data source applies to safe methods only: unsafe requests
/// are always sent, unless the request itself sets a source. Downloads and streams ignore data sources.
public struct DataSource: Sendable {
    enum Kind: Sendable {
        case server, refresh, cache, cacheElseServer, cacheThenServer, firstLaunch
        case custom(
            choice: @Sendable (HTTPRequest, ServerResponse?) async -> CacheChoice,
            storing: @Sendable (ServerResponse) -> Bool
        )
    }

    let kind: Kind

    /// The server. The cache is neither read nor written.
    public static let server = DataSource(kind: .server)
    /// The server, whose response replaces the stored one. The cache is not read, and the HTTP cache validates its
    /// response with the server.
    public static let refresh = DataSource(kind: .refresh)
    /// The stored response only; ``SluiceError/Code/cacheMiss`` if there is none.
    public static let cache = DataSource(kind: .cache)
    /// The stored response; the server if there is none or if it can no longer be decoded.
    public static let cacheElseServer = DataSource(kind: .cacheElseServer)
    /// The stored response, if there is one, and then the server's response, both through ``RequestSender/values``.
    /// ``RequestSender/value`` returns the server's response.
    public static let cacheThenServer = DataSource(kind: .cacheThenServer)
    /// Like ``cacheThenServer`` for the first request of the process with a given cache key. Later requests go to the
    /// server, and their responses are stored.
    public static let firstLaunch = DataSource(kind: .firstLaunch)

    /// A source that the app decides on.
    ///
    /// ```swift
    /// .custom { _, stored in
    ///     stored == nil ? .send : .useStoredThenSend
    /// }
    /// ```
    ///
    /// - Parameters:
    ///   - storing: Called with an accepted response; returns true to store it. The default stores every response.
    ///   - choice: Called with the request and its stored response, or nil if there is none. Returns the decision.
    /// - Returns: A data source.
    public static func custom(
        storing: @escaping @Sendable (_ response: ServerResponse) -> Bool = { _ in true },
        _ choice: @escaping @Sendable (_ request: HTTPRequest, _ stored: ServerResponse?) async -> CacheChoice
    ) -> DataSource {
        DataSource(kind: .custom(choice: choice, storing: storing))
    }

    /// True if the source reads or stores responses.
    var usesStore: Bool {
        if case .server = kind { false } else { true }
    }

    /// True if the source never sends a request.
    var isCacheOnly: Bool {
        if case .cache = kind { true } else { false }
    }

    /// Returns true if an accepted response is stored.
    func stores(_ response: ServerResponse) -> Bool {
        switch kind {
        case .server, .cache: false
        case .refresh, .cacheElseServer, .cacheThenServer, .firstLaunch: true
        case .custom(_, let storing): storing(response)
        }
    }
}

/// The decision of an app about a request: ``DataSource/custom(storing:_:)``.
public enum CacheChoice: Sendable, Hashable {
    /// Returns the stored response and sends nothing; ``SluiceError/Code/cacheMiss`` if there is none.
    case useStored
    /// Sends the request.
    case send
    /// Returns the stored response and then sends the request, like ``DataSource/cacheThenServer``.
    case useStoredThenSend
}

import SluiceHTTP

/// Where a request gets its answer from: the server, or what an earlier one brought.
///
/// ```swift
/// let feed = client.codable.request("feed").dataSource(.cacheThenServer)
/// for try await posts in feed.sender().values { show(posts) }      // what there was, then what there is
/// ```
///
/// What is kept is asked for before any gate or interceptor, so that a program without network or token can show what it has. Each
/// success of a request that may ask for it later is kept: all sources but ``server`` and ``cache`` do so. This has nothing to do with
/// HTTP's own caching (``Caching/http``), which sits behind the interceptors and follows what the server says.
///
/// Where HTTP's caching is on, what it holds fresh counts as the server's answer; ``CachePolicy/reload`` asks for a newer one. A source of the
/// client's is for safe methods only: what changes something is sent each time, unless the request itself has a source. Downloads and
/// streams do not look at what is kept.
public struct DataSource: Sendable {
    enum Kind: Sendable {
        case server, cache, cacheElseServer, cacheThenServer, firstLaunch
        case custom(Choice, Keeping)
    }

    /// What to do about a request, by what is kept for it; nil if nothing is.
    public typealias Choice = @Sendable (_ request: HTTPRequest, _ kept: ServerResponse?) async -> CacheChoice
    /// Whether to keep a response which was accepted, for next time.
    public typealias Keeping = @Sendable (_ response: ServerResponse) -> Bool

    let kind: Kind

    /// The server; nothing is read or kept.
    public static let server = DataSource(kind: .server)
    /// What is kept, and nothing else: ``SluiceError/Code/cacheMiss`` if nothing is.
    public static let cache = DataSource(kind: .cache)
    /// What is kept; the server if nothing is, or if no model can be made of it any longer.
    public static let cacheElseServer = DataSource(kind: .cacheElseServer)
    /// What is kept, if anything is, and then the server: both through ``RequestSender/values``, in this order. ``RequestSender/value`` gives
    /// the server's.
    public static let cacheThenServer = DataSource(kind: .cacheThenServer)
    /// Like ``cacheThenServer`` the first time that the process asks for something, then the server.
    public static let firstLaunch = DataSource(kind: .firstLaunch)

    /// What the app decides.
    ///
    /// ```swift
    /// .custom { _, kept in
    ///     kept == nil ? .send : .useKeptThenSend
    /// }
    /// ```
    ///
    /// - Parameters:
    ///   - keeping: Whether to keep a response that was accepted; every one by default.
    ///   - choice: Sees the request and what is kept for it, and decides whether it is sent.
    /// - Returns: A data source.
    public static func custom(keeping: @escaping Keeping = { _ in true }, _ choice: @escaping Choice) -> DataSource {
        DataSource(kind: .custom(choice, keeping))
    }
}

/// What an app decides about a request: ``DataSource/custom(keeping:_:)``.
public enum CacheChoice: Sendable, Hashable {
    /// Gives what is kept and sends nothing; ``SluiceError/Code/cacheMiss`` if nothing is.
    case useKept
    /// Asks the server.
    case send
    /// Gives what is kept and then asks the server, as ``DataSource/cacheThenServer`` does.
    case useKeptThenSend
}

extension DataSource {
    /// Whether what is kept is looked at.
    var reads: Bool {
        if case .server = kind { false } else { true }
    }

    /// Whether the server is never asked.
    var isCacheOnly: Bool {
        if case .cache = kind { true } else { false }
    }

    /// Whether a response which was accepted is kept.
    func keeps(_ response: ServerResponse) -> Bool {
        switch kind {
        case .server, .cache: false
        case .cacheElseServer, .cacheThenServer, .firstLaunch: true
        case .custom(_, let keeping): keeping(response)
        }
    }
}

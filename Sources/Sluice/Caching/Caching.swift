import SluiceFoundation
import SluiceHTTP

/// The use of the client's ``APIClient/Configuration/cache`` by requests.
public struct Caching: Sendable {
    /// The data source of responses. The default is the server.
    public var source: DataSource
    /// The rule for the cache keys of a ``DataSource``. The default is method, URL and parameters.
    public var key = CacheKeyRule.methodURLParameters
    /// The expiration of entries stored for a ``DataSource``; nil, the default, for that of the store.
    public var expiration: CacheExpiration?
    /// The tags of stored entries. Entries with the same tag can be removed together.
    public var tags: Set<String>
    /// True to keep responses, also those of the HTTP cache, off the disk. An existing copy there is removed when a new
    /// response is stored. The default is false.
    public var storesInMemoryOnly = false
    /// The partition of stored entries, such as a user's ID. A partition never sees the entries of another one.
    ///
    /// The default is empty, which is the shared partition. In the shared partition, a response to a request with
    /// credentials is served only to requests with the same credentials, unless the response is `public`. The
    /// credentials are `Authorization`, `Cookie` and the client's ``APIClient/Configuration/secretHeaders``, its
    /// ``APIClient/Configuration/credentials``, its client certificate and its cookie jar. A renewed token therefore
    /// starts with an empty cache, and so does a cookie jar in each run of a program. A certificate in a file is
    /// compared by its path.
    ///
    /// A ``DataSource`` is read before gates and interceptors, so it does not see credentials that they add. Clients
    /// whose users differ only in those credentials need partitions. With a partition, credentials are ignored.
    public var partition = ""
    /// The users that the HTTP cache serves: the rules of RFC 9111 for private or for shared caches. The default is
    /// ``CacheMode/private``.
    ///
    /// It has no effect on a ``DataSource``. A partition stays separate in both modes. If it is one user's, a response
    /// that a shared cache may serve to anyone is stored once for each of them.
    public var mode = CacheMode.private
    /// The options of the HTTP cache (RFC 9111); nil to disable it.
    public var http: HTTPCaching? = HTTPCaching()

    /// Creates options, by default for the server only, with HTTP caching.
    ///
    /// - Parameters:
    ///   - source: The data source of responses.
    ///   - expiration: The expiration of entries stored for a ``DataSource``; nil for that of the store.
    ///   - tags: The tags of stored entries.
    public init(source: DataSource = .server, expiration: CacheExpiration? = nil, tags: Set<String> = []) {
        self.source = source
        self.expiration = expiration
        self.tags = tags
    }
}

// MARK: - Data source

/// The source of a response: the server or a stored response to an earlier request.
///
/// ```swift
/// let feed = client.get("feed", as: [Post].self).dataSource(.cacheThenServer)
/// for try await posts in feed.sender().values { show(posts) }      // the stored posts, then the server's
/// ```
///
/// The cache is read before any gate or interceptor, so that a program without network or token can show stored data.
/// All sources except ``server`` and ``cache`` store each successful response that the server sends or revalidates. Data
/// sources are separate from the HTTP cache (``Caching/http``), which comes after the interceptors and
/// follows the server's cache directives.
///
/// If HTTP caching is enabled, a fresh response from the HTTP cache counts as the server's response, but is not stored;
/// ``CachePolicy/reload`` requests a newer one. A client's data source applies to safe methods only: unsafe requests
/// are always sent, unless the request itself sets a source. Downloads and streams fail with
/// ``SluiceError/Code/cacheMiss`` for ``cache``, and ignore the other data sources.
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
    /// response with the server, unless a `Cache-Control` field of the request permits a stored response.
    public static let refresh = DataSource(kind: .refresh)
    /// The stored response only; ``SluiceError/Code/cacheMiss`` if there is none, or if the client has no cache.
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

// MARK: - Cache key rule

/// A rule that derives the cache key of a request to a ``DataSource``.
public struct CacheKeyRule: Sendable {
    private let name: @Sendable (HTTPRequest) -> String?

    /// The method, the URL with its query, and the body. The order of JSON members is irrelevant. Requests with a file
    /// or stream body are never cached.
    public static let methodURLParameters = CacheKeyRule { request in
        guard let digest = bodyDigest(of: request) else { return nil }
        return "\(request.method) \(request.url)" + (digest.isEmpty ? "" : " \(digest)")
    }

    /// The method and the URL without its query. The body is ignored.
    public static let methodURL = CacheKeyRule { request in
        "\(request.method) \(request.scheme)://\(request.authority)\(request.path.prefix { $0 != "?" })"
    }

    /// A fixed name.
    public static func custom(_ name: String) -> CacheKeyRule { CacheKeyRule { _ in name } }

    /// A name computed from the request. If it is nil, the request does not use the cache.
    public static func custom(_ name: @escaping @Sendable (HTTPRequest) -> String?) -> CacheKeyRule {
        CacheKeyRule(name: name)
    }

    private init(name: @escaping @Sendable (HTTPRequest) -> String?) {
        self.name = name
    }

    /// Returns the cache key of a request for an identity; nil if the request does not use the cache.
    ///
    /// - Parameters:
    ///   - request: The request.
    ///   - identity: The owner of the response.
    ///   - connection: The options of the client, which may replace the server that the URL names.
    ///   - storesEncoded: True if encoded bodies are not decoded.
    /// - Returns: The key.
    func key(
        for request: HTTPRequest,
        _ identity: CacheIdentity,
        _ connection: ConnectionOptions = ConnectionOptions(),
        storesEncoded: Bool = false
    ) -> CacheKey? {
        guard var name = name(request) else { return nil }
        name += connection.selection(of: request)
        if let digest = identity.digest { name += "\nidentity: \(digest)" }
        if storesEncoded { name += "\nencoded" }
        return CacheKey(name, in: .responses, partition: identity.partition)
    }

    /// Returns JSON with sorted members, because their order after encoding differs between runs of a program.
    private static func canonical(_ body: Data, _ contentType: String?) -> Data {
        guard contentType?.contains("json") == true else { return body }
        return (try? JSON(parsing: body))?.encoded() ?? body
    }

    /// Returns the digest of the body: empty without a body, nil if the body is not in memory.
    private static func bodyDigest(of request: HTTPRequest) -> String? {
        switch request.body.source {
        case .none: ""
        case .data(let data): SystemSHA256.hexDigest(of: canonical(data, request.headers[.contentType]))
        case .file, .stream, .deferred, .encoded: nil
        }
    }
}

/// The owner of a response: a partition or the credentials of the request.
struct CacheIdentity: Sendable {
    /// The partition that the app has set.
    let partition: String
    /// A digest of the credentials; nil if the request has none or a partition is set.
    let digest: String?

    /// Creates the identity of a request.
    ///
    /// - Parameters:
    ///   - request: The request.
    ///   - credentials: The credentials for authentication challenges.
    ///   - cookies: The cookie jar of the client.
    ///   - certificate: The digest of the certificate that the client presents to the server.
    ///   - secretHeaders: The client's header fields that hold secrets, besides `Authorization` and `Cookie`.
    ///   - partition: The partition; empty for none.
    init(
        _ request: HTTPRequest,
        credentials: ChallengeCredentials? = nil,
        cookies: CookieJar? = nil,
        certificate: [UInt8]? = nil,
        secretHeaders: [HTTPHeaderName] = [],
        partition: String
    ) {
        self.partition = partition
        guard partition.isEmpty else {
            digest = nil
            return
        }
        var secrets: [[UInt8]] = []
        func append(_ name: HTTPHeaderName) {
            guard request.headers.contains(name) else { return }
            for value in request.headers.fieldValues(for: name) {
                secrets.append(Array("\(name.rawValue.lowercased()): ".utf8) + value.bytes)
            }
        }
        append(.authorization)
        append(.cookie)
        for name in secretHeaders { append(name) }
        if let credentials {
            // The length separates the two, because the user name of Digest may contain a colon.
            let (user, password) = (credentials.user, credentials.password)
            secrets.append(Array("credentials: \(user.utf8.count) \(user):\(password)".utf8))
        }
        if let certificate { secrets.append(Array("certificate: ".utf8) + certificate) }
        if let cookies { secrets.append(Array("jar: \(cookies.id)".utf8)) }
        if secrets.isEmpty {
            digest = nil
        } else {
            let text = Data(secrets.joined(separator: "\n".utf8))
            // Without a digest, the response matches no other request rather than every request.
            digest = SystemSHA256.hexDigest(of: text) ?? UUID().uuidString
        }
    }
}

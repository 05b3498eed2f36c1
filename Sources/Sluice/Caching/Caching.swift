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
    /// True to keep responses, also those of the HTTP cache, off the disk. An existing copy there is removed. The
    /// default is false.
    public var storesInMemoryOnly = false
    /// The partition of stored entries, such as a user's ID. A partition never sees the entries of another one.
    ///
    /// The default is empty, which is the shared partition. In the shared partition, a response to a request with
    /// credentials is served only to requests with the same credentials, unless the response is `public`. The
    /// credentials are `Authorization`, `Cookie` and the client's ``APIClient/Configuration/secretHeaders``, its
    /// ``APIClient/Configuration/credentials`` and its cookie jar. A renewed token therefore starts with an empty
    /// cache.
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

/// The use of the client's ``APIClient/Configuration/cache`` by requests.
public struct Caching: Sendable {
    /// The data source of responses. The default is the server.
    public var source = DataSource.server
    /// The rule for the cache keys of a ``DataSource``. The default is method, URL and parameters.
    public var key = CacheKeyRule.methodURLParameters
    /// The expiration of entries stored for a ``DataSource``; nil, the default, for that of the store.
    public var expiration: CacheExpiration?
    /// The tags of stored entries. Entries with the same tag can be removed together.
    public var tags: Set<String> = []
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
    /// The options of the HTTP cache (RFC 9111); nil to disable it.
    public var http: HTTPCaching? = HTTPCaching()

    /// Creates the default options: server only, with HTTP caching.
    public init() {}
}

extension ModifiableRequest {
    /// Sets the source of the response: the server or a stored response to an earlier request.
    ///
    /// ```swift
    /// let feed = client.codable.request("feed").dataSource(.cacheElseServer, expiration: .days(1))
    /// ```
    ///
    /// - Parameters:
    ///   - source: The data source.
    ///   - key: The rule for the cache key; nil for the client's rule.
    ///   - expiration: The expiration of the stored response; nil for the client's.
    ///   - tags: Tags by which stored responses can be removed together, in addition to the client's.
    /// - Returns: A copy with that source.
    public consuming func dataSource(
        _ source: DataSource,
        key: CacheKeyRule? = nil,
        expiration: CacheExpiration? = nil,
        tags: Set<String> = []
    ) -> Self {
        caching { caching in
            caching.source = source
            if let key { caching.key = key }
            if let expiration { caching.expiration = expiration }
            caching.tags.formUnion(tags)
        }
    }

    /// Sets the cache partition, such as a user's ID. A partition never sees the entries of another one.
    public consuming func cachePartition(_ partition: String) -> Self { caching { $0.partition = partition } }

    /// Sets the options of the HTTP cache (RFC 9111); nil to disable it.
    public consuming func httpCaching(_ http: HTTPCaching?) -> Self { caching { $0.http = http } }

    /// Changes the caching options of the request.
    public consuming func caching(_ change: @escaping @Sendable (inout Caching) -> Void) -> Self {
        modified { $0.options.caching.change(change) }
    }
}

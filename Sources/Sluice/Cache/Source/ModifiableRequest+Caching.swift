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

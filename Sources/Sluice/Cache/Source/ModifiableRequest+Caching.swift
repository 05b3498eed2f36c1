extension ModifiableRequest {
    /// Sets where the answer comes from: the server, or what an earlier request brought.
    ///
    /// ```swift
    /// let feed = client.codable.request("feed").dataSource(.cacheElseServer, expiration: .days(1))
    /// ```
    ///
    /// - Parameters:
    ///   - source: Where from.
    ///   - key: What makes another request ask for the same; nil for the client's rule.
    ///   - expiration: How long what is kept may be used; nil for the client's.
    ///   - tags: By what it can be removed together with others, besides the client's.
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

    /// Sets whose the answer is, a user's ID, say: what is kept in one partition is never seen in another.
    public consuming func cachePartition(_ partition: String) -> Self { caching { $0.partition = partition } }

    /// Sets how HTTP's own caching goes (RFC 9111), nil for none of it.
    public consuming func httpCaching(_ http: HTTPCaching?) -> Self { caching { $0.http = http } }

    /// Changes how the request uses the client's cache.
    public consuming func caching(_ change: @escaping @Sendable (inout Caching) -> Void) -> Self {
        modified { $0.options.caching.change(change) }
    }
}

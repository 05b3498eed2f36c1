import SluiceHTTP

/// The options of a cache that stores and reuses responses as RFC 9111 defines.
///
/// ```swift
/// let news = APIClient(baseURL: "https://news.example") {
///     $0.cache = store
///     $0.caching.http = HTTPCaching(staleIfError: .seconds(86_400))
/// }
/// ```
///
/// The header fields of a response take precedence: `Cache-Control`, `Expires`, `Vary` and the others. These options
/// apply where the response says nothing. ``CacheMode`` determines the rules that differ for private and shared caches.
///
/// The cache stores responses to GET. If a response repeats a directive with different values, the strictest value
/// counts. A lifetime that cannot be parsed makes the response stale (RFC 9111 §4.2.1).
public struct HTTPCaching: Sendable, Hashable {
    /// The fraction of the time since its last modification for which a response without an explicit lifetime stays
    /// fresh (RFC 9111 §4.2.2). The default is 0.1; 0 disables heuristic freshness.
    ///
    /// It applies if the status allows it (200, 203, 204, 206, 300, 301, 308, 404, 405, 410, 414, 501) or the response
    /// is `public`. It never applies to a URL with a query, because such responses are usually computed.
    public var heuristicFraction: Double
    /// The maximum heuristic freshness lifetime of a response without an explicit lifetime. The default is one day.
    public var maximumHeuristicLifetime: Duration
    /// The time after its freshness lifetime for which a response may be served if the server cannot be reached or
    /// responds with 500, 502, 503 or 504 (RFC 5861 §4), or if a gate refuses the request. It applies if neither the
    /// response nor the request has `stale-if-error`, and to no stored error but 404 and 410. The default is nil, for none.
    ///
    /// Responses with `must-revalidate` or `no-cache` are never served stale, and by a shared cache neither are those
    /// with `proxy-revalidate` or `s-maxage`. Neither is a response that the request does not accept because of its
    /// `max-age` or `no-cache`.
    public var staleIfError: Duration?
    /// The time after its freshness lifetime for which a response may be served while it is revalidated in the
    /// background (RFC 5861 §3). It applies if the response has no `stale-while-revalidate`, and to no stored error but 404
    /// and 410. The default is nil, for none.
    public var staleWhileRevalidate: Duration?
    /// True if partial responses are stored, combined and completed (RFC 9111 §3.3, §3.4). The default is true. Range
    /// requests are served from complete stored responses in either case.
    public var storesPartialResponses: Bool
    /// The name of the cache in `Cache-Status` (RFC 9211 §2). The default is `Sluice`.
    public var name: String

    /// Creates options.
    ///
    /// - Parameters:
    ///   - heuristicFraction: The fraction of the time since its last modification for which a response without an
    ///     explicit lifetime stays fresh.
    ///   - maximumHeuristicLifetime: The maximum heuristic freshness lifetime.
    ///   - staleIfError: The time after its freshness lifetime for which a response may be served if the server
    ///     fails.
    ///   - staleWhileRevalidate: The time after its freshness lifetime for which a response may be served while it is
    ///     revalidated.
    ///   - storesPartialResponses: True to store partial responses.
    ///   - name: The name of the cache in `Cache-Status`.
    public init(
        heuristicFraction: Double = 0.1,
        maximumHeuristicLifetime: Duration = .seconds(86_400),
        staleIfError: Duration? = nil,
        staleWhileRevalidate: Duration? = nil,
        storesPartialResponses: Bool = true,
        name: String = "Sluice"
    ) {
        self.heuristicFraction = heuristicFraction
        self.maximumHeuristicLifetime = maximumHeuristicLifetime
        self.staleIfError = staleIfError
        self.staleWhileRevalidate = staleWhileRevalidate
        self.storesPartialResponses = storesPartialResponses
        self.name = name
    }
}

// MARK: - Cache mode

/// The users that an HTTP cache serves (RFC 9111 §1): one of them, or many.
///
/// ```swift
/// let feed = APIClient(baseURL: "https://feed.example") {
///     $0.cache = store
///     $0.caching.mode = .shared(targetedFields: ["CDN-Cache-Control"])
/// }
/// ```
///
/// In both modes, a response to a request with credentials is reused only for requests with the same ones, unless it
/// allows more, and a partition never sees the entries of another one. A store can serve clients of both modes: a
/// shared cache does not use a stored response that it would not have stored.
public struct CacheMode: Sendable, Hashable {
    let isShared: Bool
    /// The names of targeted fields, the most specific one first.
    let targetedFields: [HTTPHeaderName]

    /// A private cache, for a program with one user, or for one that separates its users. `s-maxage`,
    /// `proxy-revalidate`, `private` and targeted fields have no effect.
    public static let `private` = CacheMode(isShared: false, targetedFields: [])

    /// A shared cache, for a service that answers many users with one client.
    ///
    /// - `s-maxage` takes precedence over `max-age` and `Expires` (§5.2.2.10).
    /// - Stale responses with `s-maxage`, `proxy-revalidate` or `must-revalidate` are not used without a validation,
    ///   whatever `stale-while-revalidate`, `stale-if-error`, `max-stale` and the options permit (§4.2.4).
    /// - Responses with `private` are not stored. If it has field names, these fields are not stored (§5.2.2.7); a
    ///   response is not stored if the cache needs one of them.
    /// - A response to a request with `Authorization` is stored only with `public`, `s-maxage` or `must-revalidate`
    ///   (§3.5). The client's secret headers and challenge credentials count as `Authorization`.
    /// - A response with `public` or `s-maxage` is reused for any credentials. With `must-revalidate` alone, which
    ///   §3.5 would also permit to be reused for others, the credentials must be the same.
    /// - A response with `Set-Cookie` is stored only with `public` or `s-maxage`, and without this field. RFC 9111
    ///   would permit more (§7.3).
    public static let shared = CacheMode(isShared: true, targetedFields: [])

    /// A shared cache that is controlled by targeted fields (RFC 9213).
    ///
    /// The first of these fields that is in a response, not empty and valid has the directives for this cache.
    /// `Cache-Control` and `Expires` are then ignored, also if they are stricter. A field that violates the grammar of
    /// structured fields in any place is ignored. All fields are passed on.
    ///
    /// - Parameter targetedFields: The names of the fields, such as `CDN-Cache-Control`, the most specific one first.
    /// - Returns: The mode ``shared`` with these fields.
    public static func shared(targetedFields: [HTTPHeaderName]) -> CacheMode {
        CacheMode(isShared: true, targetedFields: targetedFields)
    }
}

// MARK: - Rules

extension CacheMode {
    /// Returns the directives for this cache (RFC 9111 §5.2.2, RFC 9213 §2.2).
    func directives(of headers: HTTPHeaders) -> ResponseDirectives {
        ResponseDirectives(targets: targetedFields, in: headers) ?? ResponseDirectives(headers)
    }

    /// Returns the metadata of a stored response for this cache; nil for a value.
    func metadata(of entry: CacheEntry) -> CacheMetadata? {
        targetedFields.isEmpty ? entry.response?.metadata : entry.response.map { metadata(of: $0) }
    }

    /// Returns the metadata of a response for this cache. Only that of a targeted field is parsed for each use.
    func metadata(of response: StoredResponse) -> CacheMetadata {
        let isTargeted = targetedFields.contains { response.head.headers.contains($0) }
        return isTargeted ? CacheMetadata(response, targets: targetedFields) : response.metadata
    }

    /// True if a response may be reused for requests with other credentials: it is `public`, or it has `s-maxage` and
    /// the cache is shared (RFC 9111 §3.5). A contradictory `private` prevails (§4.2.1). A shared cache leaves out the
    /// fields that `private` names.
    func isForAnyone(_ directives: ResponseDirectives) -> Bool {
        guard directives.isPublic || isShared && (directives.sharedMaxAge ?? -1) >= 0 else { return false }
        return !directives.isPrivate && (isShared || directives.privateFields.isEmpty)
    }

    /// True if a stale response must be validated before use (§4.2.4, §5.2.2.2, §5.2.2.8, §5.2.2.10).
    func mustRevalidate(_ directives: ResponseDirectives) -> Bool {
        directives.mustRevalidate || isShared && (directives.proxyRevalidate || directives.sharedMaxAge != nil)
    }

    /// Returns the explicit freshness lifetime of a response (§4.2.1): a shared cache prefers `s-maxage`.
    func explicitLifetime(of metadata: CacheMetadata) -> Double? {
        guard isShared, let sharedMaxAge = metadata.directives.sharedMaxAge else { return metadata.explicitLifetime }
        return max(sharedMaxAge, 0)
    }

    /// Returns the fields that this cache does not store; nil if it must not store the response.
    ///
    /// - Parameters:
    ///   - directives: The directives of the response for this cache.
    ///   - headers: The header fields of the response.
    ///   - isAuthorized: True if the request has credentials that count as `Authorization`.
    /// - Returns: The names of the fields; none for a private cache.
    func omittedFields(
        _ directives: ResponseDirectives,
        _ headers: HTTPHeaders,
        isAuthorized: Bool
    ) -> [HTTPHeaderName]? {
        guard isShared else { return [] }
        if directives.isPrivate { return nil }
        if !directives.privateFields.isEmpty,
            directives.privateFields.contains(where: { StoredHead.isNeeded($0) || targetedFields.contains($0) })
        {
            return nil
        }
        if isAuthorized, !isForAnyone(directives), !directives.mustRevalidate { return nil }
        let cookies = CacheMetadata.cookieFields.filter { headers.contains($0) }
        if !cookies.isEmpty, !isForAnyone(directives) { return nil }
        return directives.privateFields + cookies
    }

    /// True if this cache may use a stored response for a request. A cache with another mode may have stored it.
    func mayUse(_ entry: CacheEntry, _ directives: ResponseDirectives, isAuthorized: Bool) -> Bool {
        if directives.isNoStore, !directives.permitStoring(entry.response?.head.status) { return false }
        guard isShared else { return true }
        guard let headers = entry.response?.head.headers else { return false }
        let omitted = omittedFields(directives, headers, isAuthorized: isAuthorized)
        return omitted?.contains { headers.contains($0) } == false
    }
}

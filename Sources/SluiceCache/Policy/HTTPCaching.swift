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
    /// responds with 500, 502, 503 or 504 (RFC 5861 §4). It applies if neither the response nor the request has
    /// `stale-if-error`. The default is nil, for none.
    ///
    /// Responses with `must-revalidate` or `no-cache` are never served stale, and by a shared cache neither are those
    /// with `proxy-revalidate` or `s-maxage`. Neither is a response that the request does not accept because of its
    /// `max-age` or `no-cache`.
    public var staleIfError: Duration?
    /// The time after its freshness lifetime for which a response may be served while it is revalidated in the
    /// background (RFC 5861 §3). It applies if the response has no `stale-while-revalidate`. The default is nil, for
    /// none.
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

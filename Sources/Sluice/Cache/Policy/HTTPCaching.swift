/// How a client keeps and reuses responses by the rules of HTTP (RFC 9111), as a private cache does.
///
/// ```swift
/// let news = APIClient(baseURL: "https://news.example") {
///     $0.cache = store
///     $0.caching.http = HTTPCaching(staleIfError: .seconds(86_400))
/// }
/// ```
///
/// What a response says of itself always comes first: `Cache-Control`, `Expires`, `Vary` and the rest. These options fill in what it
/// leaves open. `s-maxage`, `proxy-revalidate` and `private` speak to caches that many users share, and mean nothing here.
///
/// Kept are responses to GET, those that set cookies included, since they stay with the one who got them. Where a response says
/// the same thing twice and differently, the stricter one holds; a lifetime that cannot be read is none (RFC 9111 §4.2.1).
public struct HTTPCaching: Sendable, Hashable {
    /// Which part of the time since its last modification a response stays fresh that names no lifetime (RFC 9111 §4.2.2); 0.1 by
    /// default, 0 for none at all.
    ///
    /// It is used where the status allows it (200, 203, 204, 206, 300, 301, 308, 404, 405, 410, 414, 501) or the response is
    /// `public`, and never for a URL with a query: such a response is mostly computed, whatever date it bears.
    public var heuristicFraction: Double
    /// How long a response may stay fresh that names no lifetime; a day by default.
    public var maximumHeuristicLifetime: Duration
    /// How long after its lifetime a response may be given where the server cannot be reached or answers 500, 502, 503 or 504
    /// (RFC 5861 §4), if neither it nor the request says `stale-if-error`; nil, the default, for not at all.
    ///
    /// Those with `must-revalidate` or `no-cache` never are, nor is anything a request did not want: an age above its `max-age`,
    /// anything unvalidated where it says `no-cache`.
    public var staleIfError: Duration?
    /// How long after its lifetime a response may be given at once while it is revalidated behind that (RFC 5861 §3), if it does not
    /// say `stale-while-revalidate` itself; nil, the default, for not at all.
    public var staleWhileRevalidate: Duration?
    /// Whether parts of responses are kept, put together and completed (RFC 9111 §3.3, §3.4); true by default. Ranges are answered
    /// from whole responses either way.
    public var storesPartialResponses: Bool
    /// What the cache calls itself in `Cache-Status` (RFC 9211 §2); `Sluice` by default.
    public var name: String

    /// Makes options.
    ///
    /// - Parameters:
    ///   - heuristicFraction: Which part of the time since its last modification a response stays fresh that names no lifetime.
    ///   - maximumHeuristicLifetime: How long such a response may stay fresh.
    ///   - staleIfError: How long after its lifetime a response may be given where the server fails.
    ///   - staleWhileRevalidate: How long after its lifetime a response may be given while it is revalidated.
    ///   - storesPartialResponses: Whether parts of responses are kept.
    ///   - name: What the cache calls itself in `Cache-Status`.
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

import SluiceHTTP

/// The cache directives of a request: its `Cache-Control` (RFC 9111 §5.2.1, RFC 5861 §4), or its `Pragma` if it has
/// none (§5.4).
///
/// If a directive is repeated or malformed, the strictest interpretation counts.
struct RequestDirectives: Sendable, Hashable {
    /// The maximum age in seconds.
    var maxAge: Double?
    /// The minimum remaining freshness lifetime in seconds.
    var minFresh: Double?
    /// The accepted staleness in seconds; infinity for any staleness.
    var maxStale: Double?
    /// The accepted staleness in seconds if the server fails.
    var staleIfError: Double?
    var isNoCache = false
    var isNoStore = false
    var isOnlyIfCached = false

    init() {}

    init(_ headers: HTTPHeaders) {
        guard headers.contains(.cacheControl) else {
            isNoCache = CacheDirective.all(in: headers.values(for: .pragma)).contains { $0.name == "no-cache" }
            return
        }
        for directive in CacheDirective.all(in: headers.values(for: .cacheControl)) { add(directive) }
    }

    private mutating func add(_ directive: CacheDirective) {
        switch directive.name {
        case "max-age": maxAge = min(maxAge ?? .infinity, directive.seconds ?? 0)
        case "min-fresh": minFresh = max(minFresh ?? 0, directive.seconds ?? .infinity)
        case "max-stale":
            let isAny = directive.argument == nil && !directive.isMalformed
            maxStale = min(maxStale ?? .infinity, isAny ? .infinity : directive.seconds ?? -1)
        case "stale-if-error": staleIfError = min(staleIfError ?? .infinity, directive.seconds ?? -1)
        case "no-cache": isNoCache = true
        case "no-store": isNoStore = true
        case "only-if-cached": isOnlyIfCached = true
        default: break
        }
    }

    /// True if the request demands a fresher response than the response's own lifetime guarantees.
    var demandsFreshness: Bool { isNoCache || maxAge != nil || minFresh != nil }

    /// True if the request accepts a response of this age and lifetime without validation.
    func accepts(age: Double, lifetime: Double, isImmutable: Bool) -> Bool {
        if isNoCache { return false }
        // A reload sends `max-age=0`, which an immutable response ignores while it is fresh (RFC 8246 §2). `no-cache`
        // still applies.
        let isExempt = isImmutable && lifetime > age
        if let maxAge, !isExempt, age > maxAge || maxAge == 0 { return false }
        if let minFresh, lifetime - age < minFresh { return false }
        return true
    }
}

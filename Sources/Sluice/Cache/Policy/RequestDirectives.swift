import SluiceHTTP

/// What a request's `Cache-Control` wants of a cache (RFC 9111 §5.2.1, RFC 5861 §4), or its `Pragma` where it has none (§5.4).
///
/// Where something is said twice or cannot be read, the strictest that can be meant counts.
struct RequestDirectives: Sendable, Hashable {
    /// The greatest age, in seconds.
    var maxAge: Double?
    /// For how many seconds more it must be fresh.
    var minFresh: Double?
    /// For how many seconds it may be stale; infinite for any number.
    var maxStale: Double?
    /// For how many seconds it may be stale where the server fails.
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

    /// Whether it wants something newer than the response's own lifetime would have it.
    var demandsFreshness: Bool { isNoCache || maxAge != nil || minFresh != nil }

    /// Whether a response's age and lifetime are what is wanted, were it to be used without validation.
    func accepts(age: Double, lifetime: Double, isImmutable: Bool) -> Bool {
        if isNoCache { return false }
        // A reload says `max-age=0`; of what never changes none is needed (RFC 8246 §2). Only `no-cache` is stronger.
        let isExempt = isImmutable && lifetime > age
        if let maxAge, !isExempt, age > maxAge || maxAge == 0 { return false }
        if let minFresh, lifetime - age < minFresh { return false }
        return true
    }
}

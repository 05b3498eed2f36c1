import SluiceHTTP

extension CacheDirective {
    /// The argument as a number of seconds; nil if it is not a number.
    var seconds: Double? {
        isMalformed ? nil : argument.flatMap { DeltaSeconds.parse($0.utf8) }
    }

    /// Creates the directive of a member of a targeted field (RFC 9213 §2.1). It is malformed if its value has another
    /// type than the argument of the directive.
    init(_ name: String, _ value: StructuredDictionary.Value) {
        let isNumber = Self.numbers.contains(name)
        switch value {
        case .boolean(true): self.init(name: name, argument: nil, isMalformed: false)
        case .integer(let number): self.init(name: name, argument: String(number), isMalformed: !isNumber)
        case .string(let text): self.init(name: name, argument: text, isMalformed: isNumber)
        case .boolean, .token, .other: self.init(name: name, argument: nil, isMalformed: true)
        }
    }

    /// The directives of responses whose argument is a number of seconds.
    private static let numbers: Set = ["max-age", "s-maxage", "stale-if-error", "stale-while-revalidate"]
}

// MARK: - Directives of requests and responses

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

/// The cache directives of a response (RFC 9111 §5.2.2, RFC 5861, RFC 8246), from `Cache-Control` or from a targeted
/// field (RFC 9213).
///
/// If a directive is repeated, the smallest number counts. A number that cannot be parsed counts as 0 (§4.2.1). A
/// malformed permission is ignored. ``CacheMode`` determines which of them apply.
struct ResponseDirectives: Sendable, Hashable {
    /// `max-age` in seconds.
    var maxAge: Double?
    /// `s-maxage` in seconds; negative if one is not a number, which permits nothing.
    var sharedMaxAge: Double?
    /// `stale-while-revalidate` in seconds.
    var staleWhileRevalidate: Double?
    /// `stale-if-error` in seconds.
    var staleIfError: Double?
    var isNoStore = false
    /// True for `no-cache` without field names: the response must be validated before each use.
    var isNoCache = false
    /// The field names of `no-cache`. These fields are omitted unless the response is validated.
    var noCacheFields: [HTTPHeaderName] = []
    var mustRevalidate = false
    var proxyRevalidate = false
    var mustUnderstand = false
    var isPublic = false
    /// True for `private` without field names: the response is for one user.
    var isPrivate = false
    /// The field names of `private`. These fields are for one user.
    var privateFields: [HTTPHeaderName] = []
    var isImmutable = false

    init(_ headers: HTTPHeaders) {
        guard headers.contains(.cacheControl) else { return }
        for directive in CacheDirective.all(in: headers.values(for: .cacheControl)) { add(directive) }
    }

    /// Parses the first targeted field of a list that is valid and not empty; nil if there is none (RFC 9213 §2.2).
    init?(targets: [HTTPHeaderName], in headers: HTTPHeaders) {
        for name in targets where headers.contains(name) {
            let field = StructuredDictionary(headers.fieldValues(for: name))
            guard let field, !field.members.isEmpty else { continue }
            for (name, value) in field.members { add(CacheDirective(name, value)) }
            return
        }
        return nil
    }

    private mutating func add(_ directive: CacheDirective) {
        switch directive.name {
        case "max-age": maxAge = min(maxAge ?? .infinity, directive.seconds ?? 0)
        case "s-maxage": sharedMaxAge = min(sharedMaxAge ?? .infinity, directive.seconds ?? -1)
        case "stale-while-revalidate":
            staleWhileRevalidate = min(staleWhileRevalidate ?? .infinity, directive.seconds ?? 0)
        case "stale-if-error": staleIfError = min(staleIfError ?? .infinity, directive.seconds ?? 0)
        case "no-store": isNoStore = true
        case "no-cache":
            let fields = Self.names(in: directive)
            if fields.isEmpty { isNoCache = true } else { noCacheFields += fields }
        case "must-revalidate": mustRevalidate = true
        case "proxy-revalidate": proxyRevalidate = true
        case "must-understand": mustUnderstand = true
        case "public": isPublic = isPublic || !directive.isMalformed
        case "private":
            let fields = Self.names(in: directive)
            if fields.isEmpty { isPrivate = true } else { privateFields += fields }
        case "immutable": isImmutable = isImmutable || !directive.isMalformed
        default: break
        }
    }

    /// Parses the field names that a directive is limited to; empty if the directive or a name is malformed.
    private static func names(in directive: CacheDirective) -> [HTTPHeaderName] {
        guard !directive.isMalformed, let list = directive.argument else { return [] }
        var names: [HTTPHeaderName] = []
        for name in FieldElements(list.utf8[...]) {
            guard name.isToken else { return [] }
            names.append(HTTPHeaderName(String(Substring(name))))
        }
        return names
    }
}

// MARK: - Numbers

/// Numbers of seconds in cache fields (RFC 9111 §1.2.2).
enum DeltaSeconds {
    /// The value used for larger numbers and for an unknown age.
    static let limit = 2_147_483_648.0

    /// Parses a number that consists of digits only; nil for anything else, including a sign or a fraction.
    static func parse(_ text: some Collection<UInt8>) -> Double? {
        text.decimalNumber(overflow: .max).map { min(Double($0), limit) }
    }

    /// Clamps a computed time to the range from 0 to the limit; NaN becomes the limit.
    static func clamped(_ seconds: Double) -> Double {
        seconds.isNaN ? limit : min(max(seconds, 0), limit)
    }

    static func of(_ duration: Duration) -> Double {
        clamped(duration / .seconds(1))
    }
}

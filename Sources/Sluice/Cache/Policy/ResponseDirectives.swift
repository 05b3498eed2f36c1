import SluiceHTTP

/// The `Cache-Control` directives of a response that concern a private cache (RFC 9111 §5.2.2, RFC 5861, RFC 8246).
///
/// If a directive is repeated, the smallest number counts. A number that cannot be parsed counts as 0 (§4.2.1). A
/// malformed permission is ignored.
struct ResponseDirectives: Sendable, Hashable {
    /// `max-age` in seconds.
    var maxAge: Double?
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
    var mustUnderstand = false
    var isPublic = false
    var isPrivate = false
    var isImmutable = false

    init(_ headers: HTTPHeaders) {
        guard headers.contains(.cacheControl) else { return }
        for directive in CacheDirective.all(in: headers.values(for: .cacheControl)) { add(directive) }
    }

    private mutating func add(_ directive: CacheDirective) {
        switch directive.name {
        case "max-age": maxAge = min(maxAge ?? .infinity, directive.seconds ?? 0)
        case "stale-while-revalidate":
            staleWhileRevalidate = min(staleWhileRevalidate ?? .infinity, directive.seconds ?? 0)
        case "stale-if-error": staleIfError = min(staleIfError ?? .infinity, directive.seconds ?? 0)
        case "no-store": isNoStore = true
        case "no-cache":
            let fields = directive.isMalformed ? [] : Self.names(in: directive.argument ?? "")
            if fields.isEmpty { isNoCache = true } else { noCacheFields += fields }
        case "must-revalidate": mustRevalidate = true
        case "must-understand": mustUnderstand = true
        case "public": isPublic = isPublic || !directive.isMalformed
        // `private` restricts shared caches only, with or without field names.
        case "private": isPrivate = true
        case "immutable": isImmutable = isImmutable || !directive.isMalformed
        default: break
        }
    }

    /// Parses a list of field names; empty if one of them is not a valid name.
    private static func names(in list: String) -> [HTTPHeaderName] {
        var names: [HTTPHeaderName] = []
        for member in list.utf8.split(separator: UInt8(ascii: ",")) {
            let name = member.trimmingListSpace
            if name.isEmpty { continue }
            guard name.allSatisfy(\.isTokenCharacter) else { return [] }
            names.append(HTTPHeaderName(String(Substring(name))))
        }
        return names
    }
}

extension BidirectionalCollection<UInt8> where SubSequence == Self {
    /// The bytes without leading and trailing white space.
    var trimmingListSpace: Self {
        var text = drop(while: \.isListSpace)
        while text.last?.isListSpace == true { text = text.dropLast() }
        return text
    }
}

import SluiceHTTP

/// What the `Cache-Control` of a response says to a private cache (RFC 9111 §5.2.2, RFC 5861, RFC 8246).
///
/// Of several numbers for the same the smallest counts, and one that cannot be read is 0 (§4.2.1): the strictest that can be
/// meant. What is malformed and allows something allows nothing.
struct ResponseDirectives: Sendable, Hashable {
    /// Seconds, of `max-age`.
    var maxAge: Double?
    /// Seconds, of `stale-while-revalidate`.
    var staleWhileRevalidate: Double?
    /// Seconds, of `stale-if-error`.
    var staleIfError: Double?
    var isNoStore = false
    /// Without fields: nothing may be used before it is validated.
    var isNoCache = false
    /// The fields of `no-cache`, which may not be used before the response is validated.
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
        // With fields or without, it speaks to shared caches.
        case "private": isPrivate = true
        case "immutable": isImmutable = isImmutable || !directive.isMalformed
        default: break
        }
    }

    /// The field names of a list; none at all where one of them is no name.
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
    /// Without the white space around it.
    var trimmingListSpace: Self {
        var text = drop(while: \.isListSpace)
        while text.last?.isListSpace == true { text = text.dropLast() }
        return text
    }
}

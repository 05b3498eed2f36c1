import SluiceHTTP

/// How a cache handled a request: one member of a `Cache-Status` (RFC 9211 §2).
struct CacheStatus: Sendable, Hashable {
    /// Why a request went on to the server (RFC 9211 §2.2).
    enum Forward: String, Sendable, Hashable {
        /// It cannot be answered by a cache, whatever is stored.
        case bypass
        /// Its method cannot be answered by a cache.
        case method
        /// Nothing is stored under its URL.
        case uriMiss = "uri-miss"
        /// What is stored under its URL is for other requests, by `Vary` or by whom it is for.
        case varyMiss = "vary-miss"
        /// What is stored is fresh, but the request does not take it.
        case request
        /// What is stored has to be validated.
        case stale
        /// What is stored is not all that is asked for.
        case partial
    }

    /// The cache's name as a token or a string of RFC 8941.
    var cache: String
    /// Why the request went on; nil for one that was answered without that, a hit.
    var forward: Forward?
    /// What the server answered; nil where nothing came of it, or what it answered is given on.
    var forwardStatus: HTTPStatus?
    /// For how many seconds what is given stays fresh, less than zero for what is stale; nil for what has just come.
    var timeToLive: Int?
    /// Whether what came is stored.
    var isStored = false
    /// Whether another request for the same was waited for.
    var isCollapsed = false

    /// The member as it stands in the field.
    var text: String {
        var text = cache
        if let forward {
            text += "; fwd="
            text += forward.rawValue
            if let forwardStatus { text += "; fwd-status=\(forwardStatus.rawValue)" }
        } else {
            text += "; hit"
        }
        if let timeToLive {
            text += "; ttl="
            text += String(timeToLive)
        }
        if isStored { text += "; stored" }
        if isCollapsed { text += "; collapsed" }
        return text
    }

    /// Writes a name as RFC 8941 has it: as a token where it is one (§3.3.4), else as a string (§3.3.3), which has room for
    /// visible ASCII only.
    static func encodedName(_ name: String) -> String {
        let isToken =
            name.utf8.first.map { ("a"..."z").contains(Unicode.Scalar($0 | 0x20)) || $0 == UInt8(ascii: "*") } ?? false
            && name.utf8.allSatisfy { $0.isTokenCharacter || $0 == UInt8(ascii: ":") || $0 == UInt8(ascii: "/") }
        if isToken { return name }
        var text = "\""
        for scalar in name.unicodeScalars {
            if scalar == "\"" || scalar == "\\" { text += "\\" }
            text.unicodeScalars.append((" "..."~").contains(scalar) ? scalar : "?")
        }
        return text + "\""
    }
}

import SluiceHTTP

/// The cache's handling of a request: one member of `Cache-Status` (RFC 9211 §2).
package struct CacheStatus: Sendable, Hashable {
    /// The reason for forwarding a request (RFC 9211 §2.2).
    package enum Forward: String, Sendable, Hashable {
        /// The cache is not used for this request, regardless of stored responses.
        case bypass
        /// The request method is not cacheable.
        case method
        /// No response is stored under the URL.
        case uriMiss = "uri-miss"
        /// The responses stored under the URL do not match, by `Vary` or by credentials.
        case varyMiss = "vary-miss"
        /// The stored response is fresh, but the request does not accept it.
        case request
        /// The stored response has to be validated.
        case stale
        /// The stored response is incomplete.
        case partial
    }

    /// The cache name as a token or string of RFC 8941.
    var cache: String
    /// The reason for forwarding; nil for a hit.
    var forward: Forward?
    /// The status of the server's response; nil if there was no response.
    var forwardStatus: HTTPStatus?
    /// The remaining freshness lifetime in seconds, negative for a stale response; nil for a response from the server.
    var timeToLive: Int?
    /// True if the received response is stored.
    var isStored = false
    /// True if the request waited for a shared request.
    var isCollapsed = false

    /// Appends the member as field text.
    func append(to text: inout [UInt8]) {
        text += cache.utf8
        if let forward {
            text += "; fwd=".utf8
            text += forward.rawValue.utf8
            if let forwardStatus { text += "; fwd-status=\(forwardStatus.rawValue)".utf8 }
        } else {
            text += "; hit".utf8
        }
        if let timeToLive {
            text += (timeToLive < 0 ? "; ttl=-" : "; ttl=").utf8
            text.append(decimal: timeToLive.magnitude)
        }
        if isStored { text += "; stored".utf8 }
        if isCollapsed { text += "; collapsed".utf8 }
    }

    /// Encodes a name as a token of RFC 8941 if possible (§3.3.4), otherwise as a string (§3.3.3) with `?` in place of
    /// characters that are not printable ASCII.
    static func encodedName(_ name: String) -> String {
        let isToken =
            name.utf8.first.map { ("a"..."z").contains(Unicode.Scalar($0 | 0x20)) || $0 == UInt8(ascii: "*") } ?? false
            && name.utf8.allSatisfy { $0.isTokenCharacter || $0 == UInt8(ascii: ":") || $0 == UInt8(ascii: "/") }
        if isToken { return name }
        let scalars = name.unicodeScalars.map { (" "..."~").contains($0) ? $0 : "?" }
        return String(String.UnicodeScalarView(scalars)).asQuotedString
    }
}

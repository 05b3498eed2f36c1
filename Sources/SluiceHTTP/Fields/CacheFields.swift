/// One directive of a `Cache-Control` (RFC 9111 §5.2).
package struct CacheDirective: Sendable, Hashable {
    package let name: String
    /// The argument without the quotes of a quoted string; nil if there is none.
    package let argument: String?
    /// True if the directive is followed by unexpected text, or if its quoted string is not terminated.
    package let isMalformed: Bool

    package init(name: String, argument: String?, isMalformed: Bool) {
        self.name = name
        self.argument = argument
        self.isMalformed = isMalformed
    }

    /// Parses all directives of a field, one value per line. Text that is not a directive is skipped.
    package static func all(in lines: [String]) -> [CacheDirective] {
        var directives: [CacheDirective] = []
        for line in lines {
            var reader = CacheDirectiveReader(line)
            while let directive = reader.next() { directives.append(directive) }
        }
        return directives
    }
}

/// A parser for `#( token [ "=" ( token / quoted-string ) ] )`.
private struct CacheDirectiveReader {
    private var parser: FieldParser<ArraySlice<UInt8>>

    init(_ text: String) {
        parser = FieldParser(Array(text.utf8)[...])
    }

    /// Returns the next directive; nil at the end.
    mutating func next() -> CacheDirective? {
        while true {
            _ = parser.take { !$0.isBlank && $0 != UInt8(ascii: ",") }
            if parser.rest.isEmpty { return nil }
            let name = parser.token()
            var argument: String?
            var isMalformed = false
            parser.skipSpace()
            if parser.skip("=") {
                parser.skipSpace()
                if let quoted = parser.quotedString() {
                    argument = quoted.text
                    isMalformed = !quoted.isClosed
                } else {
                    let token = parser.token()
                    argument = String(decoding: token, as: UTF8.self)
                    isMalformed = token.isEmpty
                }
            }
            // Unexpected text marks the directive before it as malformed: a restriction still counts, a permission does
            // not.
            let junk = junk()
            if name.isEmpty { continue }
            return CacheDirective(
                name: String(decoding: name.map(\.asciiLowercased), as: UTF8.self),
                argument: argument,
                isMalformed: isMalformed || junk
            )
        }
    }

    /// Skips to the next comma outside quotes. Returns true if it skipped anything other than white space.
    private mutating func junk() -> Bool {
        parser.skipSpace()
        let hasJunk = parser.rest.first.map { $0 != UInt8(ascii: ",") } ?? false
        while parser.quotedString() != nil || parser.rest.first.map({ $0 != UInt8(ascii: ",") }) == true {
            _ = parser.take { $0 == UInt8(ascii: ",") || $0 == UInt8(ascii: "\"") }
        }
        return hasJunk
    }
}

// MARK: - Cache status

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
    package var cache: String
    /// The reason for forwarding; nil for a hit.
    package var forward: Forward?
    /// The status of the server's response; nil if there was no response.
    package var forwardStatus: HTTPStatus?
    /// The remaining freshness lifetime in seconds, negative for a stale response; nil for a response from the server.
    package var timeToLive: Int?
    /// True if the received response is stored.
    package var isStored = false
    /// True if the request waited for a shared request.
    package var isCollapsed = false

    package init(cache: String, forward: Forward? = nil, forwardStatus: HTTPStatus? = nil) {
        self.cache = cache
        self.forward = forward
        self.forwardStatus = forwardStatus
    }

    /// Appends the member as field text.
    package func append(to text: inout [UInt8]) {
        text.append(text: cache)
        if let forward {
            text.append(text: "; fwd=")
            text.append(text: forward.rawValue)
            if let forwardStatus { text.append(text: "; fwd-status=\(forwardStatus.rawValue)") }
        } else {
            text.append(text: "; hit")
        }
        if let timeToLive {
            text.append(text: timeToLive < 0 ? "; ttl=-" : "; ttl=")
            text.append(decimal: timeToLive.magnitude)
        }
        if isStored { text.append(text: "; stored") }
        if isCollapsed { text.append(text: "; collapsed") }
    }

    /// Encodes a name as a token of RFC 8941 if possible (§3.3.4), otherwise as a string (§3.3.3) with `?` in place of
    /// characters that are not printable ASCII.
    package static func encodedName(_ name: String) -> String {
        let isToken =
            name.utf8.first.map { ("a"..."z").contains(Unicode.Scalar($0 | 0x20)) || $0 == UInt8(ascii: "*") } ?? false
            && name.utf8.allSatisfy { $0.isTokenCharacter || $0 == UInt8(ascii: ":") || $0 == UInt8(ascii: "/") }
        if isToken { return name }
        let scalars = name.unicodeScalars.map { (" "..."~").contains($0) ? $0 : "?" }
        return String(String.UnicodeScalarView(scalars)).asQuotedString
    }
}

/// The fields that a cache adds to the head of a stored response: `Age` (RFC 9111 §5.1) and `Cache-Status` (RFC 9211).
package struct CacheAddedFields: Sendable, Hashable {
    /// The age of the response in seconds.
    let age: Int
    let status: CacheStatus

    package init(age: Int, status: CacheStatus) {
        self.age = age
        self.status = status
    }

    /// Appends the fields to those of the stored head.
    package func append(to headers: inout HTTPHeaders) {
        headers.reserveRoom(fields: 2, bytes: 96)
        headers.append(.age) { $0.append(decimal: age.magnitude) }
        headers.append(.cacheStatus) { status.append(to: &$0) }
    }
}

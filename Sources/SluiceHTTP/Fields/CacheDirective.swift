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

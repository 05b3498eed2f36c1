/// One directive of a `Cache-Control` (RFC 9111 §5.2).
struct CacheDirective: Sendable, Hashable {
    /// The directive name in lowercase.
    let name: String
    /// The argument without the quotes of a quoted string; nil if there is none.
    let argument: String?
    /// True if the directive is followed by unexpected text, or if its quoted string is not terminated.
    let isMalformed: Bool

    /// The argument as a number of seconds; nil if it is not a number.
    var seconds: Double? {
        isMalformed ? nil : argument.flatMap { DeltaSeconds.parse($0.utf8) }
    }

    /// Parses all directives of a field, one value per line. Text that is not a directive is skipped.
    static func all(in lines: [String]) -> [CacheDirective] {
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
    private var rest: ArraySlice<UInt8>

    init(_ text: String) {
        rest = Array(text.utf8)[...]
    }

    /// Returns the next directive; nil at the end.
    mutating func next() -> CacheDirective? {
        while true {
            rest = rest.drop { $0.isListSpace || $0 == UInt8(ascii: ",") }
            if rest.isEmpty { return nil }
            let name = rest.prefix(while: \.isTokenCharacter)
            rest = rest[name.endIndex...]
            var argument: String?
            var isMalformed = false
            skipSpace()
            if rest.first == UInt8(ascii: "=") {
                rest = rest.dropFirst()
                skipSpace()
                if rest.first == UInt8(ascii: "\"") {
                    rest = rest.dropFirst()
                    (argument, isMalformed) = quoted()
                } else {
                    let token = rest.prefix(while: \.isTokenCharacter)
                    rest = rest[token.endIndex...]
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

    /// Reads a quoted string whose opening quote has been read (RFC 9110 §5.6.4). `isEndless` is true if it is not
    /// terminated.
    private mutating func quoted() -> (text: String, isEndless: Bool) {
        var bytes: [UInt8] = []
        while let byte = rest.popFirst() {
            if byte == UInt8(ascii: "\"") { return (String(decoding: bytes, as: UTF8.self), false) }
            bytes.append(byte == UInt8(ascii: "\\") ? rest.popFirst() ?? byte : byte)
        }
        return (String(decoding: bytes, as: UTF8.self), true)
    }

    /// Skips to the next comma outside quotes. Returns true if it skipped anything other than white space.
    private mutating func junk() -> Bool {
        skipSpace()
        let hasJunk = rest.first.map { $0 != UInt8(ascii: ",") } ?? false
        while let byte = rest.first, byte != UInt8(ascii: ",") {
            rest = rest.dropFirst()
            if byte == UInt8(ascii: "\"") { _ = quoted() }
        }
        return hasJunk
    }

    private mutating func skipSpace() {
        rest = rest.drop(while: \.isListSpace)
    }
}

extension UInt8 {
    /// True for white space that may surround the members of a list (RFC 9110 §5.6.3).
    var isListSpace: Bool { self == 0x20 || self == 0x09 }
}

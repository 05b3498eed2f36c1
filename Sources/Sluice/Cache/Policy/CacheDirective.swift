/// One directive of a `Cache-Control` (RFC 9111 §5.2).
struct CacheDirective: Sendable, Hashable {
    /// In small letters.
    let name: String
    /// Without the quotes of a quoted string; nil where there is none.
    let argument: String?
    /// Whether there is more than belongs there, or a quoted string has no end.
    let isMalformed: Bool

    /// The argument as a number of seconds; nil for what is none.
    var seconds: Double? {
        isMalformed ? nil : argument.flatMap { DeltaSeconds.parse($0.utf8) }
    }

    /// Reads all directives of fields, one value a line. Nothing is refused: what no directive can be made of is left out.
    static func all(in lines: [String]) -> [CacheDirective] {
        var directives: [CacheDirective] = []
        for line in lines {
            var reader = CacheDirectiveReader(line)
            while let directive = reader.next() { directives.append(directive) }
        }
        return directives
    }
}

/// Reads `#( token [ "=" ( token / quoted-string ) ] )` from its beginning to its end.
private struct CacheDirectiveReader {
    private var rest: ArraySlice<UInt8>

    init(_ text: String) {
        rest = Array(text.utf8)[...]
    }

    /// The next directive; nil at the end.
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
            // Junk goes with the directive it is behind: what restricts still counts, what allows does not.
            let junk = junk()
            if name.isEmpty { continue }
            return CacheDirective(
                name: String(decoding: name.map(\.asciiLowercased), as: UTF8.self),
                argument: argument,
                isMalformed: isMalformed || junk
            )
        }
    }

    /// A quoted string behind its first quote (RFC 9110 §5.6.4), and whether it has no end.
    private mutating func quoted() -> (text: String, isEndless: Bool) {
        var bytes: [UInt8] = []
        while let byte = rest.popFirst() {
            if byte == UInt8(ascii: "\"") { return (String(decoding: bytes, as: UTF8.self), false) }
            bytes.append(byte == UInt8(ascii: "\\") ? rest.popFirst() ?? byte : byte)
        }
        return (String(decoding: bytes, as: UTF8.self), true)
    }

    /// Leaves out what is before the next comma, those in quotes aside; whether there was anything but space.
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
    /// White space as it may stand between the members of a list (RFC 9110 §5.6.3).
    var isListSpace: Bool { self == 0x20 || self == 0x09 }
}

/// A dictionary of structured fields (RFC 8941 §3.2), parsed strictly (§4.2): a field with an error has no members.
package struct StructuredDictionary: Sendable, Hashable {
    /// A value. Parameters are checked, and omitted.
    package enum Value: Sendable, Hashable {
        case boolean(Bool)
        case integer(Int64)
        case string(String)
        case token(String)
        /// A decimal, a byte sequence or an inner list. Their contents are checked, and omitted.
        case other
    }

    /// The values by key. If a key is repeated, its last value counts (§4.2.2).
    package private(set) var members: [String: Value] = [:]

    /// Parses the lines of a field; nil if they violate the grammar. A field without members is valid.
    package init?(_ lines: [FieldValue]) {
        var parser = FieldParser(Array(lines.map(\.bytes).joined(separator: ", ".utf8))[...])
        parser.skipSpaces()
        while !parser.rest.isEmpty {
            guard let key = parser.structuredKey(), let value = parser.structuredMember() else { return nil }
            members[key] = value
            parser.skipSpace()
            if parser.rest.isEmpty { return }
            guard parser.skip(",") else { return nil }
            parser.skipSpace()
            if parser.rest.isEmpty { return nil }
        }
    }
}

// MARK: - Items

extension FieldParser {
    /// Skips spaces, but no tabs.
    fileprivate mutating func skipSpaces() {
        rest = rest.drop { $0 == UInt8(ascii: " ") }
    }

    /// Reads a key (RFC 8941 §4.2.3.3); nil if none is next.
    fileprivate mutating func structuredKey() -> String? {
        guard let first = rest.first, first.isLowercaseLetter || first == UInt8(ascii: "*") else { return nil }
        let key = take { !$0.isLowercaseLetter && !$0.isDigit && !"_-.*".utf8.contains($0) }
        return String(decoding: key, as: UTF8.self)
    }

    /// Reads the rest of a member after its key (§4.2.2): an optional value, and parameters.
    fileprivate mutating func structuredMember() -> StructuredDictionary.Value? {
        guard skip("=") else { return skipParameters() ? .boolean(true) : nil }
        let value = rest.first == UInt8(ascii: "(") ? innerList() : bareItem()
        return skipParameters() ? value : nil
    }

    /// Reads an inner list (§4.2.1.2).
    private mutating func innerList() -> StructuredDictionary.Value? {
        guard skip("(") else { return nil }
        skipSpaces()
        while !skip(")") {
            guard bareItem() != nil, skipParameters() else { return nil }
            // A space separates items.
            guard rest.first == UInt8(ascii: " ") || rest.first == UInt8(ascii: ")") else { return nil }
            skipSpaces()
        }
        return .other
    }

    /// Skips parameters (§4.2.3.2). Returns false if one of them violates the grammar.
    private mutating func skipParameters() -> Bool {
        while skip(";") {
            skipSpaces()
            guard structuredKey() != nil else { return false }
            if skip("="), bareItem() == nil { return false }
        }
        return true
    }

    /// Reads a bare item (§4.2.3.1).
    private mutating func bareItem() -> StructuredDictionary.Value? {
        guard let first = rest.first else { return nil }
        switch first {
        case UInt8(ascii: "\""): return structuredString().map { .string($0) }
        case UInt8(ascii: ":"): return byteSequence()
        case UInt8(ascii: "?"): return structuredBoolean()
        case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"): return structuredNumber()
        case UInt8(ascii: "*"): return structuredToken()
        default: return first.isLetter ? structuredToken() : nil
        }
    }

    /// Reads an integer of up to 15 digits, or a decimal of up to 12 and 3 digits (§4.2.4).
    private mutating func structuredNumber() -> StructuredDictionary.Value? {
        let isNegative = skip("-")
        let digits = take { !$0.isDigit }
        guard skip(".") else {
            guard digits.count <= 15, let number = digits.decimalNumber() else { return nil }
            return .integer(isNegative ? -number : number)
        }
        let fraction = take { !$0.isDigit }
        return (1...12).contains(digits.count) && (1...3).contains(fraction.count) ? .other : nil
    }

    /// Reads a string of printable ASCII characters, unescaped (§4.2.5).
    private mutating func structuredString() -> String? {
        guard skip("\"") else { return nil }
        var bytes: [UInt8] = []
        while let byte = rest.popFirst() {
            switch byte {
            case UInt8(ascii: "\""): return String(decoding: bytes, as: UTF8.self)
            case UInt8(ascii: "\\"):
                guard let escaped = rest.popFirst(), "\"\\".utf8.contains(escaped) else { return nil }
                bytes.append(escaped)
            case 0x20...0x7E: bytes.append(byte)
            default: return nil
            }
        }
        return nil
    }

    /// Reads a token (§4.2.6).
    private mutating func structuredToken() -> StructuredDictionary.Value? {
        .token(String(decoding: take { !$0.isTokenCharacter && !":/".utf8.contains($0) }, as: UTF8.self))
    }

    /// Reads a byte sequence (§4.2.7), of which only the alphabet is checked.
    private mutating func byteSequence() -> StructuredDictionary.Value? {
        guard skip(":") else { return nil }
        _ = take { !$0.isLetter && !$0.isDigit && !"+/=".utf8.contains($0) }
        return skip(":") ? .other : nil
    }

    /// Reads a Boolean (§4.2.8).
    private mutating func structuredBoolean() -> StructuredDictionary.Value? {
        guard skip("?") else { return nil }
        return skip("1") ? .boolean(true) : skip("0") ? .boolean(false) : nil
    }
}

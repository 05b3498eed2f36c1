import SluiceHTTP

/// A part of a template: literal text, percent-encoded, or an expression.
enum URITemplatePart: Sendable {
    case literal([UInt8])
    case expression(URITemplateOperator, [URITemplateVariable])
}

/// A variable of an expression (RFC 6570 §2.3, §2.4).
struct URITemplateVariable: Sendable {
    var name: String
    /// The position of the name in the template, in bytes.
    let offset: Int
    /// The maximum number of characters of the value; nil for all.
    var prefix: Int?
    var isExploded = false
}

/// Parses a template (RFC 6570 §2).
struct URITemplateParser {
    private let template: String
    private let bytes: [UInt8]

    static func parse(_ template: String) -> Result<[URITemplatePart], URITemplateFailure> {
        let parser = URITemplateParser(template: template, bytes: Array(template.utf8))
        return Result { () throws(URITemplateFailure) in try parser.parts() }
    }

    private func parts() throws(URITemplateFailure) -> [URITemplatePart] {
        var parts: [URITemplatePart] = []
        var offset = 0
        while offset < bytes.count {
            let brace = bytes[offset...].firstIndex(where: isBrace) ?? bytes.count
            if brace > offset {
                var literal: [UInt8] = []
                PercentEncoding.append(bytes[offset..<brace], to: &literal, keepsReserved: true)
                parts.append(.literal(literal))
            }
            guard brace < bytes.count else { break }
            if bytes[brace] == UInt8(ascii: "}") { throw failure(brace, "“}” has no matching “{”") }
            let end = bytes[(brace + 1)...].firstIndex(where: isBrace)
            guard let end, bytes[end] == UInt8(ascii: "}") else {
                throw failure(brace, "an expression is not closed with “}”")
            }
            parts.append(try expression(brace + 1..<end))
            offset = end + 1
        }
        return parts
    }

    private func expression(_ range: Range<Int>) throws(URITemplateFailure) -> URITemplatePart {
        if range.isEmpty { throw failure(range.lowerBound, "an expression is empty") }
        let first = bytes[range.lowerBound]
        if "=,!@|".utf8.contains(first) {
            throw failure(range.lowerBound, "“\(Unicode.Scalar(first))” is reserved and not supported as an operator")
        }
        let known = URITemplateOperator(rawValue: first)
        var start = range.lowerBound + (known == nil ? 0 : 1)
        var variables: [URITemplateVariable] = []
        while true {
            let end = bytes[start..<range.upperBound].firstIndex(of: UInt8(ascii: ",")) ?? range.upperBound
            variables.append(try variable(start..<end))
            if end == range.upperBound { return .expression(known ?? .simple, variables) }
            start = end + 1
        }
    }

    private func variable(_ range: Range<Int>) throws(URITemplateFailure) -> URITemplateVariable {
        let isModifier = { (byte: UInt8) in byte == UInt8(ascii: ":") || byte == UInt8(ascii: "*") }
        let end = bytes[range].firstIndex(where: isModifier) ?? range.upperBound
        try checkName(range.lowerBound..<end)
        let name = String(decoding: bytes[range.lowerBound..<end], as: UTF8.self)
        var variable = URITemplateVariable(name: name, offset: range.lowerBound)
        guard end < range.upperBound else { return variable }
        let modifier = bytes[end + 1..<range.upperBound]
        if bytes[end] == UInt8(ascii: "*") {
            guard modifier.isEmpty else { throw failure(end + 1, "“*” must be the last character of a variable") }
            variable.isExploded = true
        } else {
            let isNumber = modifier.allSatisfy(\.isDigit)
            guard isNumber, (1...4).contains(modifier.count), modifier.first != UInt8(ascii: "0") else {
                throw failure(end + 1, "a prefix is not a number from 1 to 9999")
            }
            variable.prefix = Int(String(decoding: modifier, as: UTF8.self))
        }
        return variable
    }

    /// Checks a name: letters, digits, underscores and triplets, with single dots between them.
    private func checkName(_ range: Range<Int>) throws(URITemplateFailure) {
        if range.isEmpty { throw failure(range.lowerBound, "a variable has no name") }
        var offset = range.lowerBound
        var mayBeDot = false
        while offset < range.upperBound {
            let byte = bytes[offset]
            if byte == UInt8(ascii: ".") {
                guard mayBeDot, offset + 1 < range.upperBound else {
                    throw failure(offset, "a dot in a variable's name must be between two other characters")
                }
                mayBeDot = false
                offset += 1
                continue
            }
            mayBeDot = true
            if PercentEncoding.triplet(in: bytes[range], at: offset) != nil {
                offset += 3
            } else if byte.isUnreserved, byte != UInt8(ascii: "-"), byte != UInt8(ascii: "~") {
                offset += 1
            } else {
                throw failure(offset, "“\(scalar(at: offset))” is not allowed in a variable's name")
            }
        }
    }

    private func scalar(at offset: Int) -> String {
        String(decoding: bytes[offset...], as: UTF8.self).unicodeScalars.first?.escaped(asASCII: false) ?? ""
    }

    private func isBrace(_ byte: UInt8) -> Bool {
        byte == UInt8(ascii: "{") || byte == UInt8(ascii: "}")
    }

    private func failure(_ offset: Int, _ reason: String) -> URITemplateFailure {
        URITemplateFailure(template, atByte: offset, reason)
    }
}

// MARK: - Operators

/// An expression's operator, which determines how values are joined (RFC 6570 §2.2 and appendix A).
enum URITemplateOperator: UInt8, Sendable {
    /// `{x}`: no operator. The raw value is that of `{`, which no expression can start with.
    case simple = 0x7B
    /// `{+x}`
    case reserved = 0x2B
    /// `{#x}`
    case fragment = 0x23
    /// `{.x}`
    case label = 0x2E
    /// `{/x}`
    case path = 0x2F
    /// `{;x}`
    case parameter = 0x3B
    /// `{?x}`
    case query = 0x3F
    /// `{&x}`
    case continuation = 0x26

    /// The character before the first defined value.
    var first: UInt8? {
        self == .simple || self == .reserved ? nil : rawValue
    }

    /// The character between values, and between the members of an exploded value.
    var separator: UInt8 {
        switch self {
        case .simple, .reserved, .fragment: UInt8(ascii: ",")
        case .query: UInt8(ascii: "&")
        case .label, .path, .parameter, .continuation: rawValue
        }
    }

    /// True if values are preceded by their names.
    var isNamed: Bool {
        self == .parameter || self == .query || self == .continuation
    }

    /// True if the name of an empty value is followed by `=`.
    var marksEmptyValues: Bool {
        self != .parameter
    }

    /// True if reserved characters and existing triplets are kept.
    var keepsReserved: Bool {
        self == .reserved || self == .fragment
    }
}

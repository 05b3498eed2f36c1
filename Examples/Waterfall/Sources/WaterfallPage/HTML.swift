/// A fragment of HTML. Its literals are markup. Interpolated text is escaped.
///
/// ```swift
/// let cell: HTML = "<td title=\"\(url)\">\(name)</td>"  // names from a server
/// ```
///
/// All text on the page passes through this type.
struct HTML: Sendable, ExpressibleByStringInterpolation {
    private(set) var text: String

    init(stringLiteral value: String) {
        text = value
    }

    init(stringInterpolation: StringInterpolation) {
        text = stringInterpolation.text
    }

    static let nothing: HTML = ""

    mutating func append(_ other: HTML) {
        text += other.text
    }

    struct StringInterpolation: StringInterpolationProtocol {
        fileprivate var text = ""

        init(literalCapacity: Int, interpolationCount: Int) {
            text.reserveCapacity(literalCapacity + 32 * interpolationCount)
        }

        mutating func appendLiteral(_ literal: String) {
            text += literal
        }

        mutating func appendInterpolation(_ value: String) {
            HTML.escape(value, into: &text)
        }

        mutating func appendInterpolation(_ value: Int) {
            text += "\(value)"
        }

        mutating func appendInterpolation(_ html: HTML) {
            text += html.text
        }

        mutating func appendInterpolation(_ parts: [HTML]) {
            for part in parts { text += part.text }
        }

        /// Appends a share of the width, such as `12.345%`.
        mutating func appendInterpolation(percent: Double) {
            let thousandths = Int((percent.clamped(to: 0...100) * 1000).rounded())
            text += "\(thousandths / 1000)"
            let fraction = thousandths % 1000
            if fraction > 0 { text += ".\(fraction < 10 ? "00" : fraction < 100 ? "0" : "")\(fraction)" }
            text += "%"
        }
    }

    /// Escapes scalar by scalar, because a `<` and a combining mark form a single character.
    private static func escape(_ value: String, into text: inout String) {
        if value.utf8.allSatisfy(isPlain) {
            text += value
            return
        }
        for scalar in value.unicodeScalars {
            switch scalar {
            case "&": text += "&amp;"
            case "<": text += "&lt;"
            case ">": text += "&gt;"
            case "\"": text += "&quot;"
            case "'": text += "&#39;"
            case "\n", "\t": text.unicodeScalars.append(scalar)
            default: text.unicodeScalars.append(isShown(scalar) ? scalar : "\u{FFFD}")
            }
        }
    }

    /// True for a byte that needs no escaping. The first bytes of hidden characters are excluded.
    private static func isPlain(_ byte: UInt8) -> Bool {
        switch byte {
        case 0..<0x20, 0x7F, 0xC2, 0xE2, 0xEF, UInt8(ascii: "&"), UInt8(ascii: "<"), UInt8(ascii: ">"),
            UInt8(ascii: "\""),
            UInt8(ascii: "'"):
            false
        default: byte < 0xF0
        }
    }

    /// False for control characters and for characters that change the direction of writing, which could disguise a name.
    private static func isShown(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0..<0x20, 0x7F..<0xA0, 0x200E, 0x200F, 0x202A...0x202E, 0x2066...0x2069, 0xFEFF, 0xFFF9...0xFFFB: false
        default: scalar.value & 0xFFFE != 0xFFFE
        }
    }
}

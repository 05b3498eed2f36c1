/// Makes untrusted text safe to print on a terminal.
///
/// The name of a file and the reason of an error may come from a server. Control characters, which a terminal interprets, and
/// characters that change the direction of writing are replaced.
public enum PlainText {
    /// Returns a text without characters that a terminal interprets.
    public static func of(_ text: String) -> String {
        var plain = ""
        for scalar in text.unicodeScalars {
            plain.unicodeScalars.append(isPlain(scalar) ? scalar : "\u{FFFD}")
        }
        return plain
    }

    /// Returns true if a terminal does not interpret a character.
    static func isPlain(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .control, .format, .surrogate, .lineSeparator, .paragraphSeparator: false
        default: true
        }
    }

    /// Returns the number of columns of a text: two for wide characters and pictures, none for combining characters.
    static func columns(_ text: String) -> Int {
        text.reduce(0) { $0 + columns($1) }
    }

    /// Returns a text cut to a width, with an ellipsis if it was cut.
    static func fitted(_ text: String, to columns: Int) -> String {
        if self.columns(text) <= columns { return text }
        guard columns > 0 else { return "" }
        var (fitted, used) = ("", 0)
        for character in text {
            let width = self.columns(character)
            if used + width > columns - 1 { break }
            fitted.append(character)
            used += width
        }
        return fitted + "…"
    }

    private static func columns(_ character: Character) -> Int {
        guard let scalar = character.unicodeScalars.first else { return 0 }
        switch scalar.value {
        case 0x1100...0x115F, 0x2E80...0xA4CF, 0xAC00...0xD7A3, 0xF900...0xFAFF, 0xFE30...0xFE6F, 0xFF00...0xFF60,
            0xFFE0...0xFFE6, 0x1F300...0x1FAFF, 0x20000...0x3FFFD:
            return 2
        default:
            return scalar.properties.generalCategory == .nonspacingMark ? 0 : 1
        }
    }
}

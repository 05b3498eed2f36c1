/// Text that may go to a terminal, whoever wrote it.
///
/// A file's name and an error's reason may come from a server, and a terminal obeys what it is sent: control characters, and those
/// that turn the direction of writing, are replaced.
public enum PlainText {
    /// A text without what a terminal would obey.
    public static func of(_ text: String) -> String {
        var plain = ""
        for scalar in text.unicodeScalars {
            switch scalar.properties.generalCategory {
            case .control, .format, .surrogate, .lineSeparator, .paragraphSeparator:
                plain.unicodeScalars.append("\u{FFFD}")
            default: plain.unicodeScalars.append(scalar)
            }
        }
        return plain
    }

    /// The columns that a text takes: wide scripts and pictures take two, what joins the character before takes none.
    static func columns(_ text: String) -> Int {
        text.reduce(0) { $0 + columns($1) }
    }

    /// As much of a text as fits, with an ellipsis where it does not.
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

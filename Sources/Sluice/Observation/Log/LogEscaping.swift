/// Makes texts from elsewhere fit for a log: nothing in them can end a line, forge another, or command a terminal.
enum LogEscaping {
    /// A text in one line.
    ///
    /// - Parameters:
    ///   - text: Any text.
    ///   - limit: How many characters stay, as Unicode counts them.
    /// - Returns: The text with all that is not seen written as Swift would, `\n` or `\u{1B}`.
    static func line(_ text: String, limit: Int = 2048) -> String {
        var text = text
        let isPlain = text.utf8.count <= limit && text.withUTF8 { $0.allSatisfy { (0x20..<0x7F).contains($0) } }
        if isPlain { return text }
        var line = ""
        for (index, scalar) in text.unicodeScalars.enumerated() {
            if index == limit { return line + "…" }
            if isVisible(scalar) {
                line.unicodeScalars.append(scalar)
            } else {
                line += escape(of: scalar)
            }
        }
        return line
    }

    /// The lines of a text, each fit to stand alone; tabs stay.
    static func lines(_ text: String) -> [String] {
        text.utf8.split(separator: 10, omittingEmptySubsequences: false).map { line in
            let line = line.last == 13 ? line.dropLast() : line
            let pieces = line.split(separator: 9, omittingEmptySubsequences: false)
            return pieces.map { Self.line(String(Substring($0)), limit: .max) }.joined(separator: "\t")
        }
    }

    /// Whether a scalar shows in its place and does nothing else: no control, no break of a line, no change of direction.
    static func isVisible(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0..<0x20, 0x7F..<0xA0, 0x061C, 0x200B...0x200F, 0x2028...0x202E, 0x2060...0x206F, 0xFEFF, 0xFFF9...0xFFFB,
            0xE0000...0xE0FFF:
            false
        default: true
        }
    }

    private static func escape(of scalar: Unicode.Scalar) -> String {
        switch scalar {
        case "\n": "\\n"
        case "\r": "\\r"
        case "\t": "\\t"
        case "\0": "\\0"
        default: "\\u{\(String(scalar.value, radix: 16, uppercase: true))}"
        }
    }
}

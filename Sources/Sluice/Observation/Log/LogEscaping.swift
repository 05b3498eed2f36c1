/// Makes untrusted text safe for a log: it cannot end a line, forge another line, or control a terminal.
enum LogEscaping {
    /// Returns a text on one line.
    ///
    /// - Parameters:
    ///   - text: Any text.
    ///   - limit: The maximum number of Unicode scalars to keep.
    /// - Returns: The text with invisible characters escaped as in Swift, for example `\n` or `\u{1B}`.
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

    /// Splits a text into lines and makes each safe on its own. Tabs are kept.
    static func lines(_ text: String) -> [String] {
        text.utf8.split(separator: 10, omittingEmptySubsequences: false).map { line in
            let line = line.last == 13 ? line.dropLast() : line
            let pieces = line.split(separator: 9, omittingEmptySubsequences: false)
            return pieces.map { Self.line(String(Substring($0)), limit: .max) }.joined(separator: "\t")
        }
    }

    /// Returns true if a scalar is visible and has no other effect: no control, line break or direction change.
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

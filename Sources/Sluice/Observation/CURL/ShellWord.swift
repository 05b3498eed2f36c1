/// Quotes bytes for a POSIX shell (POSIX.1-2024, Shell Command Language §2.2), on one line without invisible
/// characters.
enum ShellWord {
    /// Returns a word for a command line: in single quotes, or printed by the shell if it contains invisible
    /// characters.
    static func quoted(_ text: String) -> String {
        let isVisible = text.unicodeScalars.allSatisfy(LogEscaping.isVisible)
        guard isVisible else { return "\"$(\(printing(Array(text.utf8))))\"" }
        if !text.isEmpty, text.utf8.allSatisfy(isPlain) { return text }
        // Byte by byte, because a combining mark after a quote would hide the quote from a `Character` comparison.
        var word: [UInt8] = []
        for byte in text.utf8 { byte == UInt8(ascii: "'") ? word += "'\\''".utf8 : word.append(byte) }
        return "'\(String(decoding: word, as: UTF8.self))'"
    }

    private static func isPlain(_ byte: UInt8) -> Bool {
        let letters = UInt8(ascii: "a")...UInt8(ascii: "z")
        return letters.contains(byte | 0x20) || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
    }

    /// Returns a command that prints any bytes, including NUL.
    static func printing(_ bytes: [UInt8]) -> String {
        var format: [UInt8] = []
        format.reserveCapacity(bytes.count + 16)
        var rest = bytes[...]
        while let byte = rest.first {
            let length = visibleLength(of: rest)
            switch byte {
            case _ where length == 0:
                appendOctal(byte, to: &format)
                rest = rest.dropFirst()
                continue
            // A format that begins with a hyphen would be read as an option.
            case UInt8(ascii: "-") where format.isEmpty: appendOctal(byte, to: &format)
            case UInt8(ascii: "%"): format += "%%".utf8
            case UInt8(ascii: "\\"): format += "\\\\".utf8
            case UInt8(ascii: "'"): format += "'\\''".utf8
            default: format += rest.prefix(length)
            }
            rest = rest.dropFirst(length)
        }
        return "printf '\(String(decoding: format, as: UTF8.self))'"
    }

    /// Returns the number of bytes of the visible character at the start; 0 if there is none.
    private static func visibleLength(of bytes: ArraySlice<UInt8>) -> Int {
        guard let first = bytes.first else { return 0 }
        if first < 0x80 { return (0x20..<0x7F).contains(first) ? 1 : 0 }
        var iterator = bytes.prefix(4).makeIterator()
        var decoder = UTF8()
        guard case .scalarValue(let scalar) = decoder.decode(&iterator), LogEscaping.isVisible(scalar) else { return 0 }
        return UTF8.width(scalar)
    }

    private static func appendOctal(_ byte: UInt8, to format: inout [UInt8]) {
        let digits = String(byte, radix: 8)
        format += "\\\(String(repeating: "0", count: 3 - digits.utf8.count))\(digits)".utf8
    }
}

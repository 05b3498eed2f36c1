/// Writes bytes so that a POSIX shell reads them as they are (POSIX.1-2024, Shell Command Language §2.2), in one line
/// that holds nothing unseen.
enum ShellWord {
    /// A word for a command line: between single quotes, in which nothing has a meaning, or printed by the shell.
    static func quoted(_ text: String) -> String {
        let isVisible = text.unicodeScalars.allSatisfy(LogEscaping.isVisible)
        guard isVisible else { return "\"$(\(printing(Array(text.utf8))))\"" }
        if !text.isEmpty, text.utf8.allSatisfy(isPlain) { return text }
        // Byte by byte: a combining mark behind a quote leaves it a quote.
        var word: [UInt8] = []
        for byte in text.utf8 { byte == UInt8(ascii: "'") ? word += "'\\''".utf8 : word.append(byte) }
        return "'\(String(decoding: word, as: UTF8.self))'"
    }

    private static func isPlain(_ byte: UInt8) -> Bool {
        let letters = UInt8(ascii: "a")...UInt8(ascii: "z")
        return letters.contains(byte | 0x20) || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
    }

    /// A command that prints bytes of any kind, NUL included.
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
            // A format that begins with a hyphen is taken for an option.
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

    /// How many bytes the visible character has with which a text begins; 0 if it begins otherwise.
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

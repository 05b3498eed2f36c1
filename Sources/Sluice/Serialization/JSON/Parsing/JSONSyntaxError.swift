/// Why and where a text is not JSON (RFC 8259).
///
/// ```
/// The text is not JSON: a value is missing behind the comma (line 3, column 14).
/// ```
public struct JSONSyntaxError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The place in the text, in bytes from its beginning.
    public let offset: Int
    /// The place's line, counted from 1.
    public let line: Int
    /// The place's column, in Unicode scalars counted from 1.
    public let column: Int
    /// What is wrong there, a sentence without its full stop.
    public let reason: String

    /// One sentence, without any of the text.
    public var description: String {
        "The text is not JSON: \(reason) (line \(line), column \(column))."
    }

    /// Finds line and column of an offset.
    init(_ reason: String, offset: Int, in text: UnsafeBufferPointer<UInt8>) {
        self.reason = reason
        self.offset = offset
        var line = 1
        var column = 1
        for byte in text.prefix(offset) {
            if byte == UInt8(ascii: "\n") {
                line += 1
                column = 1
            } else if byte & 0xC0 != 0x80 {
                column += 1
            }
        }
        self.line = line
        self.column = column
    }
}

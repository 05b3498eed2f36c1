/// The reason a text is not valid JSON (RFC 8259), with its location.
///
/// ```
/// The text is not JSON: a value is missing behind the comma (line 3, column 14).
/// ```
public struct JSONSyntaxError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The offset in the text, in bytes.
    public let offset: Int
    /// The line, counted from 1.
    public let line: Int
    /// The column in Unicode scalars, counted from 1.
    public let column: Int
    /// The problem, as a sentence without its period.
    public let reason: String

    /// A one-sentence description without any of the text.
    public var description: String {
        "The text is not JSON: \(reason) (line \(line), column \(column))."
    }

    /// Creates an error with the line and column of an offset.
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

import SluiceHTTP

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Splits a UTF-8 body that arrives in chunks into lines of text.
///
/// ```swift
/// var splitter = LineSplitter()
/// splitter.append(Data("one\r\ntw".utf8))
/// splitter.append(Data("o\n".utf8))
/// while let line = try splitter.next() { print(line) }    // one, two
/// ```
///
/// A line ends with LF or CRLF. A CR alone does not end a line. Empty lines are returned, as is a last line without a
/// line ending. Invalid UTF-8 is replaced with U+FFFD.
public struct LineSplitter: StreamParser {
    private var reader: LineReader

    /// Creates a splitter.
    ///
    /// - Parameter limit: The maximum size of a line in bytes, without its line ending; 1 MiB by default.
    public init(limit: Int = 1 << 20) {
        reader = LineReader(endingAt: .lineFeed, limit: limit)
    }

    /// Appends the next bytes.
    public mutating func append(_ chunk: Data) {
        reader.append(chunk)
    }

    /// Signals the end of the body, which also ends the last line.
    public mutating func finish() {
        reader.finish()
    }

    /// Returns the next line without its line ending, or nil if it is incomplete or there is none.
    ///
    /// - Returns: The next line.
    /// - Throws: ``SluiceError/Code/elementTooLarge``; every later call throws it again.
    public mutating func next() throws(SluiceError) -> String? {
        var nothing: Void = ()
        return try reader.next(&nothing) { _, line in String(decoding: line, as: UTF8.self) }
    }
}

import SluiceHTTP

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Makes lines of text of a body in UTF-8 that arrives in chunks.
///
/// ```swift
/// var splitter = LineSplitter()
/// splitter.append(Data("one\r\ntw".utf8))
/// splitter.append(Data("o\n".utf8))
/// while let line = try splitter.next() { print(line) }    // one, two
/// ```
///
/// LF ends a line, and so does CR with LF; a CR alone is part of one. Empty lines are lines, and so is what stands behind the last
/// end if it is not empty. What is no UTF-8 becomes U+FFFD.
public struct LineSplitter: StreamParser {
    private var reader: LineReader

    /// Makes a splitter.
    ///
    /// - Parameter limit: The most bytes of a line without its end; 1 MiB by default.
    public init(limit: Int = 1 << 20) {
        reader = LineReader(endingAt: .lineFeed, limit: limit)
    }

    /// Takes the next bytes.
    public mutating func append(_ chunk: Data) {
        reader.append(chunk)
    }

    /// Learns that there will be no more bytes, which ends the last line.
    public mutating func finish() {
        reader.finish()
    }

    /// The next line without its end; nil if it is not whole yet, or none is left.
    ///
    /// - Returns: A line.
    /// - Throws: ``SluiceError/Code/elementTooLarge``, and from then on again.
    public mutating func next() throws(SluiceError) -> String? {
        var nothing: Void = ()
        return try reader.next(&nothing) { _, line in String(decoding: line, as: UTF8.self) }
    }
}

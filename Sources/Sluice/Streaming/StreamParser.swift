import SluiceHTTP

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Makes elements of a body that arrives in chunks: ``LineSplitter``, ``ServerSentEventParser``, or one's own.
///
/// It is given chunks as they come, asked for elements until it has no more, and given the next chunk; so it never holds more than
/// an element that is not whole yet, and what is left of one chunk. How a body is cut into chunks must make no difference to it.
///
/// ```swift
/// struct Records: StreamParser {
///     private var bytes = Data()
///
///     mutating func append(_ chunk: Data) { bytes.append(chunk) }
///     mutating func finish() {}
///     mutating func next() throws(SluiceError) -> Data? {
///         guard bytes.count >= 16 else { return nil }
///         defer { bytes = Data(bytes.dropFirst(16)) }
///         return Data(bytes.prefix(16))
///     }
/// }
/// ```
public protocol StreamParser<Element>: Sendable {
    /// What it makes.
    associatedtype Element: Sendable

    /// Takes the next bytes.
    mutating func append(_ chunk: Data)

    /// Learns that there will be no more bytes.
    mutating func finish()

    /// The next element of the bytes there are; nil if it is not whole yet, or none is left.
    ///
    /// - Returns: An element.
    /// - Throws: A ``SluiceError``, with which the stream ends.
    mutating func next() throws(SluiceError) -> Element?
}

extension SluiceError.Code {
    /// A line or an event of a stream is over its limit.
    public static let elementTooLarge = SluiceError.Code("elementTooLarge")
}

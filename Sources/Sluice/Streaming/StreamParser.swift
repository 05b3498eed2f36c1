import SluiceFoundation
import SluiceHTTP

/// A parser that makes elements from a body that arrives in chunks: ``LineSplitter``, ``ServerSentEventParser``, or a
/// custom one.
///
/// The reader appends a chunk, calls ``next()`` until it returns nil, and then appends the next chunk. A parser
/// therefore holds at most one incomplete element and the rest of one chunk. The result must not depend on the
/// boundaries of the chunks.
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
    /// The type of the elements.
    associatedtype Element: Sendable

    /// Appends the next bytes.
    mutating func append(_ chunk: Data)

    /// Signals the end of the body.
    mutating func finish()

    /// Returns the next element, or nil if it is incomplete or there is none.
    ///
    /// - Returns: The next element.
    /// - Throws: A ``SluiceError``, which ends the stream.
    mutating func next() throws(SluiceError) -> Element?
}

extension SluiceError.Code {
    /// A line or an event of a stream exceeds its size limit.
    public static let elementTooLarge = SluiceError.Code("elementTooLarge")
}

/// Reads chunks and returns the elements that a parser makes from them, one at a time. Waits only if the next element
/// is not complete yet.
struct ElementReader<Chunks: AsyncIteratorProtocol, Element: Sendable>
where Chunks.Element == Data, Chunks.Failure == SluiceError {
    /// The source of chunks. Set to nil once the stream is over, so that the sender can stop.
    private var chunks: Chunks?
    private(set) var parser: any StreamParser<Element>
    private var isFinished = false

    init(_ chunks: Chunks, _ parser: any StreamParser<Element>) {
        self.chunks = chunks
        self.parser = parser
    }

    /// Returns the next element, or nil at the end and after an error.
    mutating func next(isolation actor: isolated (any Actor)?) async throws(SluiceError) -> Element? {
        do {
            while chunks != nil {
                if let element = try parser.next() { return element }
                if isFinished { break }
                if let chunk = try await chunks?.next(isolation: actor) {
                    parser.append(chunk)
                } else {
                    parser.finish()
                    isFinished = true
                }
            }
        } catch {
            chunks = nil
            throw error
        }
        chunks = nil
        return nil
    }
}

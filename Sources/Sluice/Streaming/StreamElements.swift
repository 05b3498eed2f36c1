import SluiceFoundation
import SluiceHTTP

/// Elements that are parsed from chunks of bytes as the chunks arrive.
///
/// ```swift
/// for try await line in response.body.lines { print(line) }
/// ```
///
/// Nothing is read ahead except the chunk that contains the current element, so a slow loop slows the sender down.
public struct StreamElements<Chunks: AsyncSequence, Element: Sendable>: AsyncSequence
where Chunks.Element == Data, Chunks.Failure == SluiceError {
    /// The error of the chunks, or of the parser.
    public typealias Failure = SluiceError

    private let chunks: Chunks
    private let parser: @Sendable () -> any StreamParser<Element>

    init(_ chunks: Chunks, _ parser: @escaping @Sendable () -> any StreamParser<Element>) {
        self.chunks = chunks
        self.parser = parser
    }

    /// Creates an iterator over the elements.
    public func makeAsyncIterator() -> Iterator {
        Iterator(reader: ElementReader(chunks.makeAsyncIterator(), parser()))
    }

    /// Iterates over the elements.
    public struct Iterator: AsyncIteratorProtocol {
        fileprivate var reader: ElementReader<Chunks.AsyncIterator, Element>

        /// Returns the next element, or nil at the end.
        public mutating func next(isolation actor: isolated (any Actor)?) async throws(SluiceError) -> Element? {
            try await reader.next(isolation: actor)
        }
    }
}

extension StreamElements: Sendable where Chunks: Sendable {}

/// Parses a sequence of chunks, such as a ``ResponseBody``, into lines, values or events.
extension AsyncSequence where Element == Data, Failure == SluiceError {
    /// The lines of a UTF-8 body, at most 1 MiB each: see ``LineSplitter``.
    public var lines: StreamElements<Self, String> { lines() }

    /// The lines of a UTF-8 body: see ``LineSplitter``.
    ///
    /// - Parameter limit: The maximum size of a line in bytes. A longer line fails with
    ///   ``SluiceError/Code/elementTooLarge``.
    /// - Returns: The lines without their line endings.
    public func lines(limit: Int = 1 << 20) -> StreamElements<Self, String> {
        StreamElements(self) { LineSplitter(limit: limit) }
    }

    /// The values of a body with one JSON text per line, such as NDJSON or JSON Lines. Empty lines are skipped.
    ///
    /// - Parameters:
    ///   - type: The type of the values.
    ///   - decoder: The decoder to use.
    ///   - limit: The maximum size of a line in bytes; 1 MiB by default.
    /// - Returns: The values. A line that cannot be decoded fails with ``SluiceError/Code/decodingFailed``, which names
    ///   the line number.
    public func jsonLines<Value: Decodable & Sendable>(
        of type: Value.Type = Value.self,
        decoder: any DataDecoder = JSONDecoder(),
        limit: Int = 1 << 20
    ) -> StreamElements<Self, Value> {
        let decoder = SharedDecoder(decoder)
        return StreamElements(self) { JSONLineParser(decoder, limit: limit) }
    }

    /// The events of a `text/event-stream` body: see ``ServerSentEventParser``.
    ///
    /// - Parameter limit: The maximum size of an event's data, and of each line, in bytes; 1 MiB by default.
    /// - Returns: The events.
    public func serverSentEvents(limit: Int = 1 << 20) -> StreamElements<Self, ServerSentEvent> {
        StreamElements(self) { ServerSentEventParser(limit: limit) }
    }

    /// The elements that a parser makes from the chunks.
    ///
    /// - Parameter parser: Called to create a parser each time the elements are iterated.
    /// - Returns: The elements.
    public func elements<Parser: StreamParser>(
        parsedBy parser: @escaping @Sendable () -> Parser
    ) -> StreamElements<Self, Parser.Element> {
        StreamElements(self) { parser() }
    }
}

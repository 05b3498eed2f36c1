import SluiceHTTP

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Elements made of chunks of bytes while these arrive.
///
/// ```swift
/// for try await line in response.body.lines { print(line) }
/// ```
///
/// Nothing is read ahead of the loop but the chunk that its element lies in, so that a slow loop slows down whatever sends.
public struct StreamElements<Chunks: AsyncSequence, Element: Sendable>: AsyncSequence
where Chunks.Element == Data, Chunks.Failure == SluiceError {
    /// The elements fail as the chunks do, or because they cannot be made.
    public typealias Failure = SluiceError

    private let chunks: Chunks
    private let parser: @Sendable () -> any StreamParser<Element>

    init(_ chunks: Chunks, _ parser: @escaping @Sendable () -> any StreamParser<Element>) {
        self.chunks = chunks
        self.parser = parser
    }

    /// Begins to read the chunks.
    public func makeAsyncIterator() -> Iterator {
        Iterator(reader: ElementReader(chunks.makeAsyncIterator(), parser()))
    }

    /// Reads the elements one by one.
    public struct Iterator: AsyncIteratorProtocol {
        fileprivate var reader: ElementReader<Chunks.AsyncIterator, Element>

        /// The next element, nil at the end.
        public mutating func next(isolation actor: isolated (any Actor)?) async throws(SluiceError) -> Element? {
            try await reader.next(isolation: actor)
        }
    }
}

extension StreamElements: Sendable where Chunks: Sendable {}

/// What chunks of bytes can be read as: a ``ResponseBody`` above all.
extension AsyncSequence where Element == Data, Failure == SluiceError {
    /// The lines of a text in UTF-8, of up to 1 MiB each: see ``LineSplitter``.
    public var lines: StreamElements<Self, String> { lines() }

    /// The lines of a text in UTF-8: see ``LineSplitter``.
    ///
    /// - Parameter limit: The most bytes of a line; a longer one fails with ``SluiceError/Code/elementTooLarge``.
    /// - Returns: The lines without their ends.
    public func lines(limit: Int = 1 << 20) -> StreamElements<Self, String> {
        StreamElements(self) { LineSplitter(limit: limit) }
    }

    /// The values of a body that has one JSON text a line, as NDJSON and JSON Lines do; empty lines are passed over.
    ///
    /// - Parameters:
    ///   - type: What a line is.
    ///   - decoder: What decodes it.
    ///   - limit: The most bytes of a line; 1 MiB by default.
    /// - Returns: The values. A line that is none fails with ``SluiceError/Code/decodingFailed``, which says which line it is.
    public func jsonLines<Value: Decodable & Sendable>(
        of type: Value.Type = Value.self,
        decoder: any DataDecoder = JSONDecoder(),
        limit: Int = 1 << 20
    ) -> StreamElements<Self, Value> {
        let decoder = SharedDecoder(decoder)
        return StreamElements(self) { JSONLineParser(decoder, limit: limit) }
    }

    /// The events of a body of the type `text/event-stream`: see ``ServerSentEventParser``.
    ///
    /// - Parameter limit: The most bytes of an event's data, and of each of its lines; 1 MiB by default.
    /// - Returns: The events.
    public func serverSentEvents(limit: Int = 1 << 20) -> StreamElements<Self, ServerSentEvent> {
        StreamElements(self) { ServerSentEventParser(limit: limit) }
    }

    /// What a parser makes of the chunks.
    ///
    /// - Parameter parser: Makes a parser, for each time that the elements are read.
    /// - Returns: The elements.
    public func elements<Parser: StreamParser>(
        parsedBy parser: @escaping @Sendable () -> Parser
    ) -> StreamElements<Self, Parser.Element> {
        StreamElements(self) { parser() }
    }
}

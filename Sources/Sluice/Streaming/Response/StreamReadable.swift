import SluiceFoundation
import SluiceHTTP

/// A response that can be read while it arrives: a ``StreamRequest``, which is sent when reading starts, or a
/// ``StreamedResponse``.
public protocol StreamReadable<ErrorModel>: Sendable {
    /// The error model that reading fails with.
    associatedtype ErrorModel: ErrorSerializable

    /// The non-empty chunks of bytes, as they arrive.
    var bytes: StreamSequence<Data, ErrorModel> { get }
}

extension StreamReadable {
    /// The lines of a UTF-8 body, at most 1 MiB each: see ``LineSplitter``.
    public var lines: StreamSequence<String, ErrorModel> { lines() }

    /// The lines of a UTF-8 body: see ``LineSplitter``.
    ///
    /// - Parameter limit: The maximum size of a line in bytes. A longer line fails with
    ///   ``SluiceError/Code/elementTooLarge``.
    /// - Returns: The lines without their line endings.
    public func lines(limit: Int = 1 << 20) -> StreamSequence<String, ErrorModel> {
        elements { LineSplitter(limit: limit) }
    }

    /// The values of a body with one JSON text per line, such as NDJSON or JSON Lines. Empty lines are skipped.
    ///
    /// - Parameters:
    ///   - type: The type of the values.
    ///   - decoder: The decoder to use; nil for the client's decoder.
    ///   - limit: The maximum size of a line in bytes; 1 MiB by default.
    /// - Returns: The values. A line that cannot be decoded fails with ``SluiceError/Code/decodingFailed``, which names
    ///   the line number.
    public func jsonLines<Value: Decodable & Sendable>(
        of type: Value.Type = Value.self,
        decoder: (any DataDecoder)? = nil,
        limit: Int = 1 << 20
    ) -> StreamSequence<Value, ErrorModel> {
        let decoder = decoder.map(SharedDecoder.init) ?? bytes.request.client.pipeline.modelDecoder
        return elements { JSONLineParser(decoder, limit: limit) }
    }

    /// The elements that a parser makes from the body.
    ///
    /// - Parameter parser: Called to create a parser each time the elements are iterated.
    /// - Returns: The elements.
    public func elements<Parser: StreamParser>(
        parsedBy parser: @escaping @Sendable () -> Parser
    ) -> StreamSequence<Parser.Element, ErrorModel> {
        let bytes = bytes
        return StreamSequence(request: bytes.request, body: bytes.body) { parser() }
    }
}

/// The elements of a response that is read while it arrives: chunks of bytes, lines or values.
///
/// ```swift
/// for try await reading in sensors.stream("readings").jsonLines(of: Reading.self) { print(reading) }
/// ```
///
/// The sequence of a ``StreamRequest`` sends the request each time it is iterated, when the first element is requested.
/// The sequence of a ``StreamedResponse`` continues after the last element that another loop has read. Only as much is read as the loop
/// consumes, so a slow loop slows the server down. Cancelling the loop's task stops the transfer. So does leaving the
/// loop, unless a ``StreamedResponse`` still exists.
public struct StreamSequence<Element: Sendable, ErrorModel: ErrorSerializable>: AsyncSequence, Sendable {
    let request: StreamRequest<ErrorModel>
    /// The body to read; nil if iterating sends the request.
    let body: StreamedBody?
    let parser: @Sendable () -> any StreamParser<Element>

    /// Creates an iterator. If the request has not been sent yet, the first call of `next()` sends it.
    public func makeAsyncIterator() -> Iterator {
        Iterator(self)
    }

    /// Iterates over the elements.
    public struct Iterator: AsyncIteratorProtocol {
        private let request: StreamRequest<ErrorModel>
        private let parser: any StreamParser<Element>
        private var reader: ElementReader<StreamedBody.Iterator, Element>?
        /// The response body; nil before the request is sent and after the stream is over.
        private var body: StreamedBody?
        private var isBegun: Bool

        fileprivate init(_ sequence: StreamSequence) {
            request = sequence.request
            parser = sequence.parser()
            body = sequence.body
            isBegun = body != nil
            reader = body.map { ElementReader(StreamedBody.Iterator(body: $0), parser, sharing: $0) }
        }

        /// Returns the next element, or nil at the end and after an error.
        public mutating func next(isolation actor: isolated (any Actor)?) async throws(ErrorModel) -> Element? {
            do throws(StreamFailure) {
                if !isBegun {
                    isBegun = true
                    let body = try await request.begun()
                    self.body = body
                    reader = ElementReader(StreamedBody.Iterator(body: body), parser)
                }
                if let element = try await element(isolation: actor) { return element }
            } catch {
                (reader, body) = (nil, nil)
                throw request.model(of: error)
            }
            (reader, body) = (nil, nil)
            return nil
        }

        private mutating func element(isolation actor: isolated (any Actor)?) async throws(StreamFailure) -> Element? {
            do {
                return try await reader?.next(isolation: actor)
            } catch {
                throw StreamFailure(error: body?.failed(error) ?? error)
            }
        }
    }
}

/// Returns each chunk unchanged.
struct ChunkParser: StreamParser {
    private var chunks: [Data] = []

    mutating func append(_ chunk: Data) { chunks.append(chunk) }
    mutating func finish() {}
    var unread: Data { Data(chunks.joined()) }
    mutating func next() -> Data? { chunks.isEmpty ? nil : chunks.removeFirst() }
}

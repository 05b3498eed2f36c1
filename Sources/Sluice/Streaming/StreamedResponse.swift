import SluiceFoundation
import SluiceHTTP

/// An accepted response whose body is still arriving.
///
/// ```swift
/// let response = try await files.stream("report.csv").response()
/// print(response.head.headers["Last-Modified"] ?? "")
/// for try await line in response.lines { print(line) }
/// ```
///
/// The body can be read once, by one loop or by several in turn: each continues after the last element of the one
/// before, also with elements of another kind. The transfer stops when the response and all its iterators are released.
///
/// ```swift
/// for try await line in response.lines where line.isEmpty { break }     // the head of a message
/// let rest = try await response.collect()                               // what follows the empty line
/// ```
public struct StreamedResponse<ErrorModel: ErrorSerializable>: Sendable {
    let streamedBody: StreamedBody
    let streamRequest: StreamRequest<ErrorModel>

    init(_ body: StreamedBody, _ streamRequest: StreamRequest<ErrorModel>) {
        streamedBody = body
        self.streamRequest = streamRequest
    }

    /// The request of the response, after interceptors and redirects.
    public var request: HTTPRequest { streamedBody.response.request }
    /// The status, headers and version.
    public var head: HTTPResponse { streamedBody.response.head }
    /// The status.
    public var status: HTTPStatus { head.status }
    /// The source of the response: the server or the cache.
    public var source: ResponseSource { streamedBody.response.source }
    /// The metrics of the transfer, available once the whole body has arrived.
    public var metrics: TransferMetrics? { streamedBody.metrics }
    /// The trailer section (RFC 9110 §6.5), available once the whole body has arrived; empty if there is none.
    public var trailers: HTTPHeaders? { streamedBody.trailers }

    /// Reads the rest of the body into memory.
    ///
    /// - Parameter limit: The maximum number of bytes; nil for no limit.
    /// - Returns: The bytes.
    /// - Throws: The request's error model: ``SluiceError/Code/bodyTooLarge`` over the limit, or the error of the
    ///   transfer.
    public func collect(upTo limit: Int64? = nil) async throws(ErrorModel) -> Data {
        var all = streamedBody.takeUnread()
        do throws(SluiceError) {
            try streamedBody.check(all.count, limit)
            while let chunk = try await streamedBody.next(isolation: nil) {
                try streamedBody.check(all.count + chunk.count, limit)
                if all.isEmpty { all = chunk } else { all.append(chunk) }
            }
        } catch {
            throw streamRequest.model(of: StreamFailure(error: error))
        }
        return all
    }
}

extension StreamedResponse: StreamReadable {
    /// The non-empty chunks of bytes that have not been read yet, as they arrive.
    public var bytes: StreamSequence<Data, ErrorModel> {
        StreamSequence(request: streamRequest, body: streamedBody) { ChunkParser() }
    }

    /// The events of a `text/event-stream` body (WHATWG HTML §9.2.6).
    ///
    /// An event with an empty data field is delivered. An event that is not followed by an empty line when the body ends
    /// is discarded. An event ID with control characters other than tabs, or of more than 4,096 bytes, is ignored.
    ///
    /// - Parameter limit: The maximum size of an event's data, and of each line, in bytes; 1 MiB by default.
    /// - Returns: The events.
    public func serverSentEvents(limit: Int = 1 << 20) -> StreamSequence<ServerSentEvent, ErrorModel> {
        let decoder = ClientsDecoder(shared: streamRequest.client.pipeline.modelDecoder)
        return elements {
            var parser = ServerSentEventParser(limit: limit)
            parser.decoder = decoder
            return parser
        }
    }
}

/// A response body that is read once, while it arrives. Completes the request when the body ends or fails.
///
/// The transfer stops when the last reference is released.
final class StreamedBody: Sendable {
    /// The response without its body.
    let response: ServerResponse
    private let body: ResponseBody
    private let call: Call?
    private let running: RunningStream
    /// True if a body that was complete from the start has been read.
    private let isRead = Locked(false)
    /// The error that has ended the body. Bytes that were dropped with it would be missing for another loop.
    private let failure = Locked<SluiceError?>(nil)
    /// The parser of the loop that reads the body, which may have bytes that it has not returned.
    private let parser = Locked<(any SharedParsing)?>(nil)
    /// True if a line feed at the beginning of the next chunk is the second half of a line ending that a loop has read.
    private let skipsLineFeed = Locked(false)

    init(_ body: ResponseBody, _ response: ServerResponse, _ call: Call?, _ running: RunningStream) {
        self.body = body
        self.response = response
        self.call = call
        self.running = running
        running.read(body)
    }

    deinit {
        let wasCancelled = running.isCancelled || Task.isCancelled
        running.end()
        // No effect if the request has already finished. It has not failed if its reader leaves, unless that is due to a cancellation.
        call?.finish(
            wasCancelled
                ? .failure(.cancelled.with(request: response.request, response: response.head)) : .success(response)
        )
    }

    /// The metrics of the transfer, available once the whole body has arrived.
    var metrics: TransferMetrics? { body.metrics }

    /// The trailer section, available once the whole body has arrived. A body set by an interceptor has the trailers of
    /// its response.
    var trailers: HTTPHeaders? {
        guard let trailers = body.trailers else { return nil }
        return trailers.isEmpty ? response.trailers : trailers
    }

    /// Makes a parser the one that reads the body. It takes over the unread bytes of the one before.
    func activate(_ parser: any SharedParsing) {
        let previous = self.parser.withLock { current -> (any SharedParsing)? in
            if current === parser { return nil }
            defer { current = parser }
            return current
        }
        guard let previous, failure.withLock({ $0 == nil }) else { return }
        recordLineEnding(of: previous)
        parser.takeOver(from: previous)
    }

    /// Removes and returns the bytes that a loop has received and not returned.
    func takeUnread() -> Data {
        guard let previous = parser.withLock({ $0.take() }), failure.withLock({ $0 == nil }) else { return Data() }
        recordLineEnding(of: previous)
        return previous.takeUnread().0
    }

    private func recordLineEnding(of parser: any SharedParsing) {
        if parser.expectsLineFeed { skipsLineFeed.withLock { $0 = true } }
    }

    /// Returns a chunk without the second half of a line ending that a loop has read.
    private func withoutHalfLineEnding(_ chunk: Data) -> Data {
        skipsLineFeed.exchange(false) && chunk.first == 10 ? Data(chunk.dropFirst()) : chunk
    }

    /// Returns the next chunk, or nil at the end.
    func next(isolation actor: isolated (any Actor)?) async throws(SluiceError) -> Data? {
        if let failure = failure.withLock({ $0 }) { throw failure }
        do {
            if let data = body.whole?.data {
                if !isRead.exchange(true), !data.isEmpty { return data }
            } else {
                var chunks = body.makeChunkIterator()
                while let chunk = try await chunks.next(isolation: actor) {
                    let rest = withoutHalfLineEnding(chunk)
                    if !rest.isEmpty { return rest }
                }
            }
        } catch {
            throw failed(error)
        }
        complete()
        return nil
    }

    /// Completes the request after the whole body has been read.
    private func complete() {
        var response = response
        if let metrics { response.metrics = metrics }
        if let trailers { response.trailers = trailers }
        call?.finish(.success(response))
        running.end()
    }

    /// Reads a rest of up to 64 KiB in the background, for up to a second, so that the connection can be used again and the
    /// request has metrics. A reader calls this when the body has nothing more to say.
    func finish() {
        Task.detached {
            // Otherwise the transfer stops, and the request is complete without metrics: see `deinit`.
            if await self.body.collectedBriefly() != nil { self.complete() }
        }
    }

    /// Fails if a number of bytes is over the limit.
    func check(_ count: Int, _ limit: Int64?) throws(SluiceError) {
        if let limit, Int64(count) > limit { throw failed(.bodyTooLarge(limit: limit)) }
    }

    /// Finishes the request with an error, and stops the transfer. Returns the error with the request and the response added.
    func failed(_ error: SluiceError) -> SluiceError {
        let error = error.with(request: response.request, response: response.head)
        failure.withLock { $0 = $0 ?? error }
        body.cancel()
        call?.finish(.failure(error))
        running.end()
        return error
    }

    /// An iterator over the chunks. Several iterators share one position.
    struct Iterator: AsyncIteratorProtocol {
        let body: StreamedBody

        mutating func next(isolation actor: isolated (any Actor)?) async throws(SluiceError) -> Data? {
            try await body.next(isolation: actor)
        }
    }
}

extension StreamedResponse: CustomReflectable, RedactedMirror {
    package var shown: [Mirror.Child] { [("request", request), ("head", head), ("source", source)] }
}

// MARK: - Stream readable

/// A response that can be read while it arrives: a ``StreamRequest``, which is sent when reading starts, or a
/// ``StreamedResponse``.
public protocol StreamReadable<ErrorModel>: Sendable {
    /// The error model that reading fails with.
    associatedtype ErrorModel: ErrorSerializable

    /// The non-empty chunks of bytes, as they arrive.
    var bytes: StreamSequence<Data, ErrorModel> { get }
}

extension StreamReadable {
    /// The lines of a UTF-8 body, at most 1 MiB each: see ``lines(limit:)``.
    public var lines: StreamSequence<String, ErrorModel> { lines() }

    /// The lines of a UTF-8 body.
    ///
    /// A line ends with LF or CRLF. A CR alone does not end a line. Empty lines are returned, as is a last line without
    /// a line ending. Invalid UTF-8 is replaced with U+FFFD.
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

    /// Creates an iterator. If the request has not been sent yet, the first call of `next(isolation:)` sends it. The
    /// iterator returns nil at the end and after an error.
    public func makeAsyncIterator() -> some AsyncIteratorProtocol<Element, ErrorModel> {
        Iterator(self)
    }

    /// Iterates over the elements.
    package struct Iterator: AsyncIteratorProtocol {
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
        package mutating func next(isolation actor: isolated (any Actor)?) async throws(ErrorModel) -> Element? {
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

struct ChunkParser: StreamParser {
    private var chunks: [Data] = []

    mutating func append(_ chunk: Data) { chunks.append(chunk) }
    mutating func finish() {}
    var unread: Data { Data(chunks.joined()) }
    mutating func next() -> Data? { chunks.isEmpty ? nil : chunks.removeFirst() }
}

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
    let body: StreamedBody
    let streamRequest: StreamRequest<ErrorModel>

    init(_ body: StreamedBody, _ streamRequest: StreamRequest<ErrorModel>) {
        self.body = body
        self.streamRequest = streamRequest
    }

    /// The request of the response, after interceptors and redirects.
    public var request: HTTPRequest { body.response.request }
    /// The status, headers and version.
    public var head: HTTPResponse { body.response.head }
    /// The status.
    public var status: HTTPStatus { head.status }
    /// The origin of the response: the server or the cache.
    public var source: ResponseSource { body.response.source }
    /// The metrics of the transfer, available once the whole body has arrived.
    public var metrics: TransferMetrics? { body.metrics }
    /// The trailer section (RFC 9110 §6.5), available once the whole body has arrived; empty if there is none.
    public var trailers: HTTPHeaders? { body.trailers }

    /// Reads the rest of the body into memory.
    ///
    /// - Parameter limit: The maximum number of bytes; nil for no limit.
    /// - Returns: The bytes.
    /// - Throws: The request's error model: ``SluiceError/Code/bodyTooLarge`` over the limit, or the error of the
    ///   transfer.
    public func collect(upTo limit: Int64? = nil) async throws(ErrorModel) -> Data {
        var all = body.takeUnread()
        do throws(SluiceError) {
            try body.check(all.count, limit)
            while let chunk = try await body.next(isolation: nil) {
                try body.check(all.count + chunk.count, limit)
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
        StreamSequence(request: streamRequest, body: body) { ChunkParser() }
    }

    /// The events of a `text/event-stream` body: see ``ServerSentEventParser``.
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
    /// The parser of the loop that reads the body, which may have bytes that it has not returned.
    private let parser = Locked<(any SharedParsing)?>(nil)

    init(_ body: ResponseBody, _ response: ServerResponse, _ call: Call?, _ running: RunningStream) {
        self.body = body
        self.response = response
        self.call = call
        self.running = running
        running.read(body)
    }

    deinit {
        running.end()
        // No effect if the request has already finished.
        call?.finish(.failure(.cancelled.with(request: response.request, response: response.head)))
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
        if let previous { parser.takeOver(from: previous) }
    }

    /// Removes and returns the bytes that a loop has received and not returned.
    func takeUnread() -> Data {
        parser.withLock { $0.take() }?.takeUnread().0 ?? Data()
    }

    /// Returns the next chunk, or nil at the end.
    func next(isolation actor: isolated (any Actor)?) async throws(SluiceError) -> Data? {
        do {
            if let data = body.whole?.data {
                let wasRead = isRead.withLock { isRead in
                    defer { isRead = true }
                    return isRead
                }
                if !wasRead, !data.isEmpty { return data }
            } else {
                var chunks = body.makeAsyncIterator()
                if let chunk = try await chunks.next(isolation: actor) { return chunk }
            }
        } catch {
            throw failed(error)
        }
        var response = response
        if let metrics { response.metrics = metrics }
        if let trailers { response.trailers = trailers }
        call?.finish(.success(response))
        running.end()
        return nil
    }

    /// Fails if a number of bytes is over the limit.
    func check(_ count: Int, _ limit: Int64?) throws(SluiceError) {
        if let limit, Int64(count) > limit { throw failed(.bodyTooLarge(limit: limit)) }
    }

    /// Finishes the request with an error. Returns the error with the request and the response added.
    func failed(_ error: SluiceError) -> SluiceError {
        let error = error.with(request: response.request, response: response.head)
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

extension StreamedResponse: CustomReflectable {
    /// The request, the response head and the source.
    public var customMirror: Mirror {
        Mirror(self, children: ["request": request, "head": head, "source": source], displayStyle: .struct)
    }
}

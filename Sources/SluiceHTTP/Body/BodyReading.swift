import SluiceFoundation

extension RequestBody: AsyncSequence {
    /// Creates an iterator over the chunks of the body, none of them empty, which starts at the first byte.
    ///
    /// It throws ``SluiceError/Code/bodyUnavailable`` if the source fails, ``SluiceError/Code/bodyLengthMismatch`` if its
    /// length differs from ``length``, and ``SluiceError/Code/bodyNotReplayable`` if the body can be read only once and
    /// has been read.
    public func makeAsyncIterator() -> some AsyncIteratorProtocol<Data, SluiceError> { Iterator(self) }

    private struct Iterator: AsyncIteratorProtocol {
        private enum State {
            case unopened(RequestBody)
            case reading(StreamReading)
            case end
        }

        private var state: State

        init(_ body: RequestBody) {
            state = .unopened(body)
        }

        /// Returns the next chunk; nil at the end.
        mutating func next(isolation actor: isolated (any Actor)?) async throws(SluiceError) -> Data? {
            while true {
                switch state {
                case .unopened(let body):
                    state = .end
                    let body = try await body.prepared()
                    switch body.source {
                    case .data(let data): return data.isEmpty ? nil : data
                    case .stream(let stream): state = .reading(StreamReading(stream, length: body.length))
                    case .none, .file, .deferred, .encoded: return nil
                    }
                case .reading(var reading):
                    state = .end
                    guard let chunk = try await reading.next(isolation: actor) else { return nil }
                    state = .reading(reading)
                    if !chunk.isEmpty { return chunk }
                case .end:
                    return nil
                }
            }
        }
    }

    /// Reads the whole body.
    ///
    /// ```swift
    /// let bytes = try await request.body.collect(upTo: 10 << 20)
    /// request.body = .data(bytes)
    /// ```
    ///
    /// A body that is not replayable can be read only once. The second line replaces it by its bytes, so that it can be
    /// sent.
    ///
    /// - Parameter limit: The maximum number of bytes, nil for no limit.
    /// - Returns: The bytes; none if there is no body.
    /// - Throws: ``SluiceError/Code/bodyTooLarge`` if the limit is exceeded, or an error of ``makeAsyncIterator()``.
    public func collect(upTo limit: Int64? = nil) async throws(SluiceError) -> Data {
        var all = Data()
        var iterator = makeAsyncIterator()
        while let chunk = try await iterator.next(isolation: nil) {
            if let limit, Int64(all.count + chunk.count) > limit {
                throw SluiceError(.bodyTooLarge, "The request's body exceeds the limit of \(limit) bytes.")
            }
            if all.isEmpty { all = chunk } else { all.append(chunk) }
        }
        return all
    }
}

/// A single pass over a stream, which checks the announced length.
///
/// The chunk that completes the length is returned only after the stream has ended. A body that is too long therefore
/// fails before its receiver can treat it as complete.
package struct StreamReading {
    private let read: RequestBody.Reader
    private let length: Int64?
    private var count: Int64 = 0
    private var isOver = false

    /// Starts to read a stream; a length of nil is unknown.
    package init(_ stream: RequestBody.Stream, length: Int64?) {
        read = stream.open()
        self.length = length
    }

    /// Returns the next chunk; nil at the end.
    ///
    /// - Parameter actor: The actor of the caller.
    /// - Returns: The chunk.
    /// - Throws: The error of the stream, or ``SluiceError/Code/bodyLengthMismatch``.
    package mutating func next(isolation actor: isolated (any Actor)?) async throws(SluiceError) -> Data? {
        if isOver { return nil }
        do {
            guard let chunk = try await read() else {
                isOver = true
                if let length, count < length { throw SluiceError.mismatch(length, "only \(count)") }
                return nil
            }
            count += Int64(chunk.count)
            isOver = count == length
            while isOver, count == length, let more = try await read() { count += Int64(more.count) }
            if let length, count > length { throw SluiceError.mismatch(length, "more") }
            return chunk
        } catch let error as SluiceError {
            throw error
        } catch is CancellationError where Task.isCancelled {
            throw .cancelled
        } catch {
            throw SluiceError(.bodyUnavailable, "The request's body could not be read.", underlyingError: error)
        }
    }
}

extension SluiceError {
    fileprivate static func mismatch(_ length: Int64, _ actual: String) -> SluiceError {
        SluiceError(.bodyLengthMismatch, "The request's body was announced with \(length) bytes, but has \(actual).")
    }
}

// MARK: - Body stream

extension RequestBody {
    /// A stream of chunks from an asynchronous sequence, read no faster than the network accepts them.
    ///
    /// - Parameters:
    ///   - chunks: The body in pieces of any size: `Data`, `[UInt8]` or other sequences of bytes. An error that the
    ///     sequence throws fails the request.
    ///   - length: The exact number of bytes in all. Without it HTTP/1.1 sends the body chunked (RFC 9112 §7.1).
    ///   - isReplayable: True if a new iterator starts at the first byte again. False by default.
    ///   - contentType: The media type; by default `application/octet-stream`, unless the request has another.
    /// - Returns: A body that reads the sequence when it is sent.
    public static func stream<Chunks: AsyncSequence & Sendable>(
        _ chunks: Chunks,
        length: Int64? = nil,
        isReplayable: Bool = false,
        contentType: String? = nil
    ) -> RequestBody where Chunks.Element: Sequence<UInt8> {
        .stream(
            Stream(chunks, isReplayable: isReplayable),
            length: length,
            isReplayable: isReplayable,
            contentType: contentType
        )
    }

    /// A stream of single bytes from an asynchronous sequence, sent in pieces of 32 KiB.
    ///
    /// - Parameters:
    ///   - bytes: The body byte by byte. An error that the sequence throws fails the request.
    ///   - length: The exact number of bytes in all. Without it HTTP/1.1 sends the body chunked (RFC 9112 §7.1).
    ///   - isReplayable: True if a new iterator starts at the first byte again. False by default.
    ///   - contentType: The media type; by default `application/octet-stream`, unless the request has another.
    /// - Returns: A body that reads the sequence when it is sent.
    public static func stream<Bytes: AsyncSequence & Sendable>(
        _ bytes: Bytes,
        length: Int64? = nil,
        isReplayable: Bool = false,
        contentType: String? = nil
    ) -> RequestBody where Bytes.Element == UInt8 {
        .stream(BytePieces(bytes: bytes), length: length, isReplayable: isReplayable, contentType: contentType)
    }

    /// Unavailable: the elements are not bytes.
    @available(*, unavailable, message: "Convert the elements to Data, [UInt8] or UInt8: \"map { Data($0.utf8) }\".")
    public static func stream<Elements: AsyncSequence>(
        _ elements: Elements,
        length: Int64? = nil,
        isReplayable: Bool = false,
        contentType: String = ""
    ) -> RequestBody { .none }
}

extension RequestBody.Stream {
    /// Creates a stream of the chunks of a sequence. A stream that is not replayable can be opened once.
    package init<Chunks: AsyncSequence & Sendable>(_ chunks: Chunks, isReplayable: Bool)
    where Chunks.Element: Sequence<UInt8> {
        let isOpened = isReplayable ? nil : Locked(false)
        self.init {
            if let isOpened, isOpened.exchange(true) { return { throw SluiceError.alreadyRead } }
            var iterator = chunks.makeAsyncIterator()
            return { try await iterator.next().map { $0 as? Data ?? Data($0) } }
        }
    }
}

extension SluiceError {
    fileprivate static var alreadyRead: SluiceError {
        SluiceError(
            .bodyNotReplayable,
            "The request's body can be read only once, and has been read. Send the bytes that were read, or make the body replayable."
        )
    }
}

/// Single bytes, collected into pieces that are large enough for one write.
struct BytePieces<Bytes: AsyncSequence & Sendable>: AsyncSequence, Sendable where Bytes.Element == UInt8 {
    let bytes: Bytes

    struct Iterator: AsyncIteratorProtocol {
        fileprivate static var size: Int { 32 << 10 }
        fileprivate var bytes: Bytes.AsyncIterator

        mutating func next() async throws -> Data? {
            var piece = Data(capacity: Self.size)
            while piece.count < Self.size, let byte = try await bytes.next() { piece.append(byte) }
            return piece.isEmpty ? nil : piece
        }
    }

    func makeAsyncIterator() -> Iterator { Iterator(bytes: bytes.makeAsyncIterator()) }
}

import SluiceFoundation

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
    @available(
        *,
        unavailable,
        message:
            "A body is a sequence of Data, [UInt8] or UInt8: convert the elements with \"map\", as in Data($0.utf8)."
    )
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
            if let isOpened, isOpened.withLock({ $0.exchange(true) }) { return { throw SluiceError.alreadyRead } }
            var iterator = chunks.makeAsyncIterator()
            return { try await iterator.next().map { $0 as? Data ?? Data($0) } }
        }
    }
}

extension Bool {
    /// Sets a value and returns the former one.
    fileprivate mutating func exchange(_ value: Bool) -> Bool {
        defer { self = value }
        return self
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

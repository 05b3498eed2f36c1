import SluiceFoundation

extension RequestBody: AsyncSequence {
    /// Creates an iterator that starts at the first byte.
    public func makeAsyncIterator() -> Iterator { Iterator(self) }

    /// An iterator over the chunks of a body, none of them empty.
    public struct Iterator: AsyncIteratorProtocol {
        private enum State {
            case unopened(RequestBody)
            case reading(StreamReading)
            case end
        }

        private var state: State

        fileprivate init(_ body: RequestBody) {
            state = .unopened(body)
        }

        /// Returns the next chunk; nil at the end.
        ///
        /// - Parameter actor: The actor of the caller.
        /// - Returns: The chunk.
        /// - Throws: ``SluiceError/Code/bodyUnavailable`` if the source fails,
        ///   ``SluiceError/Code/bodyLengthMismatch`` if its length differs from ``RequestBody/length``, and
        ///   ``SluiceError/Code/bodyNotReplayable`` if the body can be read only once and has been read.
        public mutating func next(isolation actor: isolated (any Actor)?) async throws(SluiceError) -> Data? {
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
    /// The second line is needed unless the body is replayable: it has been read then.
    ///
    /// - Parameter limit: The maximum number of bytes, nil for no limit.
    /// - Returns: The bytes; none if there is no body.
    /// - Throws: ``SluiceError/Code/bodyTooLarge`` if the limit is exceeded, or an error of
    ///   ``Iterator/next(isolation:)``.
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

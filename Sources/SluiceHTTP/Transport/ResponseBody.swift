import SluiceFoundation

/// The body of a response: chunks of bytes, none of them empty, that can be read once.
///
/// Reading drives the transfer. A body that is not read applies back-pressure to the server, and releasing the body
/// stops the transfer.
public struct ResponseBody: AsyncSequence, Sendable {
    private enum Source: Sendable {
        case whole(Whole)
        case arriving(ResponsePipe.Reader)
    }

    /// The bytes of a body in memory. A structure, because the runtime copies a tuple member by member.
    package struct Whole: Sendable {
        package let data: Data
        package let metrics: TransferMetrics
        package let trailers: HTTPHeaders
    }

    /// Called with each chunk before the reader receives it, and with nil at the end. Not called after a failure.
    package typealias Tap = @Sendable (Data?) async -> Void

    private let source: Source
    private var tap: Tap?

    /// Creates a body from bytes in memory.
    ///
    /// - Parameters:
    ///   - data: The bytes.
    ///   - metrics: The metrics of the transfer that received them.
    ///   - trailers: The trailer section; empty by default.
    public init(
        _ data: Data = Data(),
        metrics: TransferMetrics = TransferMetrics(),
        trailers: HTTPHeaders = [:]
    ) {
        source = .whole(Whole(data: data, metrics: metrics, trailers: trailers))
    }

    /// Creates a body from a sequence of chunks, for a transport of your own.
    ///
    /// ```swift
    /// TransportResponse(head: HTTPResponse(status: .ok), body: ResponseBody(chunks))
    /// ```
    ///
    /// The sequence is read at most one chunk ahead of the body's reader, in a task that is cancelled when the body is
    /// released unread.
    ///
    /// - Parameters:
    ///   - chunks: The body in pieces of any size: `Data`, `[UInt8]` or other sequences of bytes. An error that is not
    ///     a ``SluiceError`` becomes the underlying error of ``SluiceError/Code/connectionLost``.
    ///   - metrics: Called after the last chunk, for the metrics of the transfer. By default, they have the number of
    ///     bytes and the time since the creation of the body.
    ///   - trailers: Called after the last chunk, for the trailer section; empty by default.
    public init<Chunks: AsyncSequence & Sendable>(
        _ chunks: Chunks,
        metrics: (@Sendable () -> TransferMetrics)? = nil,
        trailers: @escaping @Sendable () -> HTTPHeaders = { [:] }
    ) where Chunks.Element: Sequence<UInt8> {
        let start = ContinuousClock.now
        self = ResponseBody { pipe throws(SluiceError) in
            var count: Int64 = 0
            do {
                for try await chunk in chunks {
                    let chunk = chunk as? Data ?? Data(chunk)
                    if Task.isCancelled { throw SluiceError.cancelled }
                    if chunk.isEmpty { continue }
                    count += Int64(chunk.count)
                    await pipe.write(chunk)
                }
            } catch let error as SluiceError {
                throw error
            } catch {
                if error is CancellationError { throw .cancelled }
                throw SluiceError(.connectionLost, "The response's body could not be read.", underlyingError: error)
            }
            // A sequence may end without an error when its task is cancelled.
            if Task.isCancelled { throw .cancelled }
            var standard = TransferMetrics()
            standard.bytesReceived = count
            standard.total = start.duration(to: .now)
            return (metrics?() ?? standard, trailers())
        }
    }

    /// Writes a body into a pipe, waiting while the pipe is full.
    package struct Writer: Sendable {
        fileprivate let pipe: ResponsePipe
        fileprivate let demand: AsyncStream<Void>

        /// Writes a chunk, and returns when there is room for another one.
        package func write(_ chunk: Data) async {
            guard pipe.write(chunk) else { return }
            for await _ in demand { return }
        }
    }

    /// Creates a body that a task writes. The task is cancelled when the body is released before its end.
    package init(
        writing write: @escaping @Sendable (Writer) async throws(SluiceError) -> (TransferMetrics, HTTPHeaders)
    ) {
        let (demand, continuation) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        let writer = Locked<Task<Void, Never>?>(nil)
        let pipe = ResponsePipe(
            highWater: 1,
            onDemand: { continuation.yield() },
            onAbandon: { writer.withLock { $0 }?.cancel() }
        )
        let task = Task {
            do throws(SluiceError) {
                let (metrics, trailers) = try await write(Writer(pipe: pipe, demand: demand))
                pipe.finish(.success(metrics), trailers: trailers)
            } catch {
                pipe.finish(.failure(error))
            }
        }
        // The reader does not exist yet, so `onAbandon` cannot run before this assignment.
        writer.withLock { $0 = task }
        self.init(ResponsePipe.Reader(pipe))
    }

    /// Creates a body from a pipe.
    package init(_ reader: ResponsePipe.Reader) {
        source = .arriving(reader)
    }

    /// Returns the body with a tap that observes it while it is read.
    package func tapped(_ tap: @escaping Tap) -> ResponseBody {
        var body = self
        body.tap = tap
        return body
    }

    /// Stops the transfer of a body that is still arriving. Reading it then fails with a cancellation.
    package func cancel() {
        if case .arriving(let reader) = source { reader.cancel() }
    }

    /// The complete body, its metrics and its trailers if it was created from bytes in memory; nil otherwise.
    package var whole: Whole? {
        if case .whole(let whole) = source { whole } else { nil }
    }

    /// The metrics of the transfer; nil until the whole body has arrived.
    public var metrics: TransferMetrics? {
        switch source {
        case .whole(let whole): whole.metrics
        case .arriving(let reader): reader.metrics
        }
    }

    /// The trailer section (RFC 9110 §6.5); nil until the whole body has arrived, and empty if the server sent none.
    ///
    /// Trailer fields are kept apart from header fields, since recipients may not merge them in general
    /// (RFC 9110 §6.5.1).
    public var trailers: HTTPHeaders? {
        switch source {
        case .whole(let whole): whole.trailers
        case .arriving(let reader): reader.trailers
        }
    }

    /// Reads the whole body, or the rest of a body that has been partly read.
    ///
    /// - Parameter limit: The maximum number of bytes, nil for no limit.
    /// - Returns: The bytes.
    /// - Throws: ``SluiceError/Code/bodyTooLarge`` if the limit is exceeded, or the transfer's error.
    public func collect(upTo limit: Int64? = nil) async throws(SluiceError) -> Data {
        if case .whole(let whole) = source {
            try ResponseBody.check(whole.data.count, limit)
            return whole.data
        }
        var all = Data()
        var iterator = makeChunkIterator()
        while let chunk = try await iterator.next() {
            try ResponseBody.check(all.count + chunk.count, limit)
            if all.isEmpty { all = chunk } else { all.append(chunk) }
        }
        return all
    }

    /// The maximum number of bytes of an unused body that are read so that its connection can be reused.
    private static let drainLimit: Int64 = 64 << 10
    /// The maximum time for reading an unused body.
    private static let drainTime = Duration.seconds(1)

    /// Reads an unused body to its end in the background, within limits. A longer body is dropped, which closes its
    /// connection.
    package func drain() {
        guard case .arriving = source else { return }
        Task.detached { await self.collectedBriefly() }
    }

    /// Reads the body; returns nil if it is larger than a limit, takes longer than a time or fails. The defaults are 64 KiB
    /// and a second.
    @discardableResult
    package func collectedBriefly(upTo limit: Int64? = nil, within time: Duration? = nil) async -> Data? {
        try? await TimedWork.outcome(within: time ?? ResponseBody.drainTime, else: .cancelled) {
            () async throws(SluiceError) in try await self.collect(upTo: limit ?? ResponseBody.drainLimit)
        }
    }

    private static func check(_ count: Int, _ limit: Int64?) throws(SluiceError) {
        if let limit, Int64(count) > limit { throw .bodyTooLarge(limit: limit) }
    }

    /// Creates an iterator. For a body in memory it starts at the first byte; otherwise it continues at the current
    /// position.
    public func makeAsyncIterator() -> some AsyncIteratorProtocol<Data, SluiceError> { makeChunkIterator() }

    /// Creates the iterator of ``makeAsyncIterator()``, which also reads in batches.
    package func makeChunkIterator() -> Iterator {
        switch source {
        case .whole(let whole): Iterator(whole: whole.data.isEmpty ? nil : whole.data, reader: nil, tap: tap)
        case .arriving(let reader): Iterator(whole: nil, reader: reader, tap: tap)
        }
    }

    /// An iterator over the chunks of a body.
    package struct Iterator: AsyncIteratorProtocol {
        fileprivate var whole: Data?
        fileprivate let reader: ResponsePipe.Reader?
        fileprivate var tap: Tap?

        /// Returns the next chunk; nil at the end.
        package mutating func next(isolation actor: isolated (any Actor)?) async throws(SluiceError) -> Data? {
            let chunk = if let reader { try await reader.next() } else { whole.take() }
            if let tap {
                await tap(chunk)
                if chunk == nil { self.tap = nil }
            }
            return chunk
        }

        /// Returns all chunks received so far, after waiting for at least one; empty at the end.
        package mutating func nextBatch() async throws(SluiceError) -> [Data] {
            if tap != nil { return try await next().map { [$0] } ?? [] }
            guard let reader else { return whole.take().map { [$0] } ?? [] }
            return try await reader.nextBatch()
        }
    }
}

extension SluiceError {
    package static func bodyTooLarge(limit: Int64) -> SluiceError {
        SluiceError(
            .bodyTooLarge,
            "The response's body exceeds the limit of \(limit) bytes; raise the limit or stream the body."
        )
    }

    package static var cancelled: SluiceError {
        SluiceError(.cancelled, "The request was cancelled.")
    }
}

extension ResponseBody: CustomReflectable, RedactedMirror {
    /// The metrics only: `dump` would show the bytes.
    package var shown: [Mirror.Child] { [("metrics", metrics as Any)] }
}

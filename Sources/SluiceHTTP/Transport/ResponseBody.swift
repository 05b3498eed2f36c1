import SluiceFoundation

/// The body of a response: chunks of bytes, none of them empty, that can be read once.
///
/// Reading drives the transfer. A body that is not read applies back-pressure to the server, and releasing the body
/// stops the transfer.
public struct ResponseBody: AsyncSequence, Sendable {
    private enum Source: Sendable {
        case whole(Data, TransferMetrics, HTTPHeaders)
        case arriving(ResponsePipe.Reader)
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
        source = .whole(data, metrics, trailers)
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

    /// The complete body and its metrics if it was created from bytes in memory; nil otherwise.
    package var whole: (Data, TransferMetrics)? {
        if case .whole(let data, let metrics, _) = source { (data, metrics) } else { nil }
    }

    /// The metrics of the transfer; nil until the whole body has arrived.
    public var metrics: TransferMetrics? {
        switch source {
        case .whole(_, let metrics, _): metrics
        case .arriving(let reader): reader.metrics
        }
    }

    /// The trailer section (RFC 9110 §6.5); nil until the whole body has arrived, and empty if the server sent none.
    ///
    /// Trailer fields are kept apart from header fields, since recipients may not merge them in general
    /// (RFC 9110 §6.5.1).
    public var trailers: HTTPHeaders? {
        switch source {
        case .whole(_, _, let trailers): trailers
        case .arriving(let reader): reader.trailers
        }
    }

    /// Reads the whole body, or the rest of a body that has been partly read.
    ///
    /// - Parameter limit: The maximum number of bytes, nil for no limit.
    /// - Returns: The bytes.
    /// - Throws: ``SluiceError/Code/bodyTooLarge`` if the limit is exceeded, or the transfer's error.
    public func collect(upTo limit: Int64? = nil) async throws(SluiceError) -> Data {
        if let (data, _) = whole {
            try ResponseBody.check(data.count, limit)
            return data
        }
        var all = Data()
        var iterator = makeAsyncIterator()
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

    /// Reads the body; returns nil if it is larger than 64 KiB, takes longer than a second or fails.
    @discardableResult
    package func collectedBriefly() async -> Data? {
        try? await TimedWork.outcome(within: ResponseBody.drainTime, else: .cancelled) {
            () async throws(SluiceError) in try await self.collect(upTo: ResponseBody.drainLimit)
        }
    }

    private static func check(_ count: Int, _ limit: Int64?) throws(SluiceError) {
        if let limit, Int64(count) > limit { throw .bodyTooLarge(limit: limit) }
    }

    /// Creates an iterator. For a body in memory it starts at the first byte; otherwise it continues at the current
    /// position.
    public func makeAsyncIterator() -> Iterator {
        switch source {
        case .whole(let data, _, _): Iterator(whole: data.isEmpty ? nil : data, reader: nil, tap: tap)
        case .arriving(let reader): Iterator(whole: nil, reader: reader, tap: tap)
        }
    }

    /// An iterator over the chunks of a body.
    public struct Iterator: AsyncIteratorProtocol {
        fileprivate var whole: Data?
        fileprivate let reader: ResponsePipe.Reader?
        fileprivate var tap: Tap?

        /// Returns the next chunk; nil at the end.
        public mutating func next(isolation actor: isolated (any Actor)?) async throws(SluiceError) -> Data? {
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
            "The response's body is over the limit of \(limit) bytes; raise the limit or stream the body."
        )
    }

    package static var cancelled: SluiceError {
        SluiceError(.cancelled, "The request was cancelled.")
    }
}

extension ResponseBody: CustomReflectable {
    /// The metrics only: `dump` would show the bytes.
    public var customMirror: Mirror { Mirror(self, children: ["metrics": metrics as Any], displayStyle: .struct) }
}

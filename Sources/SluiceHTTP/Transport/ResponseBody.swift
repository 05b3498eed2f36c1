#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The body of a response: chunks of bytes, to be read once.
///
/// Reading is what drives the transfer on; a body that is not read holds the server back, and one that is dropped
/// stops the transfer.
public struct ResponseBody: AsyncSequence, Sendable {
    /// A chunk is as long as it happens to be; it is never empty.
    public typealias Element = Data
    /// The body fails as the transfer does.
    public typealias Failure = SluiceError

    private enum Source: Sendable {
        case whole(Data, TransferMetrics, HTTPHeaders)
        case arriving(ResponsePipe.Reader)
    }

    /// Is given each chunk before the reader is, and nil once all have come; nothing more after a failure.
    package typealias Tap = @Sendable (Data?) async -> Void

    private let source: Source
    private var tap: Tap?

    /// Makes a body of bytes that are all there.
    ///
    /// - Parameters:
    ///   - data: The bytes.
    ///   - metrics: The metrics of the transfer that brought them.
    ///   - trailers: The trailer section behind them; empty by default.
    public init(
        _ data: Data = Data(),
        metrics: TransferMetrics = TransferMetrics(),
        trailers: HTTPHeaders = [:]
    ) {
        source = .whole(data, metrics, trailers)
    }

    /// Makes a body of what arrives through a pipe.
    package init(_ reader: ResponsePipe.Reader) {
        source = .arriving(reader)
    }

    /// The same body, seen by another while it is read; one that is ``whole`` can be looked at as it is.
    package func tapped(_ tap: @escaping Tap) -> ResponseBody {
        var body = self
        body.tap = tap
        return body
    }

    /// All of the body and the metrics, where they were there from the start.
    package var whole: (Data, TransferMetrics)? {
        if case .whole(let data, let metrics, _) = source { (data, metrics) } else { nil }
    }

    /// What the transfer took, known once the whole body has arrived.
    public var metrics: TransferMetrics? {
        switch source {
        case .whole(_, let metrics, _): metrics
        case .arriving(let reader): reader.metrics
        }
    }

    /// The trailer section (RFC 9110 §6.5), known once the whole body has arrived; empty where the server sent none.
    ///
    /// Trailer fields stay apart from those of the head: a field there means what the server knew before it sent the body.
    public var trailers: HTTPHeaders? {
        switch source {
        case .whole(_, _, let trailers): trailers
        case .arriving(let reader): reader.trailers
        }
    }

    /// Reads all of it, or what is left of one that has been read in part while it arrived.
    ///
    /// - Parameter limit: The most bytes to take, nil for no limit.
    /// - Returns: The bytes.
    /// - Throws: ``SluiceError/Code/bodyTooLarge`` over the limit, or what failed the transfer.
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

    /// The most bytes that are read of a body nobody wants, so that its connection can be used again, and the time for it.
    private static let drainLimit = 64 << 10
    private static let drainTime = Duration.seconds(1)

    /// Reads a body that nobody wants to its end, within limits, without waiting for it; a longer one is dropped with its connection.
    package func drain() {
        guard case .arriving = source else { return }
        Task.detached { await self.collectedBriefly() }
    }

    /// The body of a response that is not waited for long; nil if it is larger than 64 KiB, takes longer than a second or is damaged.
    @discardableResult
    package func collectedBriefly() async -> Data? {
        try? await TimedWork.outcome(within: ResponseBody.drainTime, else: .cancelled) {
            () async throws(SluiceError) in try await self.collect(upTo: Int64(ResponseBody.drainLimit))
        }
    }

    private static func check(_ count: Int, _ limit: Int64?) throws(SluiceError) {
        if let limit, Int64(count) > limit { throw .bodyTooLarge(limit: limit) }
    }

    /// Begins to read. A second iterator goes on where the first one is, unless the whole body had been there from the start.
    public func makeAsyncIterator() -> Iterator {
        switch source {
        case .whole(let data, _, _): Iterator(whole: data.isEmpty ? nil : data, reader: nil, tap: tap)
        case .arriving(let reader): Iterator(whole: nil, reader: reader, tap: tap)
        }
    }

    /// Reads a body chunk by chunk.
    public struct Iterator: AsyncIteratorProtocol {
        fileprivate var whole: Data?
        fileprivate let reader: ResponsePipe.Reader?
        fileprivate var tap: Tap?

        /// The next chunk, nil at the end.
        public mutating func next(isolation actor: isolated (any Actor)?) async throws(SluiceError) -> Data? {
            let chunk = if let reader { try await reader.next() } else { whole.take() }
            if let tap {
                await tap(chunk)
                if chunk == nil { self.tap = nil }
            }
            return chunk
        }

        /// The next chunk, nil at the end.
        public mutating func next() async throws(SluiceError) -> Data? {
            try await next(isolation: nil)
        }

        /// All chunks that have come by now, waiting for one; none at the end.
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
    /// Nothing of what has come: `dump` would show the bytes.
    public var customMirror: Mirror { Mirror(self, children: ["metrics": metrics as Any], displayStyle: .struct) }
}

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
        case whole(Data, TransferMetrics)
        case arriving(ResponsePipe.Reader)
    }

    private let source: Source

    /// Makes a body of bytes that are all there.
    public init(_ data: Data = Data(), metrics: TransferMetrics = TransferMetrics()) {
        source = .whole(data, metrics)
    }

    /// Makes a body of what arrives through a pipe.
    package init(_ reader: ResponsePipe.Reader) {
        source = .arriving(reader)
    }

    /// All of the body and the metrics, where they were there from the start.
    package var whole: (Data, TransferMetrics)? {
        if case .whole(let data, let metrics) = source { (data, metrics) } else { nil }
    }

    /// What the transfer took, known once the whole body has arrived.
    public var metrics: TransferMetrics? {
        switch source {
        case .whole(_, let metrics): metrics
        case .arriving(let reader): reader.metrics
        }
    }

    /// Reads all of it, or what is left of one that has been read in part while it arrived.
    ///
    /// - Parameter limit: The most bytes to take, nil for no limit.
    /// - Returns: The bytes.
    /// - Throws: ``SluiceError/Code/bodyTooLarge`` over the limit, or what failed the transfer.
    public func collect(upTo limit: Int64? = nil) async throws(SluiceError) -> Data {
        switch source {
        case .whole(let data, _):
            try ResponseBody.check(data.count, limit)
            return data
        case .arriving(let reader):
            var all = Data()
            while let chunk = try await reader.next() {
                try ResponseBody.check(all.count + chunk.count, limit)
                if all.isEmpty { all = chunk } else { all.append(chunk) }
            }
            return all
        }
    }

    private static func check(_ count: Int, _ limit: Int64?) throws(SluiceError) {
        if let limit, Int64(count) > limit { throw .bodyTooLarge(limit: limit) }
    }

    /// Begins to read. A second iterator goes on where the first one is, unless the whole body had been there from the start.
    public func makeAsyncIterator() -> Iterator {
        switch source {
        case .whole(let data, _): Iterator(whole: data.isEmpty ? nil : data, reader: nil)
        case .arriving(let reader): Iterator(whole: nil, reader: reader)
        }
    }

    /// Reads a body chunk by chunk.
    public struct Iterator: AsyncIteratorProtocol {
        fileprivate var whole: Data?
        fileprivate let reader: ResponsePipe.Reader?

        /// The next chunk, nil at the end.
        public mutating func next(isolation actor: isolated (any Actor)?) async throws(SluiceError) -> Data? {
            guard let reader else { return whole.take() }
            return try await reader.next()
        }

        /// The next chunk, nil at the end.
        public mutating func next() async throws(SluiceError) -> Data? {
            guard let reader else { return whole.take() }
            return try await reader.next()
        }

        /// All chunks that have come by now, waiting for one; none at the end.
        package mutating func nextBatch() async throws(SluiceError) -> [Data] {
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

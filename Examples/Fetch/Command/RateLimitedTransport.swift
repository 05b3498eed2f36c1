import Fetching
import Sluice

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Reads response bodies no faster than a rate.
///
/// A body that is not read applies back-pressure to the server. So the limit applies to the network, apart from what the buffers of
/// the system hold.
struct RateLimitedTransport: Transport {
    /// The transport that sends the requests.
    let base: any Transport
    /// The pace, which all transfers share.
    let pace: SharedPace

    func send(_ request: HTTPRequest, context: TransferContext) async throws(SluiceError) -> TransportResponse {
        var response = try await base.send(request, context: context)
        let body = response.body
        response.body = ResponseBody(
            RateLimitedBody(body: body, pace: pace),
            metrics: { body.metrics ?? TransferMetrics() },
            trailers: { body.trailers ?? [:] }
        )
        return response
    }
}

/// The time that all downloads share.
actor SharedPace {
    private var pace: Pace
    nonisolated let pieceSize: Int

    init(_ rate: ByteRate) {
        pace = Pace(rate)
        pieceSize = pace.pieceSize
    }

    /// Waits until bytes may pass.
    ///
    /// - Parameter count: The number of bytes, at most ``pieceSize``.
    /// - Throws: A `CancellationError` if the task is cancelled.
    func pass(_ count: Int) async throws {
        let time = pace.reserve(count, at: .now)
        try await ContinuousClock().sleep(until: time)
    }
}

/// The pieces of a body, each at the time at which it may pass.
private struct RateLimitedBody: AsyncSequence, Sendable {
    typealias Element = Data

    let body: ResponseBody
    let pace: SharedPace

    func makeAsyncIterator() -> Iterator {
        Iterator(chunks: body.makeAsyncIterator(), pace: pace)
    }

    struct Iterator: AsyncIteratorProtocol {
        var chunks: ResponseBody.AsyncIterator
        let pace: SharedPace
        var rest = Data()

        mutating func next() async throws -> Data? {
            if rest.isEmpty {
                guard let chunk = try await chunks.next(isolation: nil) else { return nil }
                rest = chunk
            }
            let piece = rest.prefix(pace.pieceSize)
            rest = rest.dropFirst(pace.pieceSize)
            try await pace.pass(piece.count)
            return piece
        }
    }
}

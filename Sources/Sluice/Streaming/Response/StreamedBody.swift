import SluiceHTTP

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// A response body that is read once, while it arrives. Completes the request when the body ends or fails.
///
/// The transfer stops when the last reference is released.
final class StreamedBody: Sendable {
    /// The response without its body.
    let response: ServerResponse
    private let body: ResponseBody
    private let sending: Sending?
    /// True if a body that was complete from the start has been read.
    private let isRead = Locked(false)

    init(_ body: ResponseBody, _ response: ServerResponse, _ sending: Sending?) {
        self.body = body
        self.response = response
        self.sending = sending
    }

    deinit {
        // No effect if the request has already finished.
        sending?.finish(.failure(.cancelled.with(request: response.request, response: response.head)))
    }

    /// The metrics of the transfer, available once the whole body has arrived.
    var metrics: TransferMetrics? { body.metrics }

    /// The trailer section, available once the whole body has arrived. A body set by an interceptor has the trailers of
    /// its response.
    var trailers: HTTPHeaders? {
        guard let trailers = body.trailers else { return nil }
        return trailers.isEmpty ? response.trailers : trailers
    }

    /// Returns the next chunk, or nil at the end.
    func next(isolation actor: isolated (any Actor)?) async throws(SluiceError) -> Data? {
        do {
            if let (data, _) = body.whole {
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
        sending?.finish(.success(response))
        return nil
    }

    /// Finishes the request with an error. Returns the error with the request and the response added.
    func failed(_ error: SluiceError) -> SluiceError {
        let error = error.with(request: response.request, response: response.head)
        sending?.finish(.failure(error))
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

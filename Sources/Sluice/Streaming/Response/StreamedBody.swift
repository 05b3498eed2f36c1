import SluiceHTTP

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The body of a response that is read while it arrives, once; says when the request is over.
///
/// The transfer stops when nobody holds it any longer.
final class StreamedBody: Sendable {
    /// The response without its body.
    let response: ServerResponse
    private let body: ResponseBody
    private let sending: Sending?
    /// Of a body that was there from the start, whether it has been read.
    private let isRead = Locked(false)

    init(_ body: ResponseBody, _ response: ServerResponse, _ sending: Sending?) {
        self.body = body
        self.response = response
        self.sending = sending
    }

    deinit {
        // Without effect where the end has been told already.
        sending?.finish(.failure(.cancelled.with(request: response.request, response: response.head)))
    }

    /// What the transfer took, once the whole body has arrived.
    var metrics: TransferMetrics? { body.metrics }

    /// The trailer section, once the whole body has arrived. A body that an interceptor has put there has that of its response.
    var trailers: HTTPHeaders? {
        guard let trailers = body.trailers else { return nil }
        return trailers.isEmpty ? response.trailers : trailers
    }

    /// The next chunk, nil at the end.
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

    /// Says that the request is over with an error, which is told where it happened.
    func failed(_ error: SluiceError) -> SluiceError {
        let error = error.with(request: response.request, response: response.head)
        sending?.finish(.failure(error))
        return error
    }

    /// Reads a body chunk by chunk; several go on where the others are.
    struct Iterator: AsyncIteratorProtocol {
        let body: StreamedBody

        mutating func next(isolation actor: isolated (any Actor)?) async throws(SluiceError) -> Data? {
            try await body.next(isolation: actor)
        }
    }
}

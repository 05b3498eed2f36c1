import SluiceHTTP

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// An accepted response whose body is still to be read.
///
/// ```swift
/// let response = try await files.stream("report.csv").response()
/// print(response.head.headers["Last-Modified"] ?? "")
/// for try await line in response.lines { print(line) }
/// ```
///
/// The body is read once: a second sequence goes on where the first one has stopped, with the next chunk. The transfer stops when
/// nobody holds the response or one of its iterators any longer.
public struct StreamedResponse<ErrorModel: ErrorSerializable>: Sendable {
    let body: StreamedBody
    let streamRequest: StreamRequest<ErrorModel>

    init(_ body: StreamedBody, _ streamRequest: StreamRequest<ErrorModel>) {
        self.body = body
        self.streamRequest = streamRequest
    }

    /// The request it answers: after interceptors and redirects.
    public var request: HTTPRequest { body.response.request }
    /// Status, headers and version.
    public var head: HTTPResponse { body.response.head }
    /// The status.
    public var status: HTTPStatus { head.status }
    /// Where it comes from: the server or the cache.
    public var source: ResponseSource { body.response.source }
    /// What the transfer took, known once the whole body has arrived.
    public var metrics: TransferMetrics? { body.metrics }
    /// The trailer section behind the body (RFC 9110 §6.5), known once the whole body has arrived; empty where there was none.
    public var trailers: HTTPHeaders? { body.trailers }

    /// Reads what is left of the body into memory.
    ///
    /// - Parameter limit: The most bytes to take, nil for no limit.
    /// - Returns: The bytes.
    /// - Throws: The request's error: ``SluiceError/Code/bodyTooLarge`` over the limit, or what failed the transfer.
    public func collect(upTo limit: Int64? = nil) async throws(ErrorModel) -> Data {
        var all = Data()
        do throws(SluiceError) {
            while let chunk = try await body.next(isolation: nil) {
                if let limit, Int64(all.count + chunk.count) > limit {
                    throw SluiceError.bodyTooLarge(limit: limit).with(request: request, response: head)
                }
                if all.isEmpty { all = chunk } else { all.append(chunk) }
            }
        } catch {
            throw streamRequest.model(of: StreamFailure(error: error))
        }
        return all
    }
}

extension StreamedResponse: StreamReadable {
    /// What a parser makes of the chunks that arrive.
    public func elements<Parser: StreamParser>(
        parsedBy parser: @escaping @Sendable () -> Parser
    ) -> StreamSequence<Parser.Element, ErrorModel> {
        StreamSequence(request: streamRequest, body: body) { parser() }
    }

    /// The client's decoder.
    public var modelDecoder: any DataDecoder { streamRequest.modelDecoder }

    /// The events of a body of the type `text/event-stream`: see ``ServerSentEventParser``.
    ///
    /// - Parameter limit: The most bytes of an event's data, and of each of its lines; 1 MiB by default.
    /// - Returns: The events.
    public func serverSentEvents(limit: Int = 1 << 20) -> StreamSequence<ServerSentEvent, ErrorModel> {
        elements { ServerSentEventParser(limit: limit) }
    }
}

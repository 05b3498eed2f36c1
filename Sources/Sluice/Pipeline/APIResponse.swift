import SluiceHTTP

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// All that came of a request.
public struct APIResponse<Model: Sendable, ErrorModel: ErrorSerializable>: Sendable {
    /// The request as it was sent; nil if it could not even be built.
    public let request: HTTPRequest?
    /// Status, headers and version; nil if no response came.
    public let head: HTTPResponse?
    /// The body; empty if none came.
    public let body: Data
    /// The trailer section behind the body (RFC 9110 §6.5); empty where there was none.
    public let trailers: HTTPHeaders
    /// What the transfer took; nil if no response came.
    public let metrics: TransferMetrics?
    /// Where the response came from: the server or the cache; the server, if none came.
    public let source: ResponseSource
    /// The model, or the error.
    public let result: Result<Model, ErrorModel>
    /// What failed, as Sluice tells it; nil of a success.
    public let failure: SluiceError?

    /// The status, where there was a response.
    public var status: HTTPStatus? { head?.status }
    /// Whether there is a model.
    public var isSuccess: Bool { failure == nil }
}

extension APIResponse {
    /// What an outcome means to a request: judged, and made into its model or its error.
    init(_ outcome: TransportOutcome, to request: APIRequest<Model, ErrorModel>) {
        switch outcome {
        case .failure(let error):
            self.init(failure: error, of: request)
        case .success(let response):
            do {
                let model = try request.client.pipeline.model(
                    from: response,
                    request.draft,
                    request.serializer
                )
                self.init(
                    request: response.request,
                    head: response.head,
                    body: response.body,
                    trailers: response.trailers,
                    metrics: response.metrics,
                    source: response.source,
                    result: .success(model),
                    failure: nil
                )
            } catch {
                self.init(failure: error, of: request, response)
            }
        }
    }

    /// A failure as the error model sees it.
    init(
        failure error: SluiceError,
        of request: APIRequest<Model, ErrorModel>,
        _ response: ServerResponse? = nil
    ) {
        let configuration = request.client.pipeline.configuration
        let failure = RequestFailure(
            error: error,
            body: response?.body ?? Data(),
            decoder: request.errorDecoder ?? configuration.errorDecoder,
            envelope: request.draft.options.modelLocation.envelope(orOf: configuration.envelope)
        )
        self.init(
            request: error.request,
            head: error.response,
            body: failure.body,
            trailers: response?.trailers ?? [:],
            metrics: response?.metrics,
            source: response?.source ?? .server,
            result: .failure(ErrorModel(failure)),
            failure: error
        )
    }
}

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
    /// What the transfer took; nil if no response came.
    public let metrics: TransferMetrics?
    /// The model, or the error.
    public let result: Result<Model, ErrorModel>

    /// The status, where there was a response.
    public var status: HTTPStatus? { head?.status }
}

extension APIResponse {
    /// Runs a request through the pipeline.
    static func outcome(of request: APIRequest<Model, ErrorModel>) async -> APIResponse {
        let core = request.client.core
        let draft = request.draft
        let built: HTTPRequest
        do {
            built = try draft.build(for: core)
        } catch {
            return failed(request, error)
        }
        let transfer = TransferContext(
            timeouts: draft.timeouts ?? core.configuration.timeouts,
            limits: draft.limits ?? core.configuration.limits
        )
        switch await core.pipeline.outcome(of: built, transfer) {
        case .failure(let error):
            return failed(request, error)
        case .success(let response):
            do {
                let model = try core.pipeline.model(from: response, draft.validation, request.serializer)
                return APIResponse(
                    request: response.request,
                    head: response.head,
                    body: response.body,
                    metrics: response.metrics,
                    result: .success(model)
                )
            } catch {
                return failed(request, error, response)
            }
        }
    }

    /// The outcome of a failure, as the error model sees it.
    static func failed(
        _ request: APIRequest<Model, ErrorModel>,
        _ error: SluiceError,
        _ response: ServerResponse? = nil
    ) -> APIResponse {
        let failure = RequestFailure(error: error, body: response?.body ?? Data(), decoder: request.errorDecoder)
        return APIResponse(
            request: error.request,
            head: error.response,
            body: failure.body,
            metrics: response?.metrics,
            result: .failure(ErrorModel(failure))
        )
    }
}

import SluiceFoundation
import SluiceHTTP

/// The complete outcome of a request.
public struct APIResponse<Model: Sendable, ErrorModel: ErrorSerializable>: Sendable {
    /// The request as it was sent; nil if it could not be built.
    public let request: HTTPRequest?
    /// Status, headers and version; nil if no response was received.
    public let head: HTTPResponse?
    /// The body; empty if none was received.
    public let body: Data
    /// The trailer section that follows the body (RFC 9110 §6.5); empty if there was none.
    public let trailers: HTTPHeaders
    /// The metrics of the transfer; nil if no response was received.
    public let metrics: TransferMetrics?
    /// The source of the response: the server or the cache. The server if no response was received.
    public let source: ResponseSource
    /// The model or the error.
    public let result: Result<Model, ErrorModel>
    /// The underlying error; nil on success.
    public let failure: SluiceError?

    /// The status of the response; nil if no response was received.
    public var status: HTTPStatus? { head?.status }
    /// True if the request has produced a model.
    public var isSuccess: Bool { failure == nil }
}

extension APIResponse {
    /// Creates a response from a transport outcome: validates the server's response and decodes the model or the error.
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

    /// Creates a response that carries a failure, and builds the error model from it.
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

extension APIResponse: ReceivedResponse {
    /// Returns the server's response, whatever its status and model.
    ///
    /// - Returns: Request, head, body and metrics.
    /// - Throws: The error for which no response was received.
    public func received() throws(SluiceError) -> ServerResponse {
        if let failure, ![.validation, .serialization].contains(failure.step) { throw failure }
        guard let request, let head else { throw SluiceError(.internalFailure, "There is no response.") }
        return ServerResponse(
            request: request,
            head: head,
            body: body,
            metrics: metrics ?? TransferMetrics(),
            source: source,
            trailers: trailers
        )
    }
}

extension APIResponse: CustomReflectable {
    /// All properties without the contents of the body and the model, which may be secret. `dump(response.result)`
    /// shows the model.
    public var customMirror: Mirror {
        Mirror(
            self,
            children: [
                "request": request as Any, "head": head as Any, "body": body.summary, "trailers": trailers,
                "source": source, "result": result.summary, "failure": failure as Any,
            ],
            displayStyle: .struct
        )
    }
}

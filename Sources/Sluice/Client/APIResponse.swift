import SluiceFoundation
import SluiceHTTP

/// The complete outcome of a request.
public struct APIResponse<Model: Sendable, ErrorModel: ErrorSerializable>: Sendable {
    /// The request as it was sent; nil if it could not be built.
    public let request: HTTPRequest?
    /// Status, headers and version; nil if no response was received.
    public let head: HTTPResponse?
    /// The body; empty if none was received, or if the transfer failed before its end.
    public let body: Data
    /// The trailer section that follows the body (RFC 9110 §6.5); empty if there was none.
    public let trailers: HTTPHeaders
    /// The metrics of the transfer; nil if no response was received, or if the transfer failed before its end.
    public let metrics: TransferMetrics?
    /// The source of the response: the server or the cache. The server if no response was received.
    public let source: ResponseSource
    /// The model or the error.
    public let result: Result<Model, ErrorModel>
    /// The underlying error; nil if there is none. A request for an ``EnvelopeOutcome`` has a model and an error if the
    /// server could not be reached or reported a failure.
    public let failure: SluiceError?
    /// The origin of the client's decoder and envelope; nil for a response that was created directly.
    var origin: ResponseOrigin<Model>?
    /// True if a redirect led to the request of this response.
    var isRedirected = false

    /// The status of the response; nil if no response was received.
    public var status: HTTPStatus? { head?.status }
    /// True if the request has produced a model.
    public var isSuccess: Bool {
        if case .success = result { true } else { false }
    }
}

extension APIResponse {
    /// Creates a response, for tests and previews.
    ///
    /// ```swift
    /// let preview = APIResponse<User, ShopError>(result: .success(User(id: 1, name: "Ada")))
    /// ```
    ///
    /// - Parameters:
    ///   - result: The model or the error.
    ///   - request: The request as it was sent.
    ///   - head: Status, headers and version. ``ReceivedResponse`` requires it.
    ///   - body: The body.
    ///   - trailers: The trailer section.
    ///   - metrics: The metrics of the transfer.
    ///   - source: The source of the response.
    ///   - failure: The underlying error.
    public init(
        result: Result<Model, ErrorModel>,
        request: HTTPRequest? = nil,
        head: HTTPResponse? = nil,
        body: Data = Data(),
        trailers: HTTPHeaders = [:],
        metrics: TransferMetrics? = nil,
        source: ResponseSource = .server,
        failure: SluiceError? = nil
    ) {
        self.init(
            request: request,
            head: head,
            body: body,
            trailers: trailers,
            metrics: metrics,
            source: source,
            result: result,
            failure: failure
        )
    }
}

extension APIResponse {
    /// Creates a response with the model that was decoded from it.
    init(_ model: Model, _ response: ServerResponse, to request: RequestSender<Model, ErrorModel>) {
        self.init(
            request: response.request,
            head: response.head,
            body: response.body,
            trailers: response.trailers,
            metrics: response.metrics,
            source: response.source,
            result: .success(model),
            failure: nil,
            origin: ResponseOrigin(request),
            isRedirected: response.isRedirected
        )
    }

    /// Creates a response that carries a failure, and builds the error model from it.
    init(
        failure error: SluiceError,
        of request: RequestSender<Model, ErrorModel>,
        _ response: ServerResponse? = nil
    ) {
        let response = response ?? error.replacedResponse
        let configuration = request.client.pipeline.configuration
        let envelope = request.draft.modelLocation.envelope(orOf: configuration.envelope)
        let error = error.withoutReplacedResponse.naming(request.draft, of: request.client)
        let failure = RequestFailure(
            error: error,
            body: response?.body ?? Data(),
            decoder: request.errorDecoder ?? configuration.errorDecoder ?? configuration.modelDecoder,
            envelope: envelope
        )
        let outcome =
            request.draft.modelLocation.isOutcome
            ? (request.serializer as? any EnvelopeReading<Model>)?.outcome(of: failure) : nil
        self.init(
            request: error.request,
            head: error.response,
            body: failure.body,
            trailers: response?.trailers ?? [:],
            metrics: response?.metrics,
            source: response?.source ?? .server,
            result: outcome.map(Result.success) ?? .failure(request.errorModel(failure)),
            failure: error,
            origin: ResponseOrigin(request),
            isRedirected: response?.isRedirected ?? false
        )
    }
}

/// The origin of the client's decoder and envelope, by which a response is decoded in other ways.
struct ResponseOrigin<Model: Sendable>: Sendable {
    private let pipeline: Pipeline
    private let serializer: any ResponseSerializer<Model>
    private let envelope: ModelLocation.EnvelopeRule

    init<ErrorModel>(_ request: RequestSender<Model, ErrorModel>) {
        pipeline = request.client.pipeline
        serializer = request.serializer
        envelope = request.draft.modelLocation.envelope
    }

    var decoding: ResponseDecoding {
        ResponseDecoding(
            decoder: (serializer as? any DecodingSerializer)?.decoder ?? pipeline.modelDecoder,
            envelope: envelope,
            clientsEnvelope: pipeline.configuration.envelope
        )
    }
}

extension APIResponse: DecodableResponse {
    var decoding: ResponseDecoding? { origin?.decoding }
}

extension APIResponse: ReceivedResponse {
    /// Returns the server's response, whatever its status and model.
    ///
    /// - Returns: Request, head, body and metrics.
    /// - Throws: The error for which no response was received.
    public func received() throws(SluiceError) -> ServerResponse {
        if let failure, ![.validation, .serialization].contains(failure.step) { throw failure }
        guard let head else { throw SluiceError(.internalFailure, "There is no response.") }
        var response = ServerResponse(
            request: request ?? HTTPRequest(scheme: "https", authority: "", path: ""),
            head: head,
            body: body,
            metrics: metrics ?? TransferMetrics(),
            source: source,
            trailers: trailers
        )
        response.isRedirected = isRedirected
        return response
    }
}

extension APIResponse: CustomReflectable, RedactedMirror {
    /// All properties without the contents of the body and the model, which may be secret. `dump(response.result)`
    /// shows the model.
    package var shown: [Mirror.Child] {
        [
            ("request", request as Any), ("head", head as Any), ("body", body.summary), ("trailers", trailers),
            ("source", source), ("result", result.summary), ("failure", failure as Any),
        ]
    }
}

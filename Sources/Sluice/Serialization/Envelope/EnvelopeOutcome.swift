import SluiceHTTP

/// What an envelope says, success or failure, with the payload of a success.
///
/// ```swift
/// let outcome = try await shop.codable.request("orders", as: Order.self).outcome().sender().value
/// print(outcome.isSuccess, outcome.message ?? "", outcome.payload)
/// let (ok, message) = try await shop.empty.post("logout").outcome().sender().value.summary
/// ```
public struct EnvelopeOutcome<Payload: Sendable>: Sendable {
    /// Whether the status is one of the success values.
    public let isSuccess: Bool
    /// The API's own status.
    public let code: JSON
    /// The API's message for people; nil if there was none.
    public let message: String?
    /// The payload of a success; nil of a failure.
    public let payload: Payload?

    /// Success and message alone.
    public var summary: (isSuccess: Bool, message: String?) { (isSuccess, message) }
}

extension EnvelopeOutcome: Equatable where Payload: Equatable {}

extension APIRequest {
    /// Gives what the envelope says instead of failing with it.
    ///
    /// Fails with ``SluiceError/Code/unsupported`` where neither request nor client have an ``Envelope``.
    public func outcome() -> APIRequest<EnvelopeOutcome<Model>, ErrorModel> {
        let location = draft.options.modelLocation
        let serializer = EnvelopeOutcomeSerializer(
            envelope: location.envelope(orOf: client.configuration.envelope) ?? client.configuration.envelope,
            payload: location.withoutEnvelope,
            serializer: serializer
        )
        var draft = draft
        draft.options.modelLocation = ModelLocation()
        return APIRequest<EnvelopeOutcome<Model>, ErrorModel>(self, draft, serializer)
    }
}

extension BodyRequest {
    /// Gives what the envelope says instead of failing with it, of the request without a body.
    public func outcome() -> APIRequest<EnvelopeOutcome<Model>, ErrorModel> { request.outcome() }
}

/// Opens an envelope and has the payload of a success made into a model.
struct EnvelopeOutcomeSerializer<Payload: Sendable>: ResponseSerializer {
    let envelope: Envelope?
    let payload: ModelLocation
    let serializer: any ResponseSerializer<Payload>

    func serialize(_ response: ServerResponse) throws(SluiceError) -> EnvelopeOutcome<Payload> {
        guard let envelope else {
            throw SluiceError(
                .unsupported,
                "There is no envelope to open; declare one on the client or on the request.",
                step: .serialization
            )
        }
        let opened = try envelope.opened(response)
        return EnvelopeOutcome(
            isSuccess: opened.isSuccess,
            code: opened.code,
            message: opened.message,
            payload: opened.isSuccess ? try opened.model(of: response, at: payload, by: serializer) : nil
        )
    }
}

import SluiceHTTP

/// The contents of an envelope: success or failure, with the payload of a success.
///
/// ```swift
/// let outcome = try await shop.codable.request("orders", as: Order.self).outcome().sender().value
/// print(outcome.isSuccess, outcome.message ?? "", outcome.payload)
/// let (ok, message) = try await shop.empty.post("logout").outcome().sender().value.summary
/// ```
public struct EnvelopeOutcome<Payload: Sendable>: Sendable {
    /// True if the status is one of the success values.
    public let isSuccess: Bool
    /// The API's status code.
    public let code: JSON
    /// The API's human-readable message; nil if there is none.
    public let message: String?
    /// The payload of a success; nil for a failure.
    public let payload: Payload?

    /// The success and the message only.
    public var summary: (isSuccess: Bool, message: String?) { (isSuccess, message) }
}

extension EnvelopeOutcome: Equatable where Payload: Equatable {}

extension APIRequest {
    /// Returns the contents of the envelope as the model, so that a failure in the envelope does not fail the request.
    ///
    /// The request fails with ``SluiceError/Code/unsupported`` if neither it nor the client declares an ``Envelope``.
    public func outcome() -> APIRequest<EnvelopeOutcome<Model>, ErrorModel> {
        var draft = draft
        draft.options.modelLocation.isOutcome = true
        return APIRequest<EnvelopeOutcome<Model>, ErrorModel>(
            self,
            draft,
            EnvelopeOutcomeSerializer(serializer: serializer)
        )
    }
}

extension BodyRequest {
    /// Returns the contents of the envelope as the model, for the request without a body.
    public func outcome() -> APIRequest<EnvelopeOutcome<Model>, ErrorModel> { request.outcome() }
}

/// A serializer that reads the envelope itself.
protocol EnvelopeReading<Model>: ResponseSerializer {
    func serialize(
        _ response: ServerResponse,
        at location: ModelLocation,
        _ clientsEnvelope: Envelope?
    ) throws(SluiceError) -> Model
}

/// Reads an envelope and serializes the payload of a success.
struct EnvelopeOutcomeSerializer<Payload: Sendable>: EnvelopeReading {
    let serializer: any ResponseSerializer<Payload>

    func serialize(_ response: ServerResponse) throws(SluiceError) -> EnvelopeOutcome<Payload> {
        try serialize(response, at: ModelLocation(), nil)
    }

    func serialize(
        _ response: ServerResponse,
        at location: ModelLocation,
        _ clientsEnvelope: Envelope?
    ) throws(SluiceError) -> EnvelopeOutcome<Payload> {
        if response.body.isEmpty && location.allowsEmptyBody {
            let payload = try location.inPayload.model(in: response, nil, by: serializer)
            return EnvelopeOutcome(isSuccess: true, code: .null, message: nil, payload: payload)
        }
        guard let envelope = location.envelope(orOf: clientsEnvelope) else {
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
            payload: opened.isSuccess ? try opened.model(of: response, at: location.inPayload, by: serializer) : nil
        )
    }
}

import SluiceFoundation
import SluiceHTTP

/// The location of the model in a response: in an envelope, at a key path, or absent because the body is empty.
struct ModelLocation: Sendable {
    enum EnvelopeRule: Sendable {
        case none
        /// The client's envelope, for serializers that read JSON.
        case client
        /// The request's envelope, for any serializer.
        indirect case request(Envelope)
    }

    var envelope = EnvelopeRule.client
    var keyPath: JSONPath?
    var allowsEmptyBody = false
    /// True if the contents of the envelope are the model.
    var isOutcome = false

    /// The location of the model in the envelope's payload.
    var inPayload: ModelLocation {
        ModelLocation(envelope: .none, keyPath: keyPath, allowsEmptyBody: allowsEmptyBody)
    }

    func envelope(orOf client: Envelope?) -> Envelope? {
        switch envelope {
        case .none: nil
        case .client: client
        case .request(let envelope): envelope
        }
    }

    /// Extracts the part of the body that contains the model and serializes it.
    func model<Model>(
        in response: ServerResponse,
        _ clientsEnvelope: Envelope?,
        by serializer: any ResponseSerializer<Model>
    ) throws(SluiceError) -> Model {
        if isOutcome, let serializer = serializer as? any EnvelopeReading<Model> {
            return try serializer.serialize(response, at: self, clientsEnvelope)
        }
        if response.body.isEmpty && serializer.readsJSON,
            allowsEmptyBody || response.isWithoutContent && Model.self is any OptionalModel.Type
        {
            return try emptyModel(of: response, by: serializer)
        }
        let clientsEnvelope = serializer.readsJSON ? clientsEnvelope : nil
        if let envelope = envelope(orOf: clientsEnvelope), !response.body.isEmpty {
            let opened = try envelope.opened(response)
            guard opened.isSuccess else {
                throw .envelope(EnvelopeFailure(code: opened.code, message: opened.message))
            }
            return try opened.model(of: response, at: inPayload, by: serializer)
        }
        guard let keyPath else { return try serializer.serialize(response) }
        var response = response
        let document: JSONDocument
        let node: JSONDocument.Node
        do {
            document = try JSONDocument(response.body)
            node = try document.find(keyPath)
        } catch {
            throw .noModel(error, in: response.body)
        }
        response.body = document.bytes(of: node)
        do {
            if let serializer = serializer as? any JSONPartReading<Model> {
                return try serializer.serialize(JSON(document, node), at: keyPath)
            }
            return try serializer.serialize(response)
        } catch {
            throw error.inside(keyPath)
        }
    }

    /// Serializes an empty body as `null`, `{}` or `[]`, whichever the serializer accepts first.
    private func emptyModel<Model>(
        of response: ServerResponse,
        by serializer: any ResponseSerializer<Model>
    ) throws(SluiceError) -> Model {
        var substitute = response
        for text in ["null", "{}", "[]"] {
            substitute.body = Data(text.utf8)
            if let model = try? serializer.serialize(substitute) { return model }
        }
        return try serializer.serialize(response)
    }
}

/// An optional model, which is nil if the response has no content.
private protocol OptionalModel {}

extension Optional: OptionalModel {}

extension ServerResponse {
    /// True if the response has no content by its definition: 204, 205 (RFC 9110 §15.3.5, §15.3.6) or a response to
    /// HEAD (§9.3.2).
    fileprivate var isWithoutContent: Bool {
        head.status == .noContent || head.status.rawValue == 205 || request.method == .head
    }
}

extension SluiceError {
    /// Returns the error with the path of a decoding failure extended to start at the root of the body.
    func inside(_ path: JSONPath) -> SluiceError {
        guard let failure = underlyingError as? DecodingFailure else { return self }
        return .undecodable(failure.inside(path))
    }
}

/// A serializer that reads a part of a JSON body as a value instead of its source text.
protocol JSONPartReading<Model>: ResponseSerializer {
    func serialize(_ part: JSON, at path: JSONPath) throws(SluiceError) -> Model
}

extension StringSerializer: JSONPartReading {
    /// Returns the text of a string, number or boolean, without JSON quotes and escapes.
    func serialize(_ part: JSON, at path: JSONPath) throws(SluiceError) -> String {
        guard part.isScalar else {
            throw SluiceError(
                .decodingFailed,
                "The response has no text at “\(path)”: the value is \(JSON.Kind(part)).",
                step: .serialization
            )
        }
        return part.stringValue
    }
}

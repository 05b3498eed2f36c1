import SluiceHTTP

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Where in a response the model is: in an envelope, at a key path, or nowhere in an empty body.
struct ModelLocation: Sendable {
    enum EnvelopeRule: Sendable {
        case none
        /// The client's, for serializers that read JSON.
        case clients
        case own(Envelope)
    }

    var envelope = EnvelopeRule.clients
    var keyPath: JSONPath?
    var allowsEmptyBody = false
    /// Whether what the envelope says is the model.
    var isOutcome = false

    /// Where in the envelope's payload the model is.
    var inPayload: ModelLocation {
        ModelLocation(envelope: .none, keyPath: keyPath, allowsEmptyBody: allowsEmptyBody)
    }

    func envelope(orOf client: Envelope?) -> Envelope? {
        switch envelope {
        case .none: nil
        case .clients: client
        case .own(let envelope): envelope
        }
    }

    /// Takes the part of the body that is the model and has it made into one.
    func model<Model>(
        in response: ServerResponse,
        _ clientsEnvelope: Envelope?,
        by serializer: any ResponseSerializer<Model>
    ) throws(SluiceError) -> Model {
        if isOutcome, let serializer = serializer as? any EnvelopeReading<Model> {
            return try serializer.serialize(response, at: self, clientsEnvelope)
        }
        if response.body.isEmpty && allowsEmptyBody && serializer.readsJSON {
            return try emptyModel(of: response, by: serializer)
        }
        let clientsEnvelope = serializer.readsJSON ? clientsEnvelope : nil
        if let envelope = envelope(orOf: clientsEnvelope), !response.body.isEmpty {
            let opened = try envelope.opened(response)
            guard opened.isSuccess else {
                throw SluiceError(
                    .envelopeFailed,
                    "The response says in its envelope that the request failed.",
                    step: .serialization,
                    underlyingError: EnvelopeFailure(code: opened.code, message: opened.message)
                )
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
            throw .noModel(error)
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

    /// Tries what stands for nothing in JSON, in the order of how little it says.
    private func emptyModel<Model>(
        of response: ServerResponse,
        by serializer: any ResponseSerializer<Model>
    ) throws(SluiceError) -> Model {
        var stand = response
        for text in ["null", "{}", "[]"] {
            stand.body = Data(text.utf8)
            if let model = try? serializer.serialize(stand) { return model }
        }
        return try serializer.serialize(response)
    }
}

extension SluiceError {
    /// The failure to decode a part of the body, told from the body's root.
    func inside(_ path: JSONPath) -> SluiceError {
        guard let failure = underlyingError as? DecodingFailure else { return self }
        return .undecodable(failure.inside(path))
    }
}

/// A serializer to which a part of a JSON body is something else than its text.
protocol JSONPartReading<Model>: ResponseSerializer {
    func serialize(_ part: JSON, at path: JSONPath) throws(SluiceError) -> Model
}

extension StringSerializer: JSONPartReading {
    /// The text of a string, a number or a boolean, without the quotes and escapes it has in JSON.
    func serialize(_ part: JSON, at path: JSONPath) throws(SluiceError) -> String {
        guard part.isScalar else {
            throw SluiceError(
                .decodingFailed,
                "The response has no text at “\(path)”: there is \(JSON.Kind(part)).",
                step: .serialization
            )
        }
        return part.stringValue
    }
}

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

    var withoutEnvelope: ModelLocation {
        var location = self
        location.envelope = .none
        return location
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
        if response.body.isEmpty && allowsEmptyBody { return try emptyModel(of: response, by: serializer) }
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
            return try opened.model(of: response, at: withoutEnvelope, by: serializer)
        }
        guard let keyPath else { return try serializer.serialize(response) }
        var response = response
        do {
            response.body = try JSONDocument(response.body).slice(at: keyPath)
        } catch {
            throw .noModel(error)
        }
        do {
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

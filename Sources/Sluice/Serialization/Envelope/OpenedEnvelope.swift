import SluiceHTTP

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The contents of a response's envelope.
struct OpenedEnvelope: Sendable {
    let isSuccess: Bool
    let code: JSON
    let message: String?
    /// The path to the payload.
    let path: JSONPath
    /// The JSON text of the payload, or the reason there is none.
    let payload: Result<Data, JSONPathFailure>

    /// Serializes the payload. A missing payload is serialized as `null`.
    func model<Model>(
        of response: ServerResponse,
        at location: ModelLocation,
        by serializer: any ResponseSerializer<Model>
    ) throws(SluiceError) -> Model {
        var response = response
        var location = location
        // Read a JSON string as a value, not as its source text. The empty path refers to the payload itself.
        if location.keyPath == nil, serializer is any JSONPartReading<Model> { location.keyPath = JSONPath() }
        switch payload {
        case .success(let data):
            response.body = data
            do {
                return try location.model(in: response, nil, by: serializer)
            } catch {
                throw error.inside(path)
            }
        case .failure(let failure):
            response.body = Data("null".utf8)
            do {
                return try location.model(in: response, nil, by: serializer)
            } catch {
                throw .noModel(failure)
            }
        }
    }
}

extension Envelope {
    func opened(_ response: ServerResponse) throws(SluiceError) -> OpenedEnvelope {
        do {
            return try opened(JSONDocument(response.body))
        } catch {
            throw .noModel(error)
        }
    }
}

extension SluiceError {
    /// The error for a body that is not JSON, or that has no value at the path of the model.
    static func noModel(_ failure: any Error) -> SluiceError {
        SluiceError(
            .decodingFailed,
            "The response has no model: \(failure)",
            step: .serialization,
            underlyingError: failure
        )
    }
}

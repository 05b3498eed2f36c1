import SluiceHTTP

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// What was in one response's envelope.
struct OpenedEnvelope: Sendable {
    let isSuccess: Bool
    let code: JSON
    let message: String?
    /// Where the payload is.
    let path: JSONPath
    /// The text of the payload, or why there is none.
    let payload: Result<Data, JSONPathFailure>

    /// Has the payload made into a model; where there is none, whatever the serializer makes of `null`.
    func model<Model>(
        of response: ServerResponse,
        at location: ModelLocation,
        by serializer: any ResponseSerializer<Model>
    ) throws(SluiceError) -> Model {
        var response = response
        var location = location
        // A text in JSON is read as a value, not as it is written; an empty path leads to the payload itself.
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
    /// A body that is no JSON, or has nothing where the model should be.
    static func noModel(_ failure: any Error) -> SluiceError {
        SluiceError(
            .decodingFailed,
            "The response has no model: \(failure)",
            step: .serialization,
            underlyingError: failure
        )
    }
}

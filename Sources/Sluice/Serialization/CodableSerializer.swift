import SluiceHTTP

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Decodes a model from a JSON body.
public struct CodableSerializer<Model: Decodable & Sendable>: ResponseSerializer {
    private let decoder: JSONDecoder

    /// Makes a serializer.
    public init(decoder: JSONDecoder = JSONDecoder()) {
        self.decoder = decoder
    }

    /// Decodes the body.
    public func serialize(_ response: ServerResponse) throws(SluiceError) -> Model {
        do {
            return try decoder.decode(Model.self, from: response.body)
        } catch {
            let failure = DecodingFailure(Model.self, body: response.body, cause: error)
            throw SluiceError(
                .decodingFailed,
                failure.sentence,
                step: .serialization,
                underlyingError: failure
            )
        }
    }
}

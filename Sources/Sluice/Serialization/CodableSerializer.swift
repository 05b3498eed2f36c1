import SluiceHTTP

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Decodes a model from a JSON body.
public struct CodableSerializer<Model: Decodable & Sendable>: ResponseSerializer {
    private let decoder: any DataDecoder

    /// Makes a serializer.
    public init(decoder: any DataDecoder = JSONDecoder()) {
        self.decoder = decoder
    }

    /// JSON, unless a decoder of another format was given.
    public var readsJSON: Bool { type(of: decoder) != PropertyListDecoder.self }

    /// Decodes the body. An ``Empty`` model is made of any, and a ``JSON`` value straight from the text where the decoder is
    /// Foundation's, which would lose digits.
    public func serialize(_ response: ServerResponse) throws(SluiceError) -> Model {
        if let empty = Empty() as? Model { return empty }
        do {
            if Model.self == JSON.self, decoder is JSONDecoder, let json = try JSON(parsing: response.body) as? Model {
                return json
            }
            return try decoder.decode(Model.self, from: response.body)
        } catch let error as JSONSyntaxError {
            throw .undecodable(DecodingFailure(Model.self, body: response.body, error: error))
        } catch {
            throw .undecodable(DecodingFailure(Model.self, body: response.body, cause: error))
        }
    }
}

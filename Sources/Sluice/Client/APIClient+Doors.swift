import SluiceHTTP

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

extension APIClient {
    /// Requests whose model is decoded from JSON by the client's decoders.
    public var codable: CodableRequests { CodableRequests(client: self) }

    /// Requests whose model is decoded by decoders of their own.
    ///
    /// - Parameters:
    ///   - modelDecoder: Decodes the model of a response that is accepted; nil for the client's.
    ///   - errorDecoder: Decodes the body of one that is not; nil for the client's.
    /// - Returns: Where such requests are made.
    public func codable(
        modelDecoder: (any DataDecoder)? = nil,
        errorDecoder: (any DataDecoder)? = nil
    ) -> CodableRequests {
        CodableRequests(client: self, modelDecoder: modelDecoder.map(SharedDecoder.init), errorDecoder: errorDecoder)
    }

    /// Requests whose model is a ``JSON`` value, or builds itself from one.
    public var json: JSONRequests { JSONRequests(client: self) }

    /// Requests whose model is the body as text, by the response's charset.
    public var string: SerializedRequests<String> { serialized(by: StringSerializer()) }

    /// Requests whose model is the body as it came.
    public var data: SerializedRequests<Data> { serialized(by: DataSerializer()) }

    /// Requests whose model is a picture: PNG, JPEG, GIF or WebP.
    public var image: SerializedRequests<ImageFile> { serialized(by: ImageSerializer()) }

    /// Requests whose response is accepted or not and has no model, as one with the status 204.
    public var empty: SerializedRequests<Empty> { serialized(by: JSONSerializer()) }

    /// Requests whose model a serializer of one's own makes.
    public func serialized<Model>(by serializer: some ResponseSerializer<Model>) -> SerializedRequests<Model> {
        SerializedRequests(client: self, serializer: serializer)
    }

    /// Makes a request whose model is decoded from JSON, and whose error the context names.
    ///
    /// - Parameters:
    ///   - endpoint: A ``Target`` as a rule; a path or a template too.
    ///   - model: The model, where the context does not name it.
    /// - Returns: A value to modify and send.
    public func request<Model: Decodable & Sendable, ErrorModel: ErrorSerializable>(
        _ endpoint: some Endpoint,
        as model: Model.Type = Model.self
    ) -> APIRequest<Model, ErrorModel> {
        codable.request(endpoint)
    }

    /// Makes a request that fails with an ``APIError``, for where the context names no error.
    @_disfavoredOverload
    public func request<Model: Decodable & Sendable>(
        _ endpoint: some Endpoint,
        as model: Model.Type = Model.self
    ) -> APIRequest<Model, APIError> {
        codable.request(endpoint)
    }
}

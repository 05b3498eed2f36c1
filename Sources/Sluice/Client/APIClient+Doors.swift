import SluiceHTTP

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

extension APIClient {
    /// A factory of requests whose model is decoded from JSON by the client's decoders.
    public var codable: CodableRequests { CodableRequests(client: self) }

    /// Returns a factory of requests whose model is decoded by the given decoders.
    ///
    /// - Parameters:
    ///   - modelDecoder: The decoder of the model of a successful response; nil for the client's.
    ///   - errorDecoder: The decoder of the body of a failed response; nil for the client's.
    /// - Returns: The factory.
    public func codable(
        modelDecoder: (any DataDecoder)? = nil,
        errorDecoder: (any DataDecoder)? = nil
    ) -> CodableRequests {
        CodableRequests(client: self, modelDecoder: modelDecoder.map(SharedDecoder.init), errorDecoder: errorDecoder)
    }

    /// A factory of requests whose model is a ``JSON`` value, or initializes itself from one.
    public var json: JSONRequests { JSONRequests(client: self) }

    /// A factory of requests whose model is the body as text, decoded by the response's charset.
    public var string: SerializedRequests<String> { serialized(by: StringSerializer()) }

    /// A factory of requests whose model is the body as bytes.
    public var data: SerializedRequests<Data> { serialized(by: DataSerializer()) }

    /// A factory of requests whose model is an image: PNG, JPEG, GIF or WebP.
    public var image: SerializedRequests<ImageFile> { serialized(by: ImageSerializer()) }

    /// A factory of requests without a model, for responses such as status 204. Only
    /// validation decides if they succeed.
    public var empty: SerializedRequests<Empty> { serialized(by: JSONSerializer()) }

    /// Returns a factory of requests whose model comes from a custom serializer.
    public func serialized<Model>(by serializer: some ResponseSerializer<Model>) -> SerializedRequests<Model> {
        SerializedRequests(client: self, serializer: serializer)
    }

    /// Creates a request whose model is decoded from JSON, with the error model that the context determines.
    ///
    /// - Parameters:
    ///   - endpoint: The endpoint, usually a ``Target``; a path or a template is also possible.
    ///   - model: The model type, where the context does not determine it.
    /// - Returns: The request.
    public func request<Model: Decodable & Sendable, ErrorModel: ErrorSerializable>(
        _ endpoint: some Endpoint,
        as model: Model.Type = Model.self
    ) -> APIRequest<Model, ErrorModel> {
        codable.request(endpoint)
    }

    /// Creates a request with the error model ``APIError``, used where the context does not determine one.
    @_disfavoredOverload
    public func request<Model: Decodable & Sendable>(
        _ endpoint: some Endpoint,
        as model: Model.Type = Model.self
    ) -> APIRequest<Model, APIError> {
        codable.request(endpoint)
    }
}

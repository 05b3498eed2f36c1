import SluiceHTTP
import SluiceJSON

/// A factory of requests whose model initializes itself from a ``JSON`` value, or is one.
///
/// ```swift
/// let name = try await github.json.request("users/apple", as: JSON.self).sender().value.name.stringValue
/// ```
public struct JSONRequests: RequestFactory {
    let client: APIClient

    /// Creates a request with the error model ``APIError``. The method is GET unless the endpoint has another one.
    ///
    /// - Parameters:
    ///   - endpoint: A path that is appended to the base URL, a whole URL that replaces it, or a target.
    ///   - model: The model type.
    /// - Returns: The request.
    public func request<Model: JSONDecodable>(_ endpoint: some Endpoint, as model: Model.Type = Model.self)
        -> APIRequest<
            Model, APIError
        >
    {
        APIRequest(client, endpoint, JSONSerializer<Model>())
    }

    /// Creates a request with the model and the error model that the context determines.
    ///
    /// - Parameters:
    ///   - endpoint: A path that is appended to the base URL, a whole URL that replaces it, or a target.
    ///   - model: The model type.
    ///   - error: The error model.
    /// - Returns: The request.
    @_disfavoredOverload
    public func request<Model: JSONDecodable, ErrorModel: ErrorSerializable>(
        _ endpoint: some Endpoint,
        as model: Model.Type = Model.self,
        error: ErrorModel.Type = ErrorModel.self
    ) -> APIRequest<Model, ErrorModel> {
        APIRequest(client, endpoint, JSONSerializer<Model>())
    }

    /// Creates a request for a ``JSON`` value, with the error model ``APIError``.
    public func request(_ endpoint: some Endpoint) -> APIRequest<JSON, APIError> {
        request(endpoint, as: JSON.self)
    }
}

extension MethodBuilder where Factory == JSONRequests {
    /// Creates a request with this method and the error model ``APIError``.
    ///
    /// - Parameters:
    ///   - endpoint: A path that is appended to the base URL, a whole URL that replaces it, or a target.
    ///   - model: The model type.
    /// - Returns: The request.
    public func callAsFunction<Model: JSONDecodable>(_ endpoint: some Endpoint, as model: Model.Type = Model.self)
        -> APIRequest<
            Model, APIError
        >
    {
        request(factory.request(endpoint))
    }

    /// Creates a request with the model and the error model that the context determines.
    ///
    /// - Parameters:
    ///   - endpoint: A path that is appended to the base URL, a whole URL that replaces it, or a target.
    ///   - model: The model type.
    ///   - error: The error model.
    /// - Returns: The request.
    @_disfavoredOverload
    public func callAsFunction<Model: JSONDecodable, ErrorModel: ErrorSerializable>(
        _ endpoint: some Endpoint,
        as model: Model.Type = Model.self,
        error: ErrorModel.Type = ErrorModel.self
    ) -> APIRequest<Model, ErrorModel> {
        request(factory.request(endpoint))
    }

    /// Creates a request for a ``JSON`` value, with the error model ``APIError``.
    public func callAsFunction(_ endpoint: some Endpoint) -> APIRequest<JSON, APIError> {
        self(endpoint, as: JSON.self)
    }
}

extension BodyMethodBuilder where Factory == JSONRequests {
    /// Creates a request with this method and the error model ``APIError``, to which a body can be added.
    ///
    /// - Parameters:
    ///   - endpoint: A path that is appended to the base URL, a whole URL that replaces it, or a target.
    ///   - model: The model type.
    /// - Returns: The request.
    public func callAsFunction<Model: JSONDecodable>(_ endpoint: some Endpoint, as model: Model.Type = Model.self)
        -> BodyRequest<
            Model, APIError
        >
    {
        BodyRequest(request: request(factory.request(endpoint)))
    }

    /// Creates a request with this method and the given error model, to which a body can be added.
    public func callAsFunction<Model: JSONDecodable, ErrorModel: ErrorSerializable>(
        _ endpoint: some Endpoint,
        as model: Model.Type = Model.self,
        error: ErrorModel.Type
    ) -> BodyRequest<Model, ErrorModel> {
        BodyRequest(request: request(factory.request(endpoint)))
    }

    /// Creates a request with the model and the error model that the context determines, to which a body can be added.
    @_disfavoredOverload
    public func callAsFunction<Model: JSONDecodable, ErrorModel: ErrorSerializable>(
        _ endpoint: some Endpoint,
        as model: Model.Type = Model.self
    ) -> BodyRequest<Model, ErrorModel> {
        BodyRequest(request: request(factory.request(endpoint)))
    }

    /// Creates a request with this method, without a body, and with the error model ``APIError``.
    @_disfavoredOverload
    public func callAsFunction<Model: JSONDecodable>(
        _ endpoint: some Endpoint,
        as model: Model.Type = Model.self
    ) -> APIRequest<Model, APIError> {
        request(factory.request(endpoint))
    }

    /// Creates a request with this method and without a body.
    @_disfavoredOverload
    public func callAsFunction<Model: JSONDecodable, ErrorModel: ErrorSerializable>(
        _ endpoint: some Endpoint,
        as model: Model.Type = Model.self,
        error: ErrorModel.Type = ErrorModel.self
    ) -> APIRequest<Model, ErrorModel> {
        request(factory.request(endpoint))
    }

    /// Creates a request for a ``JSON`` value, with the error model ``APIError``.
    public func callAsFunction(_ endpoint: some Endpoint) -> BodyRequest<JSON, APIError> {
        self(endpoint, as: JSON.self)
    }

}

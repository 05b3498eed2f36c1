/// A factory of requests whose model is `Decodable`.
///
/// ```swift
/// let request: APIRequest<User, GitHubError> = github.codable.request("users/apple")
/// ```
public struct CodableRequests: RequestDoor {
    let client: APIClient
    /// Nil for the client's decoder.
    var modelDecoder: SharedDecoder?
    var errorDecoder: (any DataDecoder)?

    /// Creates a request with the model and the error model that the context determines. The method is GET unless
    /// the endpoint has another one.
    ///
    /// - Parameters:
    ///   - endpoint: A path that is appended to the base URL, a whole URL that replaces it, a template or a target.
    ///   - model: The model type, where the context does not determine it.
    /// - Returns: The request.
    public func request<Model: Decodable & Sendable, ErrorModel: ErrorSerializable>(
        _ endpoint: some Endpoint,
        as model: Model.Type = Model.self
    ) -> APIRequest<Model, ErrorModel> {
        APIRequest(client, endpoint, serializer(), errorDecoder)
    }

    /// Creates a request with the error model ``APIError``, used where the context does not determine one.
    @_disfavoredOverload
    public func request<Model: Decodable & Sendable>(
        _ endpoint: some Endpoint,
        as model: Model.Type = Model.self
    ) -> APIRequest<Model, APIError> {
        APIRequest(client, endpoint, serializer(), errorDecoder)
    }
}

extension CodableRequests {
    private func serializer<Model>() -> CodableSerializer<Model> {
        CodableSerializer(modelDecoder ?? client.pipeline.modelDecoder)
    }
}

extension BodilessMethod where Door == CodableRequests {
    /// Creates a request with this method. The context determines model and error model.
    public func callAsFunction<Model: Decodable & Sendable, ErrorModel: ErrorSerializable>(
        _ endpoint: some Endpoint,
        as model: Model.Type = Model.self
    ) -> APIRequest<Model, ErrorModel> {
        request(door.request(endpoint))
    }

    /// Creates a request with this method and the error model ``APIError``, used where the
    /// context does not determine one.
    @_disfavoredOverload
    public func callAsFunction<Model: Decodable & Sendable>(
        _ endpoint: some Endpoint,
        as model: Model.Type = Model.self
    ) -> APIRequest<Model, APIError> {
        request(door.request(endpoint))
    }
}

extension BodyMethod where Door == CodableRequests {
    /// Creates a request with this method, to which a body can be added.
    public func callAsFunction<Model: Decodable & Sendable, ErrorModel: ErrorSerializable>(
        _ endpoint: some Endpoint,
        as model: Model.Type = Model.self
    ) -> BodyRequest<Model, ErrorModel> {
        BodyRequest(request: request(door.request(endpoint)))
    }

    /// Creates a request with this method and the error model ``APIError``, to which a body can be added.
    @_disfavoredOverload
    public func callAsFunction<Model: Decodable & Sendable>(
        _ endpoint: some Endpoint,
        as model: Model.Type = Model.self
    ) -> BodyRequest<Model, APIError> {
        BodyRequest(request: request(door.request(endpoint)))
    }

    /// Creates a request with this method and without a body.
    @_disfavoredOverload
    public func callAsFunction<Model: Decodable & Sendable, ErrorModel: ErrorSerializable>(
        _ endpoint: some Endpoint,
        as model: Model.Type = Model.self
    ) -> APIRequest<Model, ErrorModel> {
        request(door.request(endpoint))
    }
}

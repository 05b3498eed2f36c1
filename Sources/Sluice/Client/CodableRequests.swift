/// The front door to requests whose model is `Decodable`.
///
/// ```swift
/// let request: APIRequest<User, GitHubError> = github.codable.request("users/apple")
/// ```
public struct CodableRequests: RequestDoor {
    let client: APIClient
    /// Nil for the client's.
    var modelDecoder: SharedDecoder?
    var errorDecoder: (any DataDecoder)?

    /// Makes a request, a GET unless the endpoint says otherwise, whose model and error the context names.
    ///
    /// - Parameters:
    ///   - endpoint: A path appended to the base URL, or a whole URL in its place; a template; a target.
    ///   - model: The model, where the context does not name it.
    /// - Returns: A value to modify and send.
    public func request<Model: Decodable & Sendable, ErrorModel: ErrorSerializable>(
        _ endpoint: some Endpoint,
        as model: Model.Type = Model.self
    ) -> APIRequest<Model, ErrorModel> {
        APIRequest(client, endpoint, serializer(), errorDecoder)
    }

    /// Makes a request that fails with an ``APIError``, for where the context names no error.
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
    /// Makes a request by this method, whose model and error the context names.
    public func callAsFunction<Model: Decodable & Sendable, ErrorModel: ErrorSerializable>(
        _ endpoint: some Endpoint,
        as model: Model.Type = Model.self
    ) -> APIRequest<Model, ErrorModel> {
        request(door.request(endpoint))
    }

    /// Makes a request by this method that fails with an ``APIError``, for where the context names no error.
    @_disfavoredOverload
    public func callAsFunction<Model: Decodable & Sendable>(
        _ endpoint: some Endpoint,
        as model: Model.Type = Model.self
    ) -> APIRequest<Model, APIError> {
        request(door.request(endpoint))
    }
}

extension BodyMethod where Door == CodableRequests {
    /// Makes a request by this method that can be given a body.
    public func callAsFunction<Model: Decodable & Sendable, ErrorModel: ErrorSerializable>(
        _ endpoint: some Endpoint,
        as model: Model.Type = Model.self
    ) -> BodyRequest<Model, ErrorModel> {
        BodyRequest(request: request(door.request(endpoint)))
    }

    /// Makes a request by this method that can be given a body and fails with an ``APIError``.
    @_disfavoredOverload
    public func callAsFunction<Model: Decodable & Sendable>(
        _ endpoint: some Endpoint,
        as model: Model.Type = Model.self
    ) -> BodyRequest<Model, APIError> {
        BodyRequest(request: request(door.request(endpoint)))
    }

    /// Makes a request by this method that is sent without a body.
    @_disfavoredOverload
    public func callAsFunction<Model: Decodable & Sendable, ErrorModel: ErrorSerializable>(
        _ endpoint: some Endpoint,
        as model: Model.Type = Model.self
    ) -> APIRequest<Model, ErrorModel> {
        request(door.request(endpoint))
    }
}

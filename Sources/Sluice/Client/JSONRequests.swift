/// The front door to requests whose model builds itself from a ``JSON`` value, or is one.
///
/// ```swift
/// let name = try await github.json.request("users/apple", as: JSON.self).sender().value.name.stringValue
/// ```
public struct JSONRequests: RequestDoor {
    let client: APIClient

    /// Makes a request, a GET unless the endpoint says otherwise, whose model and error the context names.
    ///
    /// - Parameters:
    ///   - endpoint: A path appended to the base URL, or a whole URL in its place; a template; a target.
    ///   - model: The model, where the context does not name it.
    /// - Returns: A value to modify and send.
    public func request<Model: JSONDecodable, ErrorModel: ErrorSerializable>(
        _ endpoint: some Endpoint,
        as model: Model.Type = Model.self
    ) -> APIRequest<Model, ErrorModel> {
        APIRequest(client, endpoint, JSONSerializer<Model>())
    }

    /// Makes a request that fails with an ``APIError``, for where the context names no error.
    @_disfavoredOverload
    public func request<Model: JSONDecodable>(
        _ endpoint: some Endpoint,
        as model: Model.Type = Model.self
    ) -> APIRequest<Model, APIError> {
        APIRequest(client, endpoint, JSONSerializer<Model>())
    }
}

extension BodilessMethod where Door == JSONRequests {
    /// Makes a request by this method, whose model and error the context names.
    public func callAsFunction<Model: JSONDecodable, ErrorModel: ErrorSerializable>(
        _ endpoint: some Endpoint,
        as model: Model.Type = Model.self
    ) -> APIRequest<Model, ErrorModel> {
        request(door.request(endpoint))
    }

    /// Makes a request by this method that fails with an ``APIError``, for where the context names no error.
    @_disfavoredOverload
    public func callAsFunction<Model: JSONDecodable>(
        _ endpoint: some Endpoint,
        as model: Model.Type = Model.self
    ) -> APIRequest<Model, APIError> {
        request(door.request(endpoint))
    }
}

extension BodyMethod where Door == JSONRequests {
    /// Makes a request by this method that can be given a body.
    public func callAsFunction<Model: JSONDecodable, ErrorModel: ErrorSerializable>(
        _ endpoint: some Endpoint,
        as model: Model.Type = Model.self
    ) -> BodyRequest<Model, ErrorModel> {
        BodyRequest(request: request(door.request(endpoint)))
    }

    /// Makes a request by this method that can be given a body and fails with an ``APIError``.
    @_disfavoredOverload
    public func callAsFunction<Model: JSONDecodable>(
        _ endpoint: some Endpoint,
        as model: Model.Type = Model.self
    ) -> BodyRequest<Model, APIError> {
        BodyRequest(request: request(door.request(endpoint)))
    }

    /// Makes a request by this method that is sent without a body.
    @_disfavoredOverload
    public func callAsFunction<Model: JSONDecodable, ErrorModel: ErrorSerializable>(
        _ endpoint: some Endpoint,
        as model: Model.Type = Model.self
    ) -> APIRequest<Model, ErrorModel> {
        request(door.request(endpoint))
    }
}

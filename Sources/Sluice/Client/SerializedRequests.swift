/// The front door to requests whose model one given serializer makes: text, bytes, images, a model of one's own.
///
/// ```swift
/// let zen = try await github.string.request("zen").sender().value
/// ```
public struct SerializedRequests<Model: Sendable>: RequestDoor {
    let client: APIClient
    let serializer: any ResponseSerializer<Model>

    /// Makes a request, a GET unless the endpoint says otherwise, whose error the context names.
    ///
    /// - Parameter endpoint: A path appended to the base URL, or a whole URL in its place; a template; a target.
    /// - Returns: A value to modify and send.
    public func request<ErrorModel: ErrorSerializable>(_ endpoint: some Endpoint) -> APIRequest<Model, ErrorModel> {
        APIRequest(client, endpoint, serializer)
    }

    /// Makes a request that fails with an ``APIError``, for where the context names no error.
    @_disfavoredOverload
    public func request(_ endpoint: some Endpoint) -> APIRequest<Model, APIError> {
        APIRequest(client, endpoint, serializer)
    }
}

extension BodilessMethod {
    /// Makes a request by this method, whose error the context names.
    public func callAsFunction<Model, ErrorModel: ErrorSerializable>(
        _ endpoint: some Endpoint
    ) -> APIRequest<Model, ErrorModel> where Door == SerializedRequests<Model> {
        request(door.request(endpoint))
    }

    /// Makes a request by this method that fails with an ``APIError``, for where the context names no error.
    @_disfavoredOverload
    public func callAsFunction<Model>(
        _ endpoint: some Endpoint
    ) -> APIRequest<Model, APIError> where Door == SerializedRequests<Model> {
        request(door.request(endpoint))
    }
}

extension BodyMethod {
    /// Makes a request by this method that can be given a body.
    public func callAsFunction<Model, ErrorModel: ErrorSerializable>(
        _ endpoint: some Endpoint
    ) -> BodyRequest<Model, ErrorModel> where Door == SerializedRequests<Model> {
        BodyRequest(request: request(door.request(endpoint)))
    }

    /// Makes a request by this method that can be given a body and fails with an ``APIError``.
    @_disfavoredOverload
    public func callAsFunction<Model>(
        _ endpoint: some Endpoint
    ) -> BodyRequest<Model, APIError> where Door == SerializedRequests<Model> {
        BodyRequest(request: request(door.request(endpoint)))
    }

    /// Makes a request by this method that is sent without a body.
    @_disfavoredOverload
    public func callAsFunction<Model, ErrorModel: ErrorSerializable>(
        _ endpoint: some Endpoint
    ) -> APIRequest<Model, ErrorModel> where Door == SerializedRequests<Model> {
        request(door.request(endpoint))
    }
}

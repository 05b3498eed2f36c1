/// A factory of requests whose model comes from a given serializer: text, bytes, images or a custom model.
///
/// ```swift
/// let zen = try await github.string.request("zen").sender().value
/// ```
public struct SerializedRequests<Model: Sendable>: RequestDoor {
    let client: APIClient
    let serializer: any ResponseSerializer<Model>

    /// Creates a request with the error model that the context determines. The method is GET unless
    /// the endpoint has another one.
    ///
    /// - Parameter endpoint: A path that is appended to the base URL, a whole URL that replaces
    ///   it, a template or a target.
    /// - Returns: The request.
    public func request<ErrorModel: ErrorSerializable>(_ endpoint: some Endpoint) -> APIRequest<Model, ErrorModel> {
        APIRequest(client, endpoint, serializer)
    }

    /// Creates a request with the error model ``APIError``, used where the context does not determine one.
    @_disfavoredOverload
    public func request(_ endpoint: some Endpoint) -> APIRequest<Model, APIError> {
        APIRequest(client, endpoint, serializer)
    }
}

extension BodilessMethod {
    /// Creates a request with this method. The context determines the error model.
    public func callAsFunction<Model, ErrorModel: ErrorSerializable>(
        _ endpoint: some Endpoint
    ) -> APIRequest<Model, ErrorModel> where Door == SerializedRequests<Model> {
        request(door.request(endpoint))
    }

    /// Creates a request with this method and the error model ``APIError``, used where the
    /// context does not determine one.
    @_disfavoredOverload
    public func callAsFunction<Model>(
        _ endpoint: some Endpoint
    ) -> APIRequest<Model, APIError> where Door == SerializedRequests<Model> {
        request(door.request(endpoint))
    }
}

extension BodyMethod {
    /// Creates a request with this method, to which a body can be added.
    public func callAsFunction<Model, ErrorModel: ErrorSerializable>(
        _ endpoint: some Endpoint
    ) -> BodyRequest<Model, ErrorModel> where Door == SerializedRequests<Model> {
        BodyRequest(request: request(door.request(endpoint)))
    }

    /// Creates a request with this method and the error model ``APIError``, to which a body can be added.
    @_disfavoredOverload
    public func callAsFunction<Model>(
        _ endpoint: some Endpoint
    ) -> BodyRequest<Model, APIError> where Door == SerializedRequests<Model> {
        BodyRequest(request: request(door.request(endpoint)))
    }

    /// Creates a request with this method and without a body.
    @_disfavoredOverload
    public func callAsFunction<Model, ErrorModel: ErrorSerializable>(
        _ endpoint: some Endpoint
    ) -> APIRequest<Model, ErrorModel> where Door == SerializedRequests<Model> {
        request(door.request(endpoint))
    }
}

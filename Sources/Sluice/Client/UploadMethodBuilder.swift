import SluiceHTTP

/// A POST with a body. Call it with an endpoint and a ``RequestBody``.
///
/// ```swift
/// let asset: Asset = try await client.upload("assets", .file(film)).sender().value
/// let user: User = try await client.upload("users/7", .multipart([.file(picture, name: "avatar")])).put().sender().value
/// ```
///
/// The result is an ordinary ``APIRequest``. Its `put()` or `patch()` changes the method and keeps the body. A file is
/// read while it is sent. A missing file fails the request with ``SluiceError/Code/bodyUnavailable`` before a byte is
/// sent. Bytes and files are sent again on a retry or a redirect. A stream is sent again only if it is replayable.
public struct UploadMethodBuilder<Factory: RequestFactory>: Sendable {
    let factory: Factory

    /// Sets method and body. An endpoint with another method than GET keeps it.
    func request<Model, ErrorModel>(
        _ request: consuming APIRequest<Model, ErrorModel>,
        _ body: RequestBody
    ) -> APIRequest<Model, ErrorModel> {
        request.modified { draft in
            if draft.method == .get { draft.method = .post }
            draft.body = body
        }
    }
}

extension RequestFactory {
    /// Creates requests that upload bytes, a file, a stream or a form. The method is POST by default.
    public var upload: UploadMethodBuilder<Self> { UploadMethodBuilder(factory: self) }
}

extension APIClient {
    /// Creates requests that upload bytes, a file, a stream or a form, and decode their model from JSON.
    public var upload: UploadMethodBuilder<CodableRequests> { codable.upload }
}

extension UploadMethodBuilder where Factory == CodableRequests {
    /// Creates a POST with a body. The context determines model and error model.
    ///
    /// - Parameters:
    ///   - endpoint: A path that is appended to the base URL, a whole URL that replaces it, a template or a target.
    ///   - body: The body to upload: a file, bytes, a stream or a form.
    ///   - model: The model type, where the context does not determine it.
    /// - Returns: The request.
    public func callAsFunction<Model: Decodable & Sendable, ErrorModel: ErrorSerializable>(
        _ endpoint: some Endpoint,
        _ body: RequestBody,
        as model: Model.Type = Model.self
    ) -> APIRequest<Model, ErrorModel> {
        request(factory.request(endpoint), body)
    }

    /// Creates a POST with a body and the error model ``APIError``, used where the context does not determine one.
    @_disfavoredOverload
    public func callAsFunction<Model: Decodable & Sendable>(
        _ endpoint: some Endpoint,
        _ body: RequestBody,
        as model: Model.Type = Model.self
    ) -> APIRequest<Model, APIError> {
        request(factory.request(endpoint), body)
    }
}

extension UploadMethodBuilder where Factory == JSONRequests {
    /// Creates a POST with a body. The context determines model and error model.
    ///
    /// - Parameters:
    ///   - endpoint: A path that is appended to the base URL, a whole URL that replaces it, a template or a target.
    ///   - body: The body to upload: a file, bytes, a stream or a form.
    ///   - model: The model type, where the context does not determine it.
    /// - Returns: The request.
    public func callAsFunction<Model: JSONDecodable, ErrorModel: ErrorSerializable>(
        _ endpoint: some Endpoint,
        _ body: RequestBody,
        as model: Model.Type = Model.self
    ) -> APIRequest<Model, ErrorModel> {
        request(factory.request(endpoint), body)
    }

    /// Creates a POST with a body and the error model ``APIError``, used where the context does not determine one.
    @_disfavoredOverload
    public func callAsFunction<Model: JSONDecodable>(
        _ endpoint: some Endpoint,
        _ body: RequestBody,
        as model: Model.Type = Model.self
    ) -> APIRequest<Model, APIError> {
        request(factory.request(endpoint), body)
    }
}

extension UploadMethodBuilder {
    /// Creates a POST with a body. The context determines the error model.
    ///
    /// - Parameters:
    ///   - endpoint: A path that is appended to the base URL, a whole URL that replaces it, a template or a target.
    ///   - body: The body to upload: a file, bytes, a stream or a form.
    /// - Returns: The request.
    public func callAsFunction<Model, ErrorModel: ErrorSerializable>(
        _ endpoint: some Endpoint,
        _ body: RequestBody
    ) -> APIRequest<Model, ErrorModel> where Factory == SerializedRequests<Model> {
        request(factory.request(endpoint), body)
    }

    /// Creates a POST with a body and the error model ``APIError``, used where the context does not determine one.
    @_disfavoredOverload
    public func callAsFunction<Model>(
        _ endpoint: some Endpoint,
        _ body: RequestBody
    ) -> APIRequest<Model, APIError> where Factory == SerializedRequests<Model> {
        request(factory.request(endpoint), body)
    }
}

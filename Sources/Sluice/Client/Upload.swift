import SluiceHTTP

extension APIRequest {
    /// Sets method and body of an upload. An endpoint with another method than GET keeps it.
    fileprivate consuming func uploading(_ body: RequestBody) -> Self {
        modified { draft in
            if draft.method == .get { draft.method = .post }
            draft.body = body
        }
    }
}

extension APIClient {
    /// Creates a request that uploads bytes, a file, a stream or a form, and decodes its model from JSON.
    ///
    /// ```swift
    /// let asset: Asset = try await client.upload("assets", .file(film)).sender().value
    /// let avatar: MultipartForm = [.file(picture, name: "avatar")]
    /// let user: User = try await client.upload("users/7", .multipart(avatar)).put().sender().value
    /// ```
    ///
    /// The method is POST unless the endpoint has another than GET. `put()` or `patch()` changes it and keeps the body.
    /// A file is read while it is sent. A missing file fails the request with ``SluiceError/Code/bodyUnavailable``
    /// before a byte is sent. Bytes and files are sent again on a retry or a redirect. A stream is sent again only if
    /// it is replayable.
    ///
    /// - Parameters:
    ///   - endpoint: A path that is appended to the base URL, a whole URL that replaces it, or a target.
    ///   - body: The body to upload: a file, bytes, a stream or a form.
    ///   - model: The model type.
    /// - Returns: The request. The method is POST unless the endpoint has another than GET.
    public func upload<Model: Decodable & Sendable>(
        _ endpoint: some Endpoint,
        _ body: RequestBody,
        as model: Model.Type = Model.self
    ) -> APIRequest<Model, APIError> {
        codable.request(endpoint).uploading(body)
    }

    /// Creates an upload with the model and the error model that the context determines.
    @_disfavoredOverload
    public func upload<Model: Decodable & Sendable, ErrorModel: ErrorSerializable>(
        _ endpoint: some Endpoint,
        _ body: RequestBody,
        as model: Model.Type = Model.self,
        error: ErrorModel.Type = ErrorModel.self
    ) -> APIRequest<Model, ErrorModel> {
        codable.request(endpoint).uploading(body)
    }

    /// Unavailable: neither the call nor the context determines the model.
    @available(*, unavailable, message: "Say what the response is: add \"as: User.self\", or give the result a type.")
    public func upload(_ endpoint: some Endpoint, _ body: RequestBody) -> APIRequest<Void, APIError> {
        serialized(by: UndecodableSerializer()).upload(endpoint, body)
    }
}

extension SerializedRequests {
    /// Creates a request that uploads bytes, a file, a stream or a form, with the error model ``APIError``.
    ///
    /// - Parameters:
    ///   - endpoint: A path that is appended to the base URL, a whole URL that replaces it, or a target.
    ///   - body: The body to upload.
    /// - Returns: The request. The method is POST unless the endpoint has another than GET.
    public func upload(_ endpoint: some Endpoint, _ body: RequestBody) -> APIRequest<Model, APIError> {
        request(endpoint).uploading(body)
    }

    /// Creates an upload with the error model that the context determines.
    @_disfavoredOverload
    public func upload<ErrorModel: ErrorSerializable>(
        _ endpoint: some Endpoint,
        _ body: RequestBody,
        error: ErrorModel.Type = ErrorModel.self
    ) -> APIRequest<Model, ErrorModel> {
        request(endpoint).uploading(body)
    }
}

import SluiceHTTP

/// A POST with a body, at a door: call it with an endpoint and a ``RequestBody``.
///
/// ```swift
/// let asset: Asset = try await client.upload("assets", .file(film)).sender().value
/// let user: User = try await client.upload("users/7", .multipart([.file(picture, name: "avatar")])).put().sender().value
/// ```
///
/// What comes of it is an ``APIRequest`` like any other: `put()` or `patch()` changes its method and keeps the body. A file
/// is read while it is sent, and one that is missing fails the request with ``SluiceError/Code/bodyUnavailable`` before a
/// byte is sent. Bytes and files are sent again on a retry or a redirect; a stream only if it says that it can be.
public struct UploadMethod<Door: RequestDoor>: Sendable {
    let door: Door

    /// An endpoint that describes another method than GET keeps it.
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

extension RequestDoor {
    /// Makes requests that upload bytes, a file, a stream or a form; by POST unless told otherwise.
    public var upload: UploadMethod<Self> { UploadMethod(door: self) }
}

extension APIClient {
    /// Makes requests that upload bytes, a file, a stream or a form, whose model is decoded from JSON.
    public var upload: UploadMethod<CodableRequests> { codable.upload }
}

extension UploadMethod where Door == CodableRequests {
    /// Makes a POST with a body; the context names model and error.
    ///
    /// - Parameters:
    ///   - endpoint: A path appended to the base URL, or a whole URL in its place; a template; a target.
    ///   - body: What to upload: a file, bytes, a stream, a form.
    ///   - model: The model, where the context does not name it.
    /// - Returns: A value to modify and send.
    public func callAsFunction<Model: Decodable & Sendable, ErrorModel: ErrorSerializable>(
        _ endpoint: some Endpoint,
        _ body: RequestBody,
        as model: Model.Type = Model.self
    ) -> APIRequest<Model, ErrorModel> {
        request(door.request(endpoint), body)
    }

    /// Makes a POST with a body that fails with an ``APIError``, for where the context names no error.
    @_disfavoredOverload
    public func callAsFunction<Model: Decodable & Sendable>(
        _ endpoint: some Endpoint,
        _ body: RequestBody,
        as model: Model.Type = Model.self
    ) -> APIRequest<Model, APIError> {
        request(door.request(endpoint), body)
    }
}

extension UploadMethod where Door == JSONRequests {
    /// Makes a POST with a body; the context names model and error.
    ///
    /// - Parameters:
    ///   - endpoint: A path appended to the base URL, or a whole URL in its place; a template; a target.
    ///   - body: What to upload: a file, bytes, a stream, a form.
    ///   - model: The model, where the context does not name it.
    /// - Returns: A value to modify and send.
    public func callAsFunction<Model: JSONDecodable, ErrorModel: ErrorSerializable>(
        _ endpoint: some Endpoint,
        _ body: RequestBody,
        as model: Model.Type = Model.self
    ) -> APIRequest<Model, ErrorModel> {
        request(door.request(endpoint), body)
    }

    /// Makes a POST with a body that fails with an ``APIError``, for where the context names no error.
    @_disfavoredOverload
    public func callAsFunction<Model: JSONDecodable>(
        _ endpoint: some Endpoint,
        _ body: RequestBody,
        as model: Model.Type = Model.self
    ) -> APIRequest<Model, APIError> {
        request(door.request(endpoint), body)
    }
}

extension UploadMethod {
    /// Makes a POST with a body; the context names the error.
    ///
    /// - Parameters:
    ///   - endpoint: A path appended to the base URL, or a whole URL in its place; a template; a target.
    ///   - body: What to upload: a file, bytes, a stream, a form.
    /// - Returns: A value to modify and send.
    public func callAsFunction<Model, ErrorModel: ErrorSerializable>(
        _ endpoint: some Endpoint,
        _ body: RequestBody
    ) -> APIRequest<Model, ErrorModel> where Door == SerializedRequests<Model> {
        request(door.request(endpoint), body)
    }

    /// Makes a POST with a body that fails with an ``APIError``, for where the context names no error.
    @_disfavoredOverload
    public func callAsFunction<Model>(
        _ endpoint: some Endpoint,
        _ body: RequestBody
    ) -> APIRequest<Model, APIError> where Door == SerializedRequests<Model> {
        request(door.request(endpoint), body)
    }
}

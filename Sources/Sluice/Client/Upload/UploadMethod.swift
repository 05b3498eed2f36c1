import SluiceHTTP

/// A POST with a body, at a door: call it with an endpoint and what to upload.
///
/// ```swift
/// let asset: Asset = try await client.upload("assets", fromFile: film).sender().value
/// let user: User = try await client.upload("users/7", multipart: [.file(picture, name: "avatar")]).put().sender().value
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

import SluiceFoundation
import SluiceHTTP

/// A request whose model neither the call nor the context determines. It cannot be sent: a use of it is an error that
/// says how to specify the model.
///
/// ```swift
/// let user = try await shop.get("users/1").sender().value                     // an error
/// let user = try await shop.get("users/1", as: User.self).sender().value
/// let user: User = try await shop.get("users/1").sender().value
/// ```
public struct UnspecifiedRequest: ModifiableRequest {
    /// The description of the request, without its types.
    public var draft: RequestDraft

    init(_ endpoint: some Endpoint) {
        draft = RequestDraft(endpoint, nil)
    }
}

extension UnspecifiedRequest {
    /// Unavailable, because the model is unknown.
    @available(*, unavailable, message: "Say what the response is: add \"as: User.self\", or give the result a type.")
    public func sender() -> RequestSender<Empty, APIError> { APIRequest(self).sender() }

    /// Unavailable, because the model is unknown.
    @available(*, unavailable, message: "Say what the response is: add \"as: User.self\", or give the result a type.")
    public func outcome() -> Self { self }

    /// Returns the request with another method.
    public consuming func method(_ method: HTTPMethod) -> Self { modified { $0.method = method } }
    /// Returns the request with the method GET.
    public consuming func get() -> Self { method(.get) }
    /// Returns the request with the method HEAD.
    public consuming func head() -> Self { method(.head) }
    /// Returns the request with the method DELETE.
    public consuming func delete() -> Self { method(.delete) }
    /// Returns the request with the method OPTIONS.
    public consuming func options() -> Self { method(.options) }
    /// Returns the request with the method POST.
    public consuming func post() -> Self { method(.post) }
    /// Returns the request with the method PUT.
    public consuming func put() -> Self { method(.put) }
    /// Returns the request with the method PATCH.
    public consuming func patch() -> Self { method(.patch) }

    /// Returns the request. The body is not kept, since the request cannot be sent.
    public func body(_ body: RequestBody) -> Self { self }
    /// Returns the request. The body is not kept, since the request cannot be sent.
    @_disfavoredOverload
    public func json(_ value: some Encodable & Sendable, root: String? = nil, encoder: JSONEncoder? = nil) -> Self {
        self
    }
    /// Returns the request. The body is not kept, since the request cannot be sent.
    public func json(_ parameters: Parameters, root: String? = nil, encoder: JSONEncoder? = nil) -> Self { self }
    /// Returns the request. The body is not kept, since the request cannot be sent.
    @_disfavoredOverload
    public func form(_ value: some Encodable & Sendable, encoder: URLEncodedFormEncoder? = nil) -> Self { self }
    /// Returns the request. The body is not kept, since the request cannot be sent.
    public func form(_ parameters: Parameters, encoder: URLEncodedFormEncoder? = nil) -> Self { self }
    /// Unavailable: the types of the values are not known. Pass `try Parameters(any: values)`.
    @available(
        *,
        unavailable,
        message: "The types of these values are not known: pass \"try Parameters(any: values)\"."
    )
    @_disfavoredOverload
    public func json(_ values: [String: Any], root: String? = nil, encoder: JSONEncoder? = nil) -> Self { self }

    /// Unavailable: the types of the values are not known. Pass `try Parameters(any: values)`.
    @available(
        *,
        unavailable,
        message: "The types of these values are not known: pass \"try Parameters(any: values)\"."
    )
    @_disfavoredOverload
    public func form(_ values: [String: Any], encoder: URLEncodedFormEncoder? = nil) -> Self { self }

    /// Returns the request. The body is not kept, since the request cannot be sent.
    public func multipart(_ form: MultipartForm) -> Self { self }
}

extension APIRequest where Model == Empty, ErrorModel == APIError {
    init(_ request: UnspecifiedRequest) {
        self = APIClient().empty.request(request.draft.path)
    }
}

/// Stands in for the serializer of a model that is not decodable, in functions that cannot be called.
struct UndecodableSerializer<Model: Sendable>: ResponseSerializer {
    func serialize(_ response: ServerResponse) throws(SluiceError) -> Model {
        throw SluiceError(.unsupported, "\(Model.self) is not decodable.", step: .serialization)
    }
}

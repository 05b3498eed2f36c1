import SluiceFoundation
import SluiceHTTP

/// A factory of requests with one kind of model: ``CodableRequests``, ``JSONRequests`` or ``SerializedRequests``.
///
/// Besides `request(_:)`, each has the methods by name: `factory.get("users")`, `factory.post("users").json(user)`.
public protocol RequestFactory: Sendable {}

extension RequestFactory {
    /// Creates GET requests.
    public var get: MethodBuilder<Self> { MethodBuilder(factory: self, method: .get) }
    /// Creates HEAD requests.
    public var head: MethodBuilder<Self> { MethodBuilder(factory: self, method: .head) }
    /// Creates DELETE requests.
    public var delete: MethodBuilder<Self> { MethodBuilder(factory: self, method: .delete) }
    /// Creates OPTIONS requests.
    public var options: MethodBuilder<Self> { MethodBuilder(factory: self, method: .options) }
    /// Creates POST requests.
    public var post: BodyMethodBuilder<Self> { BodyMethodBuilder(factory: self, method: .post) }
    /// Creates PUT requests.
    public var put: BodyMethodBuilder<Self> { BodyMethodBuilder(factory: self, method: .put) }
    /// Creates PATCH requests.
    public var patch: BodyMethodBuilder<Self> { BodyMethodBuilder(factory: self, method: .patch) }
}

/// A method without a body. Call it with an endpoint: `client.get("users")`.
public struct MethodBuilder<Factory: RequestFactory>: Sendable {
    let factory: Factory
    let method: HTTPMethod

    func request<Model, ErrorModel>(_ request: consuming APIRequest<Model, ErrorModel>) -> APIRequest<Model, ErrorModel>
    {
        request.modified { $0.method = method }
    }
}

/// A method that can have a body. Call it with an endpoint: `client.post("users").json(user)`.
public struct BodyMethodBuilder<Factory: RequestFactory>: Sendable {
    let factory: Factory
    let method: HTTPMethod

    func request<Model, ErrorModel>(_ request: consuming APIRequest<Model, ErrorModel>) -> APIRequest<Model, ErrorModel>
    {
        request.modified { $0.method = method }
    }
}

/// The methods by name, for models that are decoded from JSON by the client's decoders.
extension APIClient {
    /// Creates GET requests.
    public var get: MethodBuilder<CodableRequests> { codable.get }
    /// Creates HEAD requests.
    public var head: MethodBuilder<CodableRequests> { codable.head }
    /// Creates DELETE requests.
    public var delete: MethodBuilder<CodableRequests> { codable.delete }
    /// Creates OPTIONS requests.
    public var options: MethodBuilder<CodableRequests> { codable.options }
    /// Creates POST requests.
    public var post: BodyMethodBuilder<CodableRequests> { codable.post }
    /// Creates PUT requests.
    public var put: BodyMethodBuilder<CodableRequests> { codable.put }
    /// Creates PATCH requests.
    public var patch: BodyMethodBuilder<CodableRequests> { codable.patch }
}

// MARK: - Models decoded from JSON by a decoder

/// A factory of requests whose model is `Decodable`.
///
/// ```swift
/// let request: APIRequest<User, GitHubError> = github.codable.request("users/apple")
/// ```
public struct CodableRequests: RequestFactory {
    let client: APIClient
    /// Nil for the client's decoder.
    var modelDecoder: SharedDecoder?
    var errorDecoder: (any DataDecoder)?

    /// Creates a request with the error model ``APIError``. The method is GET unless the endpoint has another one.
    ///
    /// - Parameters:
    ///   - endpoint: A path that is appended to the base URL, a whole URL that replaces it, or a target.
    ///   - model: The model type.
    /// - Returns: The request.
    public func request<Model: Decodable & Sendable>(_ endpoint: some Endpoint, as model: Model.Type = Model.self)
        -> APIRequest<
            Model, APIError
        >
    {
        APIRequest(client, endpoint, serializer(), errorDecoder)
    }

    /// Creates a request with the model and the error model that the context determines.
    ///
    /// - Parameters:
    ///   - endpoint: A path that is appended to the base URL, a whole URL that replaces it, or a target.
    ///   - model: The model type.
    ///   - error: The error model.
    /// - Returns: The request.
    @_disfavoredOverload
    public func request<Model: Decodable & Sendable, ErrorModel: ErrorSerializable>(
        _ endpoint: some Endpoint,
        as model: Model.Type = Model.self,
        error: ErrorModel.Type = ErrorModel.self
    ) -> APIRequest<Model, ErrorModel> {
        APIRequest(client, endpoint, serializer(), errorDecoder)
    }

    /// Unavailable: neither the call nor the context determines the model.
    @available(
        *,
        unavailable,
        message:
            "Say what the response is: add \"as: User.self\", give the result a type, or write \"client.empty\" for none, an \"APIRequest<Empty, …>\". Events and files have \"client.stream\" and \"client.download\"."
    )
    public func request(_ endpoint: some Endpoint) -> APIRequest<UndeclaredModel, APIError> {
        client.serialized(by: UndecodableSerializer()).request(endpoint)
    }

    /// Unavailable: the model is not decodable.
    @available(
        *,
        unavailable,
        message:
            "The model must be decodable: declare it as \"Decodable, Sendable\". Write \"client.empty\" for no model."
    )
    @_disfavoredOverload
    public func request<Model: Sendable>(
        _ endpoint: some Endpoint,
        as model: Model.Type = Model.self
    ) -> APIRequest<Model, APIError> {
        client.serialized(by: UndecodableSerializer()).request(endpoint)
    }
}

extension CodableRequests {
    /// Returns a factory of requests whose model is decoded by the given decoders: `client.codable(modelDecoder: xml)`.
    ///
    /// - Parameters:
    ///   - modelDecoder: The decoder of the model of a successful response; nil for the client's.
    ///   - errorDecoder: The decoder of the body of a failed response; nil for the client's, not for `modelDecoder`.
    /// - Returns: The factory.
    public func callAsFunction(
        modelDecoder: (any DataDecoder)? = nil,
        errorDecoder: (any DataDecoder)? = nil
    ) -> CodableRequests {
        CodableRequests(client: client, modelDecoder: modelDecoder.map(SharedDecoder.init), errorDecoder: errorDecoder)
    }

    private func serializer<Model>() -> CodableSerializer<Model> {
        CodableSerializer(modelDecoder ?? client.pipeline.modelDecoder)
    }
}

extension MethodBuilder where Factory == CodableRequests {
    /// Creates a request with this method and the error model ``APIError``.
    ///
    /// - Parameters:
    ///   - endpoint: A path that is appended to the base URL, a whole URL that replaces it, or a target.
    ///   - model: The model type.
    /// - Returns: The request.
    public func callAsFunction<Model: Decodable & Sendable>(
        _ endpoint: some Endpoint,
        as model: Model.Type = Model.self
    ) -> APIRequest<Model, APIError> {
        request(factory.request(endpoint))
    }

    /// Creates a request with the model and the error model that the context determines.
    ///
    /// - Parameters:
    ///   - endpoint: A path that is appended to the base URL, a whole URL that replaces it, or a target.
    ///   - model: The model type.
    ///   - error: The error model.
    /// - Returns: The request.
    @_disfavoredOverload
    public func callAsFunction<Model: Decodable & Sendable, ErrorModel: ErrorSerializable>(
        _ endpoint: some Endpoint,
        as model: Model.Type = Model.self,
        error: ErrorModel.Type = ErrorModel.self
    ) -> APIRequest<Model, ErrorModel> {
        request(factory.request(endpoint))
    }

    /// Unavailable: neither the call nor the context determines the model.
    @available(
        *,
        unavailable,
        message:
            "Say what the response is: add \"as: User.self\", give the result a type, or write \"client.empty\" for none, an \"APIRequest<Empty, …>\". Events and files have \"client.stream\" and \"client.download\"."
    )
    public func callAsFunction(_ endpoint: some Endpoint) -> APIRequest<UndeclaredModel, APIError> {
        factory.client.serialized(by: UndecodableSerializer()).request(endpoint)
    }

    /// Unavailable: the model is not decodable.
    @available(
        *,
        unavailable,
        message:
            "The model must be decodable: declare it as \"Decodable, Sendable\". Write \"client.empty\" for no model."
    )
    @_disfavoredOverload
    public func callAsFunction<Model: Sendable>(
        _ endpoint: some Endpoint,
        as model: Model.Type = Model.self
    ) -> APIRequest<Model, APIError> {
        factory.client.serialized(by: UndecodableSerializer()).request(endpoint)
    }
}

extension BodyMethodBuilder where Factory == CodableRequests {
    /// Creates a request with this method and the error model ``APIError``, to which a body can be added.
    ///
    /// - Parameters:
    ///   - endpoint: A path that is appended to the base URL, a whole URL that replaces it, or a target.
    ///   - model: The model type.
    /// - Returns: The request.
    public func callAsFunction<Model: Decodable & Sendable>(
        _ endpoint: some Endpoint,
        as model: Model.Type = Model.self
    ) -> BodyRequest<Model, APIError> {
        BodyRequest(request: request(factory.request(endpoint)))
    }

    /// Creates a request with this method and the given error model, to which a body can be added.
    public func callAsFunction<Model: Decodable & Sendable, ErrorModel: ErrorSerializable>(
        _ endpoint: some Endpoint,
        as model: Model.Type = Model.self,
        error: ErrorModel.Type
    ) -> BodyRequest<Model, ErrorModel> {
        BodyRequest(request: request(factory.request(endpoint)))
    }

    /// Creates a request with the model and the error model that the context determines, to which a body can be added.
    @_disfavoredOverload
    public func callAsFunction<Model: Decodable & Sendable, ErrorModel: ErrorSerializable>(
        _ endpoint: some Endpoint,
        as model: Model.Type = Model.self
    ) -> BodyRequest<Model, ErrorModel> {
        BodyRequest(request: request(factory.request(endpoint)))
    }

    /// Creates a request with this method, without a body, and with the error model ``APIError``.
    @_disfavoredOverload
    public func callAsFunction<Model: Decodable & Sendable>(
        _ endpoint: some Endpoint,
        as model: Model.Type = Model.self
    ) -> APIRequest<Model, APIError> {
        request(factory.request(endpoint))
    }

    /// Creates a request with this method and without a body.
    @_disfavoredOverload
    public func callAsFunction<Model: Decodable & Sendable, ErrorModel: ErrorSerializable>(
        _ endpoint: some Endpoint,
        as model: Model.Type = Model.self,
        error: ErrorModel.Type = ErrorModel.self
    ) -> APIRequest<Model, ErrorModel> {
        request(factory.request(endpoint))
    }

    /// Unavailable: neither the call nor the context determines the model.
    @available(
        *,
        unavailable,
        message:
            "Say what the response is: add \"as: User.self\", give the result a type, or write \"client.empty\" for none, an \"APIRequest<Empty, …>\". Events and files have \"client.stream\" and \"client.download\"."
    )
    public func callAsFunction(_ endpoint: some Endpoint) -> BodyRequest<UndeclaredModel, APIError> {
        factory.client.serialized(by: UndecodableSerializer()).post(endpoint)
    }

    /// Unavailable: neither the call nor the context determines the model.
    @available(
        *,
        unavailable,
        message:
            "Say what the response is: add \"as: User.self\", give the result a type, or write \"client.empty\" for none, an \"APIRequest<Empty, …>\". Events and files have \"client.stream\" and \"client.download\"."
    )
    @_disfavoredOverload
    public func callAsFunction(_ endpoint: some Endpoint) -> APIRequest<UndeclaredModel, APIError> {
        factory.client.serialized(by: UndecodableSerializer()).request(endpoint)
    }

    /// Unavailable: the model is not decodable.
    @available(
        *,
        unavailable,
        message:
            "The model must be decodable: declare it as \"Decodable, Sendable\". Write \"client.empty\" for no model."
    )
    @_disfavoredOverload
    public func callAsFunction<Model: Sendable>(
        _ endpoint: some Endpoint,
        as model: Model.Type = Model.self
    ) -> APIRequest<Model, APIError> {
        factory.client.serialized(by: UndecodableSerializer()).request(endpoint)
    }
}

// MARK: - Models from a given serializer

/// A factory of requests whose model comes from a given serializer: text, bytes, images or a custom model.
///
/// ```swift
/// let zen = try await github.string.request("zen").sender().value
/// ```
public struct SerializedRequests<Model: Sendable>: RequestFactory {
    let client: APIClient
    let serializer: any ResponseSerializer<Model>

    /// Creates a request with the error model ``APIError``. The method is GET unless the endpoint has another one.
    ///
    /// - Parameter endpoint: A path that is appended to the base URL, a whole URL that replaces it, or a target.
    /// - Returns: The request.
    public func request(_ endpoint: some Endpoint) -> APIRequest<Model, APIError> {
        APIRequest(client, endpoint, serializer)
    }

    /// Creates a request with the error model that the context determines.
    @_disfavoredOverload
    public func request<ErrorModel: ErrorSerializable>(
        _ endpoint: some Endpoint,
        error: ErrorModel.Type = ErrorModel.self
    ) -> APIRequest<Model, ErrorModel> {
        APIRequest(client, endpoint, serializer)
    }
}

extension MethodBuilder {
    /// Creates a request with this method and the error model ``APIError``.
    public func callAsFunction<Model>(_ endpoint: some Endpoint) -> APIRequest<Model, APIError>
    where Factory == SerializedRequests<Model> {
        request(factory.request(endpoint))
    }

    /// Creates a request with this method and the error model that the context determines.
    @_disfavoredOverload
    public func callAsFunction<Model, ErrorModel: ErrorSerializable>(
        _ endpoint: some Endpoint,
        error: ErrorModel.Type = ErrorModel.self
    ) -> APIRequest<Model, ErrorModel> where Factory == SerializedRequests<Model> {
        request(factory.request(endpoint))
    }
}

extension BodyMethodBuilder {
    /// Creates a request with this method and the error model ``APIError``, to which a body can be added.
    public func callAsFunction<Model>(_ endpoint: some Endpoint) -> BodyRequest<Model, APIError>
    where Factory == SerializedRequests<Model> {
        BodyRequest(request: request(factory.request(endpoint)))
    }

    /// Creates a request with this method and the given error model, to which a body can be added.
    public func callAsFunction<Model, ErrorModel: ErrorSerializable>(
        _ endpoint: some Endpoint,
        error: ErrorModel.Type
    ) -> BodyRequest<Model, ErrorModel> where Factory == SerializedRequests<Model> {
        BodyRequest(request: request(factory.request(endpoint)))
    }

    /// Creates a request with the model and the error model that the context determines, to which a body can be added.
    @_disfavoredOverload
    public func callAsFunction<Model, ErrorModel: ErrorSerializable>(
        _ endpoint: some Endpoint

    ) -> BodyRequest<Model, ErrorModel> where Factory == SerializedRequests<Model> {
        BodyRequest(request: request(factory.request(endpoint)))
    }

    /// Creates a request with this method, without a body, and with the error model ``APIError``.
    @_disfavoredOverload
    public func callAsFunction<Model>(
        _ endpoint: some Endpoint
    ) -> APIRequest<Model, APIError> where Factory == SerializedRequests<Model> {
        request(factory.request(endpoint))
    }

    /// Creates a request with this method and without a body.
    @_disfavoredOverload
    public func callAsFunction<Model, ErrorModel: ErrorSerializable>(
        _ endpoint: some Endpoint,
        error: ErrorModel.Type = ErrorModel.self
    ) -> APIRequest<Model, ErrorModel> where Factory == SerializedRequests<Model> {
        request(factory.request(endpoint))
    }
}

// MARK: - Factories of requests

extension APIClient {
    /// A factory of requests whose model is decoded from JSON by the client's decoders.
    public var codable: CodableRequests { CodableRequests(client: self) }

    /// A factory of requests whose model is a ``JSON`` value, or initializes itself from one.
    public var json: JSONRequests { JSONRequests(client: self) }

    /// A factory of requests whose model is the body as text, decoded by the response's charset.
    ///
    /// The byte order mark takes precedence, then the charset of the `Content-Type`, then UTF-8. Charsets and their labels
    /// are those of the WHATWG Encoding Standard. `us-ascii` and `iso-8859-1` are therefore read as windows-1252, which
    /// has a character for every byte, `gb2312` as GB18030, and `utf-16` without a mark as little-endian. Other charsets,
    /// such as UTF-7 and UTF-32, are not supported.
    ///
    /// Invalid bytes are an error and are not replaced. An empty body is an empty string.
    ///
    /// For a server that sends text in another charset without its name, choose the default:
    ///
    /// ```swift
    /// let page = try await shop.serialized { try $0.string(defaultCharset: "windows-1251") }.get("page").sender().value
    /// ```
    public var string: SerializedRequests<String> { serialized(by: StringSerializer()) }

    /// A factory of requests whose model is the body as bytes.
    public var data: SerializedRequests<Data> { serialized(by: DataSerializer()) }

    /// A factory of requests whose model is an image: PNG, JPEG, GIF or WebP.
    public var image: SerializedRequests<ImageFile> { serialized(by: ImageSerializer()) }

    /// A factory of requests without a model, for responses such as status 204. They succeed if the response passes
    /// validation.
    public var empty: SerializedRequests<Empty> { serialized(by: JSONSerializer()) }

    /// Returns a factory of requests whose model comes from a custom serializer.
    public func serialized<Model>(by serializer: some ResponseSerializer<Model>) -> SerializedRequests<Model> {
        SerializedRequests(client: self, serializer: serializer)
    }

    /// Returns a factory of requests whose model comes from a closure.
    ///
    /// ```swift
    /// let prices = try await shop.serialized { try PriceList($0.body) }.get("prices").sender().value
    /// ```
    ///
    /// - Parameter serialize: Called with each accepted response. An error it throws fails the request, with
    ///   ``SluiceError/Code/decodingFailed`` unless it is a ``SluiceError``.
    /// - Returns: The factory.
    public func serialized<Model: Sendable>(
        by serialize: @escaping @Sendable (ServerResponse) throws -> Model
    ) -> SerializedRequests<Model> {
        serialized(by: ClosureSerializer(closure: serialize))
    }

    /// Creates a request whose model is decoded from JSON, with the error model ``APIError``.
    ///
    /// - Parameters:
    ///   - endpoint: A path that is appended to the base URL, a whole URL that replaces it, or a target.
    ///   - model: The model type.
    /// - Returns: The request.
    public func request<Model: Decodable & Sendable>(_ endpoint: some Endpoint, as model: Model.Type = Model.self)
        -> APIRequest<
            Model, APIError
        >
    {
        codable.request(endpoint)
    }

    /// Creates a request with the model and the error model that the context determines.
    ///
    /// - Parameters:
    ///   - endpoint: A path that is appended to the base URL, a whole URL that replaces it, or a target.
    ///   - model: The model type.
    ///   - error: The error model.
    /// - Returns: The request.
    @_disfavoredOverload
    public func request<Model: Decodable & Sendable, ErrorModel: ErrorSerializable>(
        _ endpoint: some Endpoint,
        as model: Model.Type = Model.self,
        error: ErrorModel.Type = ErrorModel.self
    ) -> APIRequest<Model, ErrorModel> {
        codable.request(endpoint)
    }

    /// Unavailable: neither the call nor the context determines the model.
    @available(
        *,
        unavailable,
        message:
            "Say what the response is: add \"as: User.self\", give the result a type, or write \"client.empty\" for none, an \"APIRequest<Empty, …>\". Events and files have \"client.stream\" and \"client.download\"."
    )
    public func request(_ endpoint: some Endpoint) -> APIRequest<UndeclaredModel, APIError> {
        serialized(by: UndecodableSerializer()).request(endpoint)
    }

    /// Unavailable: the model is not decodable.
    @available(
        *,
        unavailable,
        message:
            "The model must be decodable: declare it as \"Decodable, Sendable\". Write \"client.empty\" for no model."
    )
    @_disfavoredOverload
    public func request<Model: Sendable>(
        _ endpoint: some Endpoint,
        as model: Model.Type = Model.self
    ) -> APIRequest<Model, APIError> {
        serialized(by: UndecodableSerializer()).request(endpoint)
    }
}

/// The model of a request that states none. Such a request cannot be created: the compiler asks for a model.
///
/// It has every member, and is a sequence, so that the compiler does not report the use of the model instead.
@dynamicMemberLookup
public struct UndeclaredModel: Sendable, Sequence, IteratorProtocol {
    private init() {}

    /// A member of any name.
    public subscript(dynamicMember name: String) -> UndeclaredModel { self }

    /// Returns nil.
    public func next() -> UndeclaredModel? { nil }
}

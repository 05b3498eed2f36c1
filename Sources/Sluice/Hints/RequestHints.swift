// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation

import SluiceFoundation
import SluiceHTTP

// Names and arguments of other libraries, and those that people try first. None can be called: each says what to write.

extension MethodBuilder where Factory == CodableRequests {
    @available(*, unavailable, message: "Write \"client.image\", not \"client\": \"client.image.get(\"logo\")\".")
    public func callAsFunction(_ endpoint: some Endpoint, as model: ImageFile.Type) -> APIRequest<ImageFile, APIError> {
        factory.client.image.get(endpoint)
    }
    @available(*, unavailable, message: "Write \"client.empty\", not \"client\": \"client.empty.delete(\"users/1\")\".")
    public func callAsFunction(_ endpoint: some Endpoint, as model: Void.Type) -> APIRequest<Empty, APIError> {
        factory.client.empty.get(endpoint)
    }
    @available(*, unavailable, message: "Name the model with \"as: User.self\".")
    public func callAsFunction<Model: Decodable & Sendable>(_ endpoint: some Endpoint, of model: Model.Type)
        -> APIRequest<Model, APIError>
    { request(factory.request(endpoint)) }
    @available(*, unavailable, message: "Name the model with \"as: User.self\".")
    public func callAsFunction<Model: Decodable & Sendable>(_ endpoint: some Endpoint, _ model: Model.Type)
        -> APIRequest<Model, APIError>
    { request(factory.request(endpoint)) }
    @available(*, unavailable, message: "Name the model with \"as: User.self\".")
    public func callAsFunction<Model: Decodable & Sendable>(_ endpoint: some Endpoint, decoding model: Model.Type)
        -> APIRequest<Model, APIError>
    { request(factory.request(endpoint)) }
    @available(*, unavailable, message: "Name the model with \"as: User.self\".")
    public func callAsFunction<Model: Decodable & Sendable>(_ endpoint: some Endpoint, type model: Model.Type)
        -> APIRequest<Model, APIError>
    { request(factory.request(endpoint)) }
    @available(*, unavailable, message: "Write \"get(\"users\").query([\"page\": 1])\".")
    public func callAsFunction<Model: Decodable & Sendable>(
        _ endpoint: some Endpoint,
        as model: Model.Type = Model.self,
        parameters: Parameters
    ) -> APIRequest<Model, APIError> { request(factory.request(endpoint)) }
    @available(*, unavailable, message: "Write \"get(\"users\").query([\"page\": 1])\".")
    public func callAsFunction<Model: Decodable & Sendable>(
        _ endpoint: some Endpoint,
        as model: Model.Type = Model.self,
        query: Parameters
    ) -> APIRequest<Model, APIError> { request(factory.request(endpoint)) }
    @available(*, unavailable, message: "Write \"get(\"users\").headers([\"Accept\": \"text/plain\"])\".")
    public func callAsFunction<Model: Decodable & Sendable>(
        _ endpoint: some Endpoint,
        as model: Model.Type = Model.self,
        headers: HTTPHeaders
    ) -> APIRequest<Model, APIError> { request(factory.request(endpoint)) }
    @available(
        *,
        unavailable,
        message: "Write \"get(\"users\").query([\"page\": 1]).headers([\"Accept\": \"text/plain\"])\"."
    )
    public func callAsFunction<Model: Decodable & Sendable>(
        _ endpoint: some Endpoint,
        as model: Model.Type = Model.self,
        query: Parameters,
        headers: HTTPHeaders
    ) -> APIRequest<Model, APIError> { request(factory.request(endpoint)) }
    @available(
        *,
        unavailable,
        message: "Write \"get(\"users\").query([\"page\": 1]).headers([\"Accept\": \"text/plain\"])\"."
    )
    public func callAsFunction<Model: Decodable & Sendable>(
        _ endpoint: some Endpoint,
        as model: Model.Type = Model.self,
        parameters: Parameters,
        headers: HTTPHeaders
    ) -> APIRequest<Model, APIError> { request(factory.request(endpoint)) }
    @available(*, unavailable, message: "Write \"request(\"users\").method(.delete).json(user)\".")
    public func callAsFunction<Model: Decodable & Sendable>(
        _ endpoint: some Endpoint,
        as model: Model.Type = Model.self,
        body: some Encodable
    ) -> APIRequest<Model, APIError> { request(factory.request(endpoint)) }
    @available(*, unavailable, message: "Write \"get(\"users\").timeout(.seconds(5))\".")
    public func callAsFunction<Model: Decodable & Sendable>(
        _ endpoint: some Endpoint,
        as model: Model.Type = Model.self,
        timeout: Duration
    ) -> APIRequest<Model, APIError> { request(factory.request(endpoint)) }
    @available(*, unavailable, message: "Write \"get(template.expanding([\"id\": 1]))\".")
    public func callAsFunction<Model: Decodable & Sendable>(
        _ template: URITemplate,
        as model: Model.Type = Model.self
    ) -> APIRequest<Model, APIError> { request(factory.request("")) }
}

extension MethodBuilder where Factory == CodableRequests {
    @available(
        *,
        unavailable,
        message:
            "The error must be ErrorSerializable. For the body of a failed response, write \"error: TypedAPIError<Problem>.self\"."
    )
    public func callAsFunction<Model: Decodable & Sendable>(
        _ endpoint: some Endpoint,
        as model: Model.Type = Model.self,
        error: (some Error).Type
    ) -> APIRequest<Model, APIError> { request(factory.request(endpoint)) }
    @available(
        *,
        unavailable,
        message: "Write \"client.data.get(\"logo\").sender().response\". It has a head and a body."
    )
    @_disfavoredOverload
    public func callAsFunction(_ endpoint: some Endpoint) -> APIRequest<(Data, HTTPResponse), APIError> {
        factory.client.serialized(by: UndecodableSerializer()).request(endpoint)
    }
}

extension BodyMethodBuilder where Factory == CodableRequests {
    @available(*, unavailable, message: "Write \"client.image\", not \"client\": \"client.image.get(\"logo\")\".")
    public func callAsFunction(_ endpoint: some Endpoint, as model: ImageFile.Type) -> BodyRequest<ImageFile, APIError>
    { factory.client.image.post(endpoint) }
    @available(*, unavailable, message: "Write \"client.empty\", not \"client\": \"client.empty.delete(\"users/1\")\".")
    public func callAsFunction(_ endpoint: some Endpoint, as model: Void.Type) -> BodyRequest<Empty, APIError> {
        factory.client.empty.post(endpoint)
    }
    @available(*, unavailable, message: "Name the model with \"as: User.self\".")
    public func callAsFunction<Model: Decodable & Sendable>(_ endpoint: some Endpoint, of model: Model.Type)
        -> APIRequest<Model, APIError>
    { request(factory.request(endpoint)) }
    @available(*, unavailable, message: "Name the model with \"as: User.self\".")
    public func callAsFunction<Model: Decodable & Sendable>(_ endpoint: some Endpoint, _ model: Model.Type)
        -> APIRequest<Model, APIError>
    { request(factory.request(endpoint)) }
    @available(*, unavailable, message: "Name the model with \"as: User.self\".")
    public func callAsFunction<Model: Decodable & Sendable>(_ endpoint: some Endpoint, decoding model: Model.Type)
        -> APIRequest<Model, APIError>
    { request(factory.request(endpoint)) }
    @available(*, unavailable, message: "Name the model with \"as: User.self\".")
    public func callAsFunction<Model: Decodable & Sendable>(_ endpoint: some Endpoint, type model: Model.Type)
        -> APIRequest<Model, APIError>
    { request(factory.request(endpoint)) }
    @available(*, unavailable, message: "Write \"post(\"users\").json([\"name\": a])\" or \".form([\"name\": a])\".")
    public func callAsFunction<Model: Decodable & Sendable>(
        _ endpoint: some Endpoint,
        as model: Model.Type = Model.self,
        parameters: Parameters
    ) -> APIRequest<Model, APIError> { request(factory.request(endpoint)) }
    @available(*, unavailable, message: "Write \"post(\"users\").json(user)\".")
    public func callAsFunction<Model: Decodable & Sendable>(
        _ endpoint: some Endpoint,
        as model: Model.Type = Model.self,
        json: some Encodable
    ) -> APIRequest<Model, APIError> { request(factory.request(endpoint)) }
    @available(*, unavailable, message: "Write \"post(\"users\").json(user)\".")
    public func callAsFunction<Model: Decodable & Sendable>(
        _ endpoint: some Endpoint,
        as model: Model.Type = Model.self,
        body: some Encodable
    ) -> APIRequest<Model, APIError> { request(factory.request(endpoint)) }
    @available(*, unavailable, message: "Write \"post(\"users\").form([\"name\": name])\".")
    public func callAsFunction<Model: Decodable & Sendable>(
        _ endpoint: some Endpoint,
        as model: Model.Type = Model.self,
        form: Parameters
    ) -> APIRequest<Model, APIError> { request(factory.request(endpoint)) }
    @available(*, unavailable, message: "Write \"post(\"users\").headers([\"Accept\": \"text/plain\"])\".")
    public func callAsFunction<Model: Decodable & Sendable>(
        _ endpoint: some Endpoint,
        as model: Model.Type = Model.self,
        headers: HTTPHeaders
    ) -> APIRequest<Model, APIError> { request(factory.request(endpoint)) }
    @available(*, unavailable, message: "Write \"post(\"users\").json(user).headers([\"Accept\": \"text/plain\"])\".")
    public func callAsFunction<Model: Decodable & Sendable>(
        _ endpoint: some Endpoint,
        as model: Model.Type = Model.self,
        json: some Encodable,
        headers: HTTPHeaders
    ) -> APIRequest<Model, APIError> { request(factory.request(endpoint)) }
    @available(*, unavailable, message: "Write \"post(\"users\").json(user).headers([\"Accept\": \"text/plain\"])\".")
    public func callAsFunction<Model: Decodable & Sendable>(
        _ endpoint: some Endpoint,
        as model: Model.Type = Model.self,
        body: some Encodable,
        headers: HTTPHeaders
    ) -> APIRequest<Model, APIError> { request(factory.request(endpoint)) }
    @available(*, unavailable, message: "Write \"post(\"files\").data(data, contentType: \"image/png\")\".")
    public func callAsFunction<Model: Decodable & Sendable>(
        _ endpoint: some Endpoint,
        as model: Model.Type = Model.self,
        body: Data
    ) -> APIRequest<Model, APIError> { request(factory.request(endpoint)) }
    @available(*, unavailable, message: "Write \"post(\"users\").json(user)\" or \".body(body)\".")
    public func callAsFunction<Model: Decodable & Sendable>(
        _ endpoint: some Endpoint,
        as model: Model.Type = Model.self,
        body: RequestBody
    ) -> APIRequest<Model, APIError> { request(factory.request(endpoint)) }
    @available(*, unavailable, message: "Write \"post(\"users\").json(user)\".")
    public func callAsFunction<Model: Decodable & Sendable>(
        _ endpoint: some Endpoint,
        _ body: some Encodable,
        as model: Model.Type = Model.self
    ) -> APIRequest<Model, APIError> { request(factory.request(endpoint)) }
    @available(*, unavailable, message: "Write \"post(\"users\").multipart(form)\".")
    public func callAsFunction<Model: Decodable & Sendable>(
        _ endpoint: some Endpoint,
        as model: Model.Type = Model.self,
        multipart: MultipartForm
    ) -> APIRequest<Model, APIError> { request(factory.request(endpoint)) }
    @available(*, unavailable, message: "Write \"post(template.expanding([\"id\": 1]))\".")
    public func callAsFunction<Model: Decodable & Sendable>(
        _ template: URITemplate,
        as model: Model.Type = Model.self
    ) -> BodyRequest<Model, APIError> { factory.post("") }
}

extension BodyMethodBuilder where Factory == CodableRequests {
    @available(
        *,
        unavailable,
        message:
            "The error must be ErrorSerializable. For the body of a failed response, write \"error: TypedAPIError<Problem>.self\"."
    )
    public func callAsFunction<Model: Decodable & Sendable>(
        _ endpoint: some Endpoint,
        as model: Model.Type = Model.self,
        error: (some Error).Type
    ) -> BodyRequest<Model, APIError> { factory.post("") }
}

extension CodableRequests {
    @available(*, unavailable, message: "Write \"client.image\", not \"client\": \"client.image.get(\"logo\")\".")
    public func request(_ endpoint: some Endpoint, as model: ImageFile.Type) -> APIRequest<ImageFile, APIError> {
        client.image.get(endpoint)
    }
    @available(*, unavailable, message: "Write \"client.empty\", not \"client\": \"client.empty.delete(\"users/1\")\".")
    public func request(_ endpoint: some Endpoint, as model: Void.Type) -> APIRequest<Empty, APIError> {
        client.empty.get(endpoint)
    }
    @available(
        *,
        unavailable,
        message:
            "Write \"get(\"users\")\" or \"post(\"users\")\", or another method with \"request(\"users\").method(method)\"."
    )
    public func request<Model: Decodable & Sendable>(
        _ endpoint: some Endpoint,
        method: HTTPMethod,
        as model: Model.Type = Model.self
    ) -> BodyRequest<Model, APIError> { request(endpoint).method(method) }
}

extension APIClient {
    @available(*, unavailable, message: "Keep a client: \"let shop = APIClient(baseURL: \"https://shop.example\")\".")
    public static var shared: APIClient { APIClient() }
    @available(*, unavailable, message: "Write the label: \"APIClient(baseURL: \"https://shop.example\")\".")
    public init(_ baseURL: String, configure: (inout Configuration) -> Void = { _ in }) { self.init(baseURL: baseURL) }
    @available(*, unavailable, message: "A request sends itself: \"try await request.sender().value\".")
    public func send<Request: TypedRequest>(_ request: Request) async throws -> Request.Model {
        try await request.sender().value
    }
    @available(*, unavailable, message: "A request sends itself: \"try await request.sender().value\".")
    public func execute<Request: TypedRequest>(_ request: Request) async throws -> Request.Model {
        try await request.sender().value
    }
    @available(*, unavailable, message: "Write \"APIClient(baseURL: url) { $0.timeouts.total = .seconds(5) }\".")
    public init(baseURL: String, configuration: Configuration, configure: (inout Configuration) -> Void = { _ in }) {
        // Without a parameter for a closure, this would be the initializer that a closure with two mistakes is for.
        self.init(baseURL: baseURL)
    }
    @available(
        *,
        unavailable,
        message:
            "Write \"get(\"users\")\" or \"post(\"users\")\", or another method with \"request(\"users\").method(method)\"."
    )
    public func request<Model: Decodable & Sendable>(
        _ endpoint: some Endpoint,
        method: HTTPMethod,
        as model: Model.Type = Model.self
    ) -> BodyRequest<Model, APIError> { codable.request(endpoint).method(method) }
    @available(
        *,
        unavailable,
        message: "Write \"APIClient(baseURL: url) { $0.headers = [\"Accept\": \"text/plain\"] }\"."
    )
    public init(baseURL: String, headers: HTTPHeaders, configure: (inout Configuration) -> Void = { _ in }) {
        self.init(baseURL: baseURL)
    }
    @available(*, unavailable, message: "Write \"post(\"users\").json(user)\".")
    public func request<Model: Decodable & Sendable>(
        _ endpoint: some Endpoint,
        method: HTTPMethod,
        as model: Model.Type = Model.self,
        body: some Encodable
    ) -> BodyRequest<Model, APIError> { codable.request(endpoint).method(method) }
    @available(*, unavailable, message: "Set the method after the path: \"request(\"users\").method(method)\".")
    public func method(_ method: HTTPMethod) -> BodyMethodBuilder<CodableRequests> { post }
    @available(*, unavailable, message: "Write \"upload(\"pictures\", .data(data))\".")
    public func upload<Model: Decodable & Sendable>(
        _ endpoint: some Endpoint,
        _ data: Data,
        as model: Model.Type = Model.self
    ) -> APIRequest<Model, APIError> { codable.request("") }
    @available(*, unavailable, message: "Write \"upload(\"pictures\", .file(url))\".")
    public func upload<Model: Decodable & Sendable>(
        _ endpoint: some Endpoint,
        _ file: URL,
        as model: Model.Type = Model.self
    ) -> APIRequest<Model, APIError> { codable.request("") }
    @available(*, unavailable, message: "Write \"upload(\"pictures\", .multipart(form))\".")
    public func upload<Model: Decodable & Sendable>(
        _ endpoint: some Endpoint,
        _ form: MultipartForm,
        as model: Model.Type = Model.self
    ) -> APIRequest<Model, APIError> { codable.request("") }
    @available(*, unavailable, message: "Write \"upload(\"pictures\", .file(url))\".")
    public func upload<Model: Decodable & Sendable>(
        _ endpoint: some Endpoint,
        file: URL,
        as model: Model.Type = Model.self
    ) -> APIRequest<Model, APIError> { codable.request("") }
    @available(*, unavailable, message: "Write \"upload(\"pictures\", .file(url))\".")
    public func upload<Model: Decodable & Sendable>(
        _ endpoint: some Endpoint,
        fromFile file: URL,
        as model: Model.Type = Model.self
    ) -> APIRequest<Model, APIError> { codable.request("") }
    @available(*, unavailable, message: "Write \"upload(\"pictures\", .file(URL(filePath: path)))\".")
    public func upload<Model: Decodable & Sendable>(
        _ endpoint: some Endpoint,
        file path: String,
        as model: Model.Type = Model.self
    ) -> APIRequest<Model, APIError> { codable.request("") }
    @available(*, unavailable, message: "Write \"upload(\"pictures\", .data(data))\".")
    public func upload<Model: Decodable & Sendable>(
        _ endpoint: some Endpoint,
        from data: Data,
        as model: Model.Type = Model.self
    ) -> APIRequest<Model, APIError> { codable.request("") }
    @available(*, unavailable, message: "Write \"upload(\"pictures\", .multipart(form))\".")
    public func upload<Model: Decodable & Sendable>(
        _ endpoint: some Endpoint,
        multipart form: MultipartForm,
        as model: Model.Type = Model.self
    ) -> APIRequest<Model, APIError> { codable.request("") }
    @available(*, unavailable, message: "Write \"upload(\"pictures\", .data(data))\".")
    public func upload<Model: Decodable & Sendable>(_ data: Data, to path: String, as model: Model.Type = Model.self)
        -> APIRequest<Model, APIError>
    { codable.request("") }
    @available(*, unavailable, message: "Write \"upload(\"pictures\", .file(url))\".")
    public func upload<Model: Decodable & Sendable>(_ file: URL, to path: String, as model: Model.Type = Model.self)
        -> APIRequest<Model, APIError>
    { codable.request("") }
    @available(*, unavailable, message: "Write \"upload(\"pictures\", .multipart([.file(url, name: \"picture\")]))\".")
    public func upload<Model: Decodable & Sendable>(
        multipartFormData: (inout MultipartForm) -> Void,
        to path: String,
        as model: Model.Type = Model.self
    ) -> APIRequest<Model, APIError> { codable.request("") }
    @available(*, unavailable, message: "Write \"upload(\"pictures\", body).put()\".")
    public func upload<Model: Decodable & Sendable>(
        _ endpoint: some Endpoint,
        _ body: RequestBody,
        method: HTTPMethod,
        as model: Model.Type = Model.self
    ) -> APIRequest<Model, APIError> { codable.request("") }
    @available(*, unavailable, message: "Write \"download(\"film\", to: .file(url))\", or \".suggested(in: folder)\".")
    public func download(_ endpoint: some Endpoint, to url: URL) -> DownloadAPIRequest<DownloadedFile, APIError> {
        download(endpoint, to: .temporary)
    }
    @available(*, unavailable, message: "Write \"download(\"film\", to: .file(URL(filePath: path)))\".")
    public func download(_ endpoint: some Endpoint, to path: String) -> DownloadAPIRequest<DownloadedFile, APIError> {
        download(endpoint, to: .temporary)
    }
    @available(
        *,
        unavailable,
        message:
            "Say where the file goes: \"download(\"film\", to: .temporary)\", \".file(url)\" or \".suggested(in: folder)\"."
    )
    public func download(_ endpoint: some Endpoint) -> DownloadAPIRequest<DownloadedFile, APIError> {
        download(endpoint, to: .temporary)
    }
    @available(*, unavailable, message: "A batch sends requests for values. Send downloads in a task group.")
    public func batch<Model, ErrorModel>(_ downloads: [DownloadAPIRequest<Model, ErrorModel>]) async throws -> [Model] {
        []
    }
}

extension TypedRequest {
    @available(*, unavailable, message: "The handler gets a response: switch over \"response.result\".")
    public func send(on queue: MainQueue, completion: (Result<Model, ErrorModel>) -> Void) {}
    @available(*, unavailable, message: "The handler gets a response: switch over \"response.result\".")
    public func send(completion: (Result<Model, ErrorModel>) -> Void) {}
    @available(*, unavailable, message: "Read the outcome of a sender: \"sender().value\".")
    public var value: Model { get async throws { try await sender().value } }
    @available(*, unavailable, message: "Read the outcome of a sender: \"sender().result\".")
    public var result: Result<Model, ErrorModel> { get async { await sender().result } }
    @available(*, unavailable, message: "Read the outcome of a sender: \"sender().response\".")
    public var response: APIResponse<Model, ErrorModel> { get async { await sender().response } }
    @available(*, unavailable, message: "Read the outcome of a sender: \"sender().value\".")
    public func execute() async throws -> Model { try await sender().value }
    @available(*, unavailable, message: "Read the outcome of a sender: \"sender().value\".")
    public func fetch() async throws -> Model { try await sender().value }
    @available(*, unavailable, message: "Write \"send { response in … }\", or \"sender().response\" in async code.")
    public func responseDecodable(
        of type: Model.Type,
        completionHandler: (APIResponse<Model, ErrorModel>) -> Void
    ) {}
    @available(*, unavailable, message: "Write \"get(\"users/1\", as: User.self)\", and read \"sender().value\".")
    public func serializingDecodable(_ type: Model.Type) -> RequestSender<Model, ErrorModel> { sender() }
    @available(*, unavailable, message: "Write \"send { response in … }\".")
    public func send(completionHandler: (APIResponse<Model, ErrorModel>) -> Void) {}
    @available(*, unavailable, message: "Write \"sender()\", and read its outcome: \"sender().value\".")
    public func send() -> RequestSender<Model, ErrorModel> { sender() }
    @available(*, unavailable, message: "Write \"get(\"users/1\", as: User.self)\", and read \"sender().value\".")
    public func value(as type: Model.Type) async throws -> Model { try await sender().value }
    @available(*, unavailable, message: "Write \"client.json.get(\"users/1\").sender().value\".")
    public func json() async throws -> JSON { .null }
    @available(*, unavailable, message: "Write \"client.string.get(\"users/1\").sender().value\".")
    public func string() async throws -> String { "" }
    @available(*, unavailable, message: "Write \"client.json.get(\"users/1\").sender().value\".")
    @_disfavoredOverload
    public func json() -> APIRequest<JSON, ErrorModel> { APIRequest(APIClient(), "", UndecodableSerializer()) }
    @available(*, unavailable, message: "Write \"client.string.get(\"users/1\").sender().value\".")
    @_disfavoredOverload
    public func string() -> APIRequest<String, ErrorModel> { APIRequest(APIClient(), "", UndecodableSerializer()) }
}

extension APIResponse {
    @available(*, unavailable, message: "Read \"try result.get()\", or the \"value\" of the sender.")
    public var value: Model? { nil }
    @available(*, unavailable, message: "Write \"status\", or \"status?.rawValue\" for a number.")
    public var statusCode: Int? { nil }
    @available(*, unavailable, message: "Write \"body\".")
    public var data: Data? { nil }
    @available(*, unavailable, message: "Write \"head?.headers\".")
    public var headers: HTTPHeaders { [:] }
    @available(*, unavailable, message: "Write \"failure\" for the cause, or read the error model from \"result\".")
    public var error: ErrorModel? { nil }
    @available(*, unavailable, message: "Send the request with \"client.string\", or read \"try string()\".")
    public var text: String? { nil }
    @available(*, unavailable, message: "Write \"head?.links\".")
    public var links: LinkHeader { LinkHeader("") }
    @available(*, unavailable, message: "Write \"request?.url\".")
    public var url: String? { nil }
}

extension APIResponse {
    @available(*, unavailable, message: "Count the attempts with an observer: \"$0.observers = [RequestLog()]\".")
    public var attempts: Int { 1 }
    @available(
        *,
        unavailable,
        message: "The request after redirects is \"request\". An observer sees each \".redirected\"."
    )
    public var history: [HTTPRequest] { [] }
    @available(
        *,
        unavailable,
        message: "The request after redirects is \"request\". An observer sees each \".redirected\"."
    )
    public var redirects: [HTTPRequest] { [] }
}

extension TypedRequest {
    @available(*, unavailable, message: "Write \"serializingErrors { failure in ShopError(failure) }\".")
    public func mapError<Other: ErrorSerializable>(_ transform: (ErrorModel) -> Other) -> APIRequest<Model, Other> {
        APIRequest(APIClient(), "", UndecodableSerializer())
    }
    @available(*, unavailable, message: "Write \"serializingErrors { failure in ShopError(failure) }\".")
    @_disfavoredOverload
    public func mapError<Other>(_ transform: (ErrorModel) -> Other) -> Self { self }
}

extension RequestSender {
    @available(*, unavailable, message: "Write \"uploadProgress\" or \"downloadProgress\".")
    public nonisolated var progress: some AsyncSequence<TransferProgress, Never> { downloadProgress }
}

extension HTTPStatus {
    @available(*, unavailable, message: "Write \"rawValue\".")
    public var code: Int { rawValue }
    @available(*, unavailable, message: "Write \"HTTPStatus(404)\".")
    public init(code: Int) { self.init(code) }
    @available(*, unavailable, message: "Write \".unprocessableContent\".")
    public static var unprocessableEntity: HTTPStatus { .unprocessableContent }
    @available(*, unavailable, message: "Write the number: \"error.status == 402\".")
    public static var paymentRequired: HTTPStatus { 402 }
}

extension HTTPMethod {
    @available(*, unavailable, message: "Write \".get\".")
    public static var GET: HTTPMethod { .get }
    @available(*, unavailable, message: "Write \".post\".")
    public static var POST: HTTPMethod { .post }
    @available(*, unavailable, message: "Write \".put\".")
    public static var PUT: HTTPMethod { .put }
    @available(*, unavailable, message: "Write \".patch\".")
    public static var PATCH: HTTPMethod { .patch }
    @available(*, unavailable, message: "Write \".delete\".")
    public static var DELETE: HTTPMethod { .delete }
    @available(*, unavailable, message: "Write \".head\".")
    public static var HEAD: HTTPMethod { .head }
}

extension APIClient {
    @available(*, unavailable, renamed: "empty")
    public var void: SerializedRequests<Empty> { empty }
    @available(*, unavailable, renamed: "empty")
    public var none: SerializedRequests<Empty> { empty }
}

extension MethodBuilder where Factory == SerializedRequests<Empty> {
    @available(*, unavailable, message: "Without a model, write \"Empty\", not \"Void\": \"APIRequest<Empty, …>\".")
    public func callAsFunction<ErrorModel: ErrorSerializable>(
        _ endpoint: some Endpoint
    ) -> APIRequest<Void, ErrorModel> { factory.client.serialized(by: UndecodableSerializer<Void>()).request(endpoint) }
}

extension BodyMethodBuilder where Factory == SerializedRequests<Empty> {
    @available(*, unavailable, message: "Without a model, write \"Empty\", not \"Void\": \"APIRequest<Empty, …>\".")
    public func callAsFunction<ErrorModel: ErrorSerializable>(
        _ endpoint: some Endpoint
    ) -> APIRequest<Void, ErrorModel> { factory.client.serialized(by: UndecodableSerializer<Void>()).request(endpoint) }
    @available(*, unavailable, message: "Without a model, write \"Empty\", not \"Void\": \"APIRequest<Empty, …>\".")
    public func callAsFunction<ErrorModel: ErrorSerializable>(
        _ endpoint: some Endpoint
    ) -> BodyRequest<Void, ErrorModel> { factory.client.serialized(by: UndecodableSerializer<Void>()).post(endpoint) }
}

extension SerializedRequests where Model == Empty {
    @available(*, unavailable, message: "Without a model, write \"Empty\", not \"Void\": \"APIRequest<Empty, …>\".")
    public func request<ErrorModel: ErrorSerializable>(
        _ endpoint: some Endpoint
    ) -> APIRequest<Void, ErrorModel> { client.serialized(by: UndecodableSerializer<Void>()).request(endpoint) }
}

extension MethodBuilder where Factory == CodableRequests {
    @available(*, unavailable, message: "Write \"client.empty\" and \"Empty\", not \"Void\": \"APIRequest<Empty, …>\".")
    @_disfavoredOverload
    public func callAsFunction<ErrorModel: ErrorSerializable>(
        _ endpoint: some Endpoint
    ) -> APIRequest<Void, ErrorModel> { factory.client.serialized(by: UndecodableSerializer<Void>()).request(endpoint) }
}

extension BodyMethodBuilder where Factory == CodableRequests {
    @available(*, unavailable, message: "Write \"client.empty\" and \"Empty\", not \"Void\": \"APIRequest<Empty, …>\".")
    @_disfavoredOverload
    public func callAsFunction<ErrorModel: ErrorSerializable>(
        _ endpoint: some Endpoint
    ) -> APIRequest<Void, ErrorModel> { factory.client.serialized(by: UndecodableSerializer<Void>()).request(endpoint) }
    @available(*, unavailable, message: "Write \"client.empty\" and \"Empty\", not \"Void\": \"APIRequest<Empty, …>\".")
    @_disfavoredOverload
    public func callAsFunction<ErrorModel: ErrorSerializable>(
        _ endpoint: some Endpoint
    ) -> BodyRequest<Void, ErrorModel> { factory.client.serialized(by: UndecodableSerializer<Void>()).post(endpoint) }
}

extension CodableRequests {
    @available(*, unavailable, message: "Write \"client.empty\" and \"Empty\", not \"Void\": \"APIRequest<Empty, …>\".")
    @_disfavoredOverload
    public func request<ErrorModel: ErrorSerializable>(
        _ endpoint: some Endpoint
    ) -> APIRequest<Void, ErrorModel> { client.serialized(by: UndecodableSerializer<Void>()).request(endpoint) }
}

extension APIClient {
    @available(*, unavailable, message: "Give the request its method first: \"client.data.put(\"prices\").stream()\".")
    public func stream(_ endpoint: some Endpoint, method: HTTPMethod) -> StreamRequest<APIError> { stream(endpoint) }
}

extension APIRequest {
    @available(*, unavailable, message: "A client creates it: \"client.post(\"users\", as: User.self).json(user)\".")
    public init(method: HTTPMethod, path: String, body: (any Encodable)? = nil) {
        self.init(APIClient(), path, UndecodableSerializer())
    }
    @available(*, unavailable, message: "A client creates it: \"client.post(\"users\", as: User.self).json(user)\".")
    public init(_ method: HTTPMethod, _ path: String, body: (any Encodable)? = nil) {
        self.init(APIClient(), path, UndecodableSerializer())
    }
}

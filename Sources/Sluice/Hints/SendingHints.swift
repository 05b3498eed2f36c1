// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation

import SluiceFoundation
import SluiceHTTP
import SluiceJSON

// Names and arguments of other libraries, and those that people try first. None can be used: each says what to write.

extension APIClient {
    @available(
        *,
        unavailable,
        message:
            "Write \"get(\"users\").query([\"page\": 1])\", \"post(\"users\").form([\"name\": name])\" or \"post(\"users\").json([\"name\": name])\"."
    )
    public func request<Model: Decodable & Sendable>(
        _ endpoint: some Endpoint,
        method: HTTPMethod = .get,
        parameters: Parameters,
        as model: Model.Type = Model.self
    ) -> APIRequest<Model, APIError> { codable.request("") }
    @available(
        *,
        unavailable,
        message:
            "Write \"get(\"users\").query([\"page\": 1])\", \"post(\"users\").form([\"name\": name])\" or \"post(\"users\").json([\"name\": name])\"."
    )
    public func request(
        _ endpoint: some Endpoint,
        method: HTTPMethod = .get,
        parameters: Parameters
    ) -> APIRequest<Void, APIError> { serialized { _ in () }.request("") }
    @available(*, unavailable, message: "Write \"upload(\"pictures\", .data(data))\".")
    public func upload(_ data: Data, to path: String) -> APIRequest<Void, APIError> {
        serialized { _ in () }.request("")
    }
    @available(
        *,
        unavailable,
        message:
            "Write \"get(\"users\").query([\"page\": 1])\", \"post(\"users\").form([\"name\": name])\" or \"post(\"users\").json([\"name\": name])\"."
    )
    public func request<Model: Decodable & Sendable>(
        _ endpoint: some Endpoint,
        method: HTTPMethod = .get,
        parameters: Parameters,
        headers: HTTPHeaders,
        as model: Model.Type = Model.self
    ) -> APIRequest<Model, APIError> { codable.request("") }
    @available(*, unavailable, message: "Write \"get(\"users/1\", as: User.self).keyPath(\"data\")\".")
    public func request<Model: Decodable & Sendable>(
        _ endpoint: some Endpoint,
        keyPath: JSONPath,
        as model: Model.Type = Model.self
    ) -> APIRequest<Model, APIError> { codable.request("") }
    @available(*, unavailable, message: "Write \"upload(\"pictures\", .data(data))\".")
    public func upload<Model: Decodable & Sendable>(
        _ endpoint: some Endpoint,
        data: Data,
        as model: Model.Type = Model.self
    ) -> APIRequest<Model, APIError> { codable.request("") }
    @available(
        *,
        unavailable,
        message:
            "Write \"stream(\"log\").lines\", \".bytes\", \".serverSentEvents()\" or \".jsonLines(of: Entry.self)\"."
    )
    public func streamRequest(_ endpoint: some Endpoint) -> StreamRequest<APIError> { stream(endpoint) }
}

extension MethodBuilder where Factory == CodableRequests {
    @available(*, unavailable, message: "Write \"get(\"users/1\", as: User.self).keyPath(\"data\")\".")
    public func callAsFunction<Model: Decodable & Sendable>(
        _ endpoint: some Endpoint,
        as model: Model.Type = Model.self,
        keyPath: JSONPath
    ) -> APIRequest<Model, APIError> { request(factory.request(endpoint)) }
}

extension BodyMethodBuilder where Factory == CodableRequests {
    @available(*, unavailable, message: "Write \"get(\"users/1\", as: User.self).keyPath(\"data\")\".")
    public func callAsFunction<Model: Decodable & Sendable>(
        _ endpoint: some Endpoint,
        as model: Model.Type = Model.self,
        keyPath: JSONPath
    ) -> APIRequest<Model, APIError> { request(factory.request(endpoint)) }
}

extension TypedRequest {
    @available(*, unavailable, message: "Write \"get(\"users/1\", as: User.self)\", and read \"sender().value\".")
    public func decode(_ type: Model.Type) -> RequestSender<Model, ErrorModel> { sender() }
    @available(*, unavailable, message: "Write \"get(\"users/1\", as: User.self)\", and read \"sender().value\".")
    public func decoded(as type: Model.Type) -> RequestSender<Model, ErrorModel> { sender() }
    @available(*, unavailable, message: "Write \"send { response in … }\", or \"sender().response\" in async code.")
    @discardableResult
    public func response(
        completionHandler: (APIResponse<Model, ErrorModel>) -> Void = { _ in }
    ) -> APIResponse<Model, ErrorModel>? { nil }
}

extension TypedRequest {
    @available(*, unavailable, message: "Read \"sender().response\", which has a head and a body.")
    @_disfavoredOverload
    public func send() async throws -> (Model, HTTPResponse) { (try await sender().value, HTTPResponse(status: .ok)) }
}

extension ModifiableRequest {
    @available(
        *,
        unavailable,
        message:
            "Begin with \"async let value = sender.value\", then write \"for await progress in sender.downloadProgress\". An upload has \"uploadProgress\"."
    )
    public func onProgress(_ show: (TransferProgress) -> Void) -> Self { self }
}

extension RequestSender {
    @available(
        *,
        unavailable,
        message:
            "Begin with \"async let value = sender.value\", then write \"for await progress in sender.downloadProgress\"."
    )
    public nonisolated func downloadProgress(_ show: (TransferProgress) -> Void) {}
    @available(
        *,
        unavailable,
        message:
            "Begin with \"async let value = sender.value\", then write \"for await progress in sender.uploadProgress\"."
    )
    public nonisolated func uploadProgress(_ show: (TransferProgress) -> Void) {}
}

extension DownloadRequestSender {
    @available(
        *,
        unavailable,
        message:
            "Begin with \"async let value = sender.value\", then write \"for await progress in sender.downloadProgress\"."
    )
    public nonisolated func downloadProgress(_ show: (TransferProgress) -> Void) {}
}

extension Pages {
    @available(*, unavailable, message: "Write \"try await pages.reduce(into: []) { $0.append($1) }\".")
    public func collect() async throws -> [Model] { [] }
}

extension APIClient {
    @available(*, unavailable, message: "Nothing to shut down: the connections of a client close with it.")
    public func shutdown() async throws {}
    @available(*, unavailable, message: "Nothing to shut down: the connections of a client close with it.")
    public func syncShutdown() throws {}
    @available(*, unavailable, message: "Nothing to close: the connections of a client close with it.")
    public func close() {}
    @available(*, unavailable, message: "Nothing to close: the connections of a client close with it.")
    public func invalidate() {}
    @available(*, unavailable, renamed: "cancelAll")
    public func cancelAllRequests() {}
    @available(*, unavailable, message: "Write \"get(\"users\")\" or \"post(\"users\")\".")
    public func request<Model: Decodable & Sendable>(
        _ method: HTTPMethod,
        _ endpoint: some Endpoint,
        as model: Model.Type = Model.self
    ) -> BodyRequest<Model, APIError> { codable.request(endpoint).method(method) }
    @available(*, unavailable, message: "Write \"get(\"users\")\" or \"post(\"users\")\".")
    @_disfavoredOverload
    public func request<Model: Decodable & Sendable>(
        _ method: HTTPMethod,
        _ endpoint: some Endpoint,
        as model: Model.Type = Model.self
    ) -> APIRequest<Model, APIError> { codable.request(endpoint) }
    @available(*, unavailable, message: "Write \"get(\"users\")\" or \"post(\"users\")\".")
    public func request(_ method: HTTPMethod, _ endpoint: some Endpoint) -> BodyRequest<UndeclaredModel, APIError> {
        serialized(by: UndecodableSerializer()).post(endpoint)
    }
    @available(*, unavailable, message: "Write \"get(\"users\")\" or \"post(\"users\")\".")
    public func request(_ endpoint: some Endpoint, method: HTTPMethod) -> BodyRequest<UndeclaredModel, APIError> {
        serialized(by: UndecodableSerializer()).post(endpoint)
    }
    @available(*, unavailable, message: "Write \"APIClient(baseURL: base) { $0 = client.configuration; … }\".")
    public func with(_ change: (inout Configuration) -> Void) -> APIClient { self }
    @available(*, unavailable, message: "Write \"codable(modelDecoder: decoder)\".")
    public func with(decoder: any DataDecoder) -> CodableRequests { codable }
}

extension SerializedRequests {
    @available(*, unavailable, message: "Write \"get(\"users\")\" or \"post(\"users\")\".")
    public func request(_ method: HTTPMethod, _ endpoint: some Endpoint) -> BodyRequest<Model, APIError> {
        post(endpoint)
    }
    @available(*, unavailable, message: "Name the method: \"client.string.get(\"motto\")\".")
    public func callAsFunction(_ endpoint: some Endpoint) -> BodyRequest<Model, APIError> { post(endpoint) }
}

extension SerializedRequests where Model == Data {
    @available(*, unavailable, message: "Name the method: \"client.data.get(\"logo\")\".")
    public func callAsFunction(_ endpoint: some Endpoint) -> BodyRequest<Data, APIError> { post(endpoint) }
}

extension JSONRequests {
    @available(*, unavailable, message: "Write \"get(\"users\")\" or \"post(\"users\")\".")
    public func request(_ method: HTTPMethod, _ endpoint: some Endpoint) -> BodyRequest<JSON, APIError> {
        post(endpoint)
    }
    @available(*, unavailable, message: "Name the method: \"client.json.get(\"users\")\".")
    public func callAsFunction(_ endpoint: some Endpoint) -> BodyRequest<JSON, APIError> { post(endpoint) }
}

extension DownloadRequestSender where Model == DownloadedFile {
    @available(*, unavailable, message: "Write \"value.url\".")
    public var value: URL { get async throws { try await value.url } }
}

extension RequestSender {
    @available(*, unavailable, message: "A cancelled request fails with an error whose \"isCancellation\" is true.")
    public nonisolated var isCancelled: Bool { false }
}

extension APIResponse {
    @available(*, unavailable, message: "Write \"APIResponse(result: result, head: HTTPResponse(status: .ok))\".")
    public init(result: Result<Model, ErrorModel>, status: HTTPStatus) { self.init(result: result) }
}

@available(*, unavailable, message: "Write \"stream(\"log\").bytes\", \".lines\" or \".serverSentEvents()\".")
extension StreamRequest: AsyncSequence {
    public func makeAsyncIterator() -> AsyncStream<Data>.AsyncIterator { AsyncStream { _ in }.makeAsyncIterator() }
}

// MARK: - Model hints

// Names and arguments of other libraries, and those that people try first. None can be used: each says what to write.

extension JSON {
    @available(*, unavailable, message: "Write \"JSON(parsing: data)\".")
    public init(data: Data) throws { self = .null }
    @available(*, unavailable, message: "Write \"JSON(parsing: text)\".")
    public init(string: String) throws { self = .null }
    @available(*, unavailable, message: "Write \"JSON(parsing: data)\".")
    public init(_ data: Data) throws { self = .null }
}

extension JSON {
    @available(*, unavailable, message: "Write \"JSON(value)\": \"json[\"price\"] = JSON(price)\".")
    public static func double(_ value: Double) -> JSON { .null }
    @available(*, unavailable, message: "Write \"JSON(value)\": \"json[\"price\"] = JSON(price)\".")
    public static func int(_ value: some BinaryInteger) -> JSON { .null }
    @available(*, unavailable, message: "Write \"JSON(value)\": \"json[\"price\"] = JSON(price)\".")
    public static func number(_ value: some BinaryFloatingPoint) -> JSON { .null }
    @available(*, unavailable, message: "Write \"JSON(value)\": \"json[\"price\"] = JSON(price)\".")
    public static func number(_ value: some BinaryInteger) -> JSON { .null }
    @available(*, unavailable, message: "Write \"JSON(value)\" to set a member, \"json[\"name\"].string\" to read one.")
    public subscript<Value: JSONEncodable>(key: String) -> Value? {
        get { nil }
        set {}
    }
    @available(*, unavailable, message: "Write \"json[\"items\"][0]\", or as a path \"json[path: \"items[0]\"]\".")
    public subscript(first: Any, second: Any, others: Any...) -> JSON {
        get { .null }
        set {}
    }
}

extension APIResponse {
    @available(*, unavailable, message: "Declare the model of the request: \"get(\"users/1\", as: User.self)\".")
    public func map<Other: Decodable>(_ type: Other.Type) throws -> Other? { nil }
    @available(*, unavailable, message: "Request text: \"client.string.get(\"motto\")\".")
    public func mapString() throws -> String { "" }
    @available(*, unavailable, message: "Request JSON: \"client.json.get(\"users\")\".")
    public func mapJSON() throws -> JSON { .null }
    @available(*, unavailable, message: "Statuses other than 2xx fail by default: see \"validate(statuses:)\".")
    public func filterSuccessfulStatusCodes() throws -> Self { self }
}

// MARK: - First typings of streams, files and completion handlers

extension MethodBuilder where Factory == CodableRequests {
    @available(
        *,
        unavailable,
        message: "Write \"get(\"users/\\(id)\")\", or a template: \"get(template.expanding([\"id\": 1]))\"."
    )
    public func callAsFunction<Model: Decodable & Sendable>(
        _ endpoint: some Endpoint,
        _ values: Parameters,
        as model: Model.Type = Model.self
    ) -> APIRequest<Model, APIError> { request(factory.request(endpoint)) }
}

extension MethodBuilder where Factory == CodableRequests {
    @available(*, unavailable, message: "Write the path as one text: \"get(\"users/\\(id)/posts\")\".")
    public func callAsFunction<Model: Decodable & Sendable>(
        _ path: String,
        _ second: some LosslessStringConvertible,
        _ third: some LosslessStringConvertible,
        _ others: any LosslessStringConvertible...,
        as model: Model.Type = Model.self
    ) -> APIRequest<Model, APIError> { request(factory.request(path)) }
    @available(*, unavailable, message: "Write the path as one text: \"get(\"users/\\(id)/posts\")\".")
    public func callAsFunction(
        _ path: String,
        _ second: some LosslessStringConvertible,
        _ third: some LosslessStringConvertible,
        _ others: any LosslessStringConvertible...
    ) -> APIRequest<UndeclaredModel, APIError> {
        factory.client.serialized(by: UndecodableSerializer()).request(path)
    }
}

extension MethodBuilder {
    @available(*, unavailable, message: "Write the path as one text: \"get(\"users/\\(id)/posts\")\".")
    public func callAsFunction<Model>(
        _ path: String,
        _ second: some LosslessStringConvertible,
        _ third: some LosslessStringConvertible,
        _ others: any LosslessStringConvertible...
    ) -> APIRequest<Model, APIError> where Factory == SerializedRequests<Model> { request(factory.request(path)) }
}

extension BodyMethodBuilder where Factory == CodableRequests {
    @available(*, unavailable, message: "Write the path as one text: \"post(\"users/\\(id)/posts\")\".")
    public func callAsFunction<Model: Decodable & Sendable>(
        _ path: String,
        _ second: some LosslessStringConvertible,
        _ third: some LosslessStringConvertible,
        _ others: any LosslessStringConvertible...,
        as model: Model.Type = Model.self
    ) -> BodyRequest<Model, APIError> { factory.post(path) }
}

extension CodableRequests {
    @available(*, unavailable, message: "Write \"codable(modelDecoder: decoder)\".")
    public func callAsFunction(decoder: any DataDecoder, _ hint: Void = ()) -> CodableRequests { self }
}

extension APIClient {
    @available(*, unavailable, message: "Write \"stream(\"prices\").serverSentEvents()\".")
    public func sse(_ endpoint: some Endpoint) -> ServerSentEvents<APIError> { stream(endpoint).serverSentEvents() }
    @available(*, unavailable, message: "Write \"stream(\"prices\").serverSentEvents()\".")
    public func events(_ endpoint: some Endpoint) -> ServerSentEvents<APIError> {
        stream(endpoint).serverSentEvents()
    }
    @available(*, unavailable, message: "Write \"upload(\"pictures\", .file(url))\".")
    public func upload(_ file: URL, to path: String) -> APIRequest<Void, APIError> {
        serialized { _ in () }.request("")
    }
    @available(
        *,
        unavailable,
        message: "Write \"APIClient(baseURL: url) { $0.timeouts.total = .seconds(5) }\"."
    )
    public init(baseURL: String, timeout: Duration, configure: (inout Configuration) -> Void = { _ in }) {
        self.init(baseURL: baseURL)
    }
}

extension StreamRequest {
    @available(
        *,
        unavailable,
        message: "Write \"client.data.get(\"log\")\" for the whole body, limited by \"$0.limits.body\"."
    )
    public func collect(upTo limit: Int) async throws -> Data { Data() }
    @available(
        *,
        unavailable,
        message: "Write \"client.data.get(\"log\")\" for the whole body, limited by \"$0.limits.body\"."
    )
    public func collect() async throws -> Data { Data() }
}

extension DownloadAPIRequest {
    @available(*, unavailable, message: "Write \"download(\"film\", to: .file(url))\", or \".suggested(in: folder)\".")
    public func to(_ file: URL) -> Self { self }
    @available(*, unavailable, message: "Write \"download(\"film\", to: .file(url))\", or \".suggested(in: folder)\".")
    public func to(_ path: String) -> Self { self }
}

extension RequestSender {
    @available(*, unavailable, message: "Read \"value\", \"result\" or \"response\", which send the request.")
    public nonisolated func send() {}
}

extension TypedRequest {
    @available(*, unavailable, message: "Write \"send { response in … }\", or \"sender().response\" in async code.")
    public func sender(_ completion: (APIResponse<Model, ErrorModel>) -> Void) {}
    @available(*, unavailable, message: "Write \"get(\"users/1\", as: User.self)\", and read \"sender().value\".")
    public func responseDecodable(of type: Model.Type) -> RequestSender<Model, ErrorModel> { sender() }
}

extension SerializedRequests {
    @available(*, unavailable, message: "Write \"upload(\"pictures\", body).put()\".")
    public func upload(
        _ endpoint: some Endpoint,
        _ body: RequestBody,
        method: HTTPMethod
    ) -> APIRequest<Model, APIError> { request("") }
    @available(*, unavailable, message: "Write \"upload(\"pictures\", .file(url))\".")
    public func upload(_ file: URL, to path: String) -> APIRequest<Model, APIError> { request("") }
    @available(*, unavailable, message: "Write \"upload(\"pictures\", .data(data))\".")
    public func upload(_ data: Data, to path: String) -> APIRequest<Model, APIError> { request("") }
}

extension APIClient {
    @available(*, unavailable, message: "Write \"upload(\"pictures\", body).put()\".")
    public func upload(
        _ endpoint: some Endpoint,
        _ body: RequestBody,
        method: HTTPMethod
    ) -> APIRequest<Void, APIError> { serialized { _ in () }.request("") }
}

// MARK: - Error models

// Other hints for requests have the error model `APIError`. These have the one that the context determines, for services with an error model of
// their own.

extension APIClient {
    @available(*, unavailable, message: "Write \"upload(\"pictures\", .data(data))\".")
    @_disfavoredOverload
    public func upload<Model: Decodable & Sendable, ErrorModel: ErrorSerializable>(
        _ endpoint: some Endpoint,
        _ data: Data,
        as model: Model.Type = Model.self,
        error: ErrorModel.Type = ErrorModel.self
    ) -> APIRequest<Model, ErrorModel> { codable.request("") }
    @available(*, unavailable, message: "Write \"upload(\"pictures\", .file(url))\".")
    @_disfavoredOverload
    public func upload<Model: Decodable & Sendable, ErrorModel: ErrorSerializable>(
        _ endpoint: some Endpoint,
        _ file: URL,
        as model: Model.Type = Model.self,
        error: ErrorModel.Type = ErrorModel.self
    ) -> APIRequest<Model, ErrorModel> { codable.request("") }
    @available(*, unavailable, message: "Write \"upload(\"pictures\", .multipart(form))\".")
    @_disfavoredOverload
    public func upload<Model: Decodable & Sendable, ErrorModel: ErrorSerializable>(
        _ endpoint: some Endpoint,
        _ form: MultipartForm,
        as model: Model.Type = Model.self,
        error: ErrorModel.Type = ErrorModel.self
    ) -> APIRequest<Model, ErrorModel> { codable.request("") }
    @available(*, unavailable, message: "Write \"upload(\"pictures\", .file(url))\".")
    @_disfavoredOverload
    public func upload<Model: Decodable & Sendable, ErrorModel: ErrorSerializable>(
        _ endpoint: some Endpoint,
        file: URL,
        as model: Model.Type = Model.self,
        error: ErrorModel.Type = ErrorModel.self
    ) -> APIRequest<Model, ErrorModel> { codable.request("") }
    @available(*, unavailable, message: "Write \"upload(\"pictures\", .data(data))\".")
    @_disfavoredOverload
    public func upload<Model: Decodable & Sendable, ErrorModel: ErrorSerializable>(
        _ endpoint: some Endpoint,
        data: Data,
        as model: Model.Type = Model.self,
        error: ErrorModel.Type = ErrorModel.self
    ) -> APIRequest<Model, ErrorModel> { codable.request("") }
    @available(*, unavailable, message: "Write \"upload(\"pictures\", .multipart(form))\".")
    @_disfavoredOverload
    public func upload<Model: Decodable & Sendable, ErrorModel: ErrorSerializable>(
        _ endpoint: some Endpoint,
        multipart form: MultipartForm,
        as model: Model.Type = Model.self,
        error: ErrorModel.Type = ErrorModel.self
    ) -> APIRequest<Model, ErrorModel> { codable.request("") }
    @available(*, unavailable, message: "Write \"get(\"users\")\" or \"post(\"users\")\".")
    @_disfavoredOverload
    public func request<Model: Decodable & Sendable, ErrorModel: ErrorSerializable>(
        _ method: HTTPMethod,
        _ endpoint: some Endpoint,
        as model: Model.Type = Model.self,
        error: ErrorModel.Type = ErrorModel.self
    ) -> APIRequest<Model, ErrorModel> { codable.request(endpoint) }
    @available(*, unavailable, message: "Write \"download(\"film\", to: .file(url))\", or \".suggested(in: folder)\".")
    @_disfavoredOverload
    public func download<ErrorModel: ErrorSerializable>(
        _ endpoint: some Endpoint,
        to url: URL,
        error: ErrorModel.Type = ErrorModel.self
    ) -> DownloadAPIRequest<DownloadedFile, ErrorModel> { download(endpoint, to: .temporary) }
    @available(*, unavailable, message: "Write \"download(\"film\", to: .file(URL(filePath: path)))\".")
    @_disfavoredOverload
    public func download<ErrorModel: ErrorSerializable>(
        _ endpoint: some Endpoint,
        to path: String,
        error: ErrorModel.Type = ErrorModel.self
    ) -> DownloadAPIRequest<DownloadedFile, ErrorModel> { download(endpoint, to: .temporary) }
}

extension MethodBuilder where Factory == CodableRequests {
    @available(*, unavailable, message: "Write \"get(\"users\").query([\"page\": 1])\".")
    @_disfavoredOverload
    public func callAsFunction<Model: Decodable & Sendable, ErrorModel: ErrorSerializable>(
        _ endpoint: some Endpoint,
        as model: Model.Type = Model.self,
        error: ErrorModel.Type = ErrorModel.self,
        parameters: Parameters
    ) -> APIRequest<Model, ErrorModel> { request(factory.request(endpoint)) }
    @available(*, unavailable, message: "Write \"get(\"users\").query([\"page\": 1])\".")
    @_disfavoredOverload
    public func callAsFunction<Model: Decodable & Sendable, ErrorModel: ErrorSerializable>(
        _ endpoint: some Endpoint,
        as model: Model.Type = Model.self,
        error: ErrorModel.Type = ErrorModel.self,
        query: Parameters
    ) -> APIRequest<Model, ErrorModel> { request(factory.request(endpoint)) }
    @available(*, unavailable, message: "Write \"get(\"users\").headers([\"Accept\": \"text/plain\"])\".")
    @_disfavoredOverload
    public func callAsFunction<Model: Decodable & Sendable, ErrorModel: ErrorSerializable>(
        _ endpoint: some Endpoint,
        as model: Model.Type = Model.self,
        error: ErrorModel.Type = ErrorModel.self,
        headers: HTTPHeaders
    ) -> APIRequest<Model, ErrorModel> { request(factory.request(endpoint)) }
}

extension BodyMethodBuilder where Factory == CodableRequests {
    @available(*, unavailable, message: "Write \"post(\"users\").json(user)\".")
    @_disfavoredOverload
    public func callAsFunction<Model: Decodable & Sendable, ErrorModel: ErrorSerializable>(
        _ endpoint: some Endpoint,
        as model: Model.Type = Model.self,
        error: ErrorModel.Type = ErrorModel.self,
        json: some Encodable
    ) -> APIRequest<Model, ErrorModel> { request(factory.request(endpoint)) }
    @available(*, unavailable, message: "Write \"post(\"users\").json(user)\".")
    @_disfavoredOverload
    public func callAsFunction<Model: Decodable & Sendable, ErrorModel: ErrorSerializable>(
        _ endpoint: some Endpoint,
        as model: Model.Type = Model.self,
        error: ErrorModel.Type = ErrorModel.self,
        body: some Encodable
    ) -> APIRequest<Model, ErrorModel> { request(factory.request(endpoint)) }
    @available(
        *,
        unavailable,
        message: "Write \"post(\"users\").json([\"name\": name])\" or \"post(\"users\").form([\"name\": name])\"."
    )
    @_disfavoredOverload
    public func callAsFunction<Model: Decodable & Sendable, ErrorModel: ErrorSerializable>(
        _ endpoint: some Endpoint,
        as model: Model.Type = Model.self,
        error: ErrorModel.Type = ErrorModel.self,
        parameters: Parameters
    ) -> APIRequest<Model, ErrorModel> { request(factory.request(endpoint)) }
}

// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation

import SluiceFoundation
import SluiceHTTP

// Names and arguments of other libraries, and those that people try first. None can be called: each says what to write.

extension APIRequest {
    @available(*, unavailable, message: "Stream the request: \"client.stream(\"log\").lines\".")
    public var lines: StreamSequence<String, ErrorModel> { stream().lines }
}

extension DownloadRequestSender {
    @available(*, unavailable, message: "Write \"uploadProgress\" or \"downloadProgress\".")
    public nonisolated var progress: some AsyncSequence<TransferProgress, Never> { downloadProgress }
}

extension DownloadResponse {
    @available(*, unavailable, message: "Write \"head?.status\".")
    public var status: HTTPStatus? { head?.status }
}

extension DownloadDestination {
    @available(*, unavailable, message: "Write \".suggested(in: folder, ifExists: .overwrite)\".")
    public static func suggested(in directory: URL, overwrite: Bool) -> DownloadDestination { .temporary }
    @available(*, unavailable, message: "Write \".suggested(in: folder)\".")
    public static func folder(_ folder: URL) -> DownloadDestination { .temporary }
    @available(*, unavailable, message: "Write \".suggested(in: folder)\".")
    public static func directory(_ folder: URL) -> DownloadDestination { .temporary }
    @available(*, unavailable, message: "Write \".file(url, ifExists: .overwrite)\".")
    public static func file(_ url: URL, overwrite: Bool) -> DownloadDestination { .temporary }
    @available(*, unavailable, message: "Write \".file(url, ifExists: .overwrite)\".")
    public static func file(_ url: URL, replace: Bool) -> DownloadDestination { .temporary }
    @available(*, unavailable, message: "Write \".file(URL(filePath: path))\".")
    public static func file(_ path: String) -> DownloadDestination { .temporary }
}

extension DownloadDestination.Conflict {
    @available(*, unavailable, message: "Write \".overwrite\".")
    public static var replace: Self { .overwrite }
    @available(*, unavailable, message: "Write \".keepBoth\".")
    public static var rename: Self { .keepBoth }
    @available(
        *,
        unavailable,
        message: "Write \".fail\", \".overwrite\" or \".keepBoth\". To skip a download, look for the file first."
    )
    public static var skip: Self { .fail }
}

extension DownloadAPIRequest {
    @available(*, unavailable, message: "Write \"download(\"film\", to: .temporary, error: ShopError.self)\".")
    public func errors<Other: ErrorSerializable>(as error: Other.Type) -> DownloadAPIRequest<Model, Other> {
        APIClient().download("", to: .temporary, error: error).serialized { _, _ in throw CancellationError() }
    }
    @available(*, unavailable, message: "Write \"download(\"film\", to: .temporary, error: ShopError.self)\".")
    public func error<Other: ErrorSerializable>(as error: Other.Type) -> DownloadAPIRequest<Model, Other> {
        APIClient().download("", to: .temporary, error: error).serialized { _, _ in throw CancellationError() }
    }
}

extension TypedRequest {
    @available(*, unavailable, message: "Write \"get(\"users\", as: User.self, error: ShopError.self)\".")
    public func errors<Other: ErrorSerializable>(as error: Other.Type) -> APIRequest<Model, Other> {
        APIRequest(APIClient(), "", UndecodableSerializer())
    }
    @available(*, unavailable, message: "Write \"get(\"users\", as: User.self, error: ShopError.self)\".")
    public func error<Other: ErrorSerializable>(as error: Other.Type) -> APIRequest<Model, Other> {
        APIRequest(APIClient(), "", UndecodableSerializer())
    }
}

extension TypedRequest {
    @available(*, unavailable, message: "Write \"client.download(\"film\", to: .file(url))\".")
    public func download(to file: URL) -> DownloadAPIRequest<DownloadedFile, ErrorModel> {
        APIClient().download("", to: .temporary)
    }
    @available(*, unavailable, message: "Write \"client.download(\"film\", to: .file(URL(filePath: path)))\".")
    public func download(to path: String) -> DownloadAPIRequest<DownloadedFile, ErrorModel> {
        APIClient().download("", to: .temporary)
    }
    @available(*, unavailable, message: "Write \"client.stream(\"prices\").serverSentEvents()\".")
    public func serverSentEvents() -> AsyncStream<ServerSentEvent> { AsyncStream { _ in } }
    @available(*, unavailable, message: "Write \"client.stream(\"prices\").serverSentEvents()\".")
    public func events() -> AsyncStream<ServerSentEvent> { AsyncStream { _ in } }
    @available(*, unavailable, message: "Write \"client.data.get(\"logo\")\", and read \"sender().value\".")
    public func data() -> APIRequest<Data, ErrorModel> { APIRequest(APIClient(), "", UndecodableSerializer()) }
}

extension ServerSentEvent {
    @available(*, unavailable, message: "Write \"type\".")
    public var name: String { type }
    @available(*, unavailable, message: "Write \"decoded(as: Price.self)\".")
    public func decode<Value: Decodable>(_ type: Value.Type) throws -> Value? { nil }
    @available(*, unavailable, message: "Write \"decoded(as: JSON.self)\".")
    public func json() throws -> JSON { .null }
    @available(*, unavailable, message: "Write \"type\".")
    public var event: String { type }
    @available(*, unavailable, message: "Write \"lastEventID\".")
    public var id: String { lastEventID }
    @available(*, unavailable, message: "Write \"decoded(as: Price.self, by: decoder)\".")
    public func decoded<Value: Decodable & Sendable>(
        as type: Value.Type = Value.self,
        decoder: any DataDecoder,
        _ hint: Void = ()
    ) throws(SluiceError) -> Value { try decoded(as: type) }
    @available(*, unavailable, message: "Write \"decoded(as: Price.self, by: decoder)\".")
    public func decoded<Value: Decodable & Sendable>(
        as type: Value.Type = Value.self,
        using decoder: any DataDecoder,
        _ hint: Void = ()
    ) throws(SluiceError) -> Value { try decoded(as: type) }
    @available(*, unavailable, message: "Write \"decoded(as: Price.self, by: decoder)\".")
    public func decoded<Value: Decodable & Sendable>(
        as type: Value.Type = Value.self,
        with decoder: any DataDecoder,
        _ hint: Void = ()
    ) throws(SluiceError) -> Value { try decoded(as: type) }
}

extension StreamRequest {
    @available(*, unavailable, message: "Write \"stream(\"chat\").post(.json([\"prompt\": text]))\".")
    public func json(_ parameters: Parameters) -> Self { self }
    @available(*, unavailable, message: "Write \"stream(\"chat\").post(.json(prompt))\".")
    public func json(_ value: some Encodable) -> Self { self }
    @available(*, unavailable, message: "Write \"serverSentEvents(reconnection: .none)\".")
    public func serverSentEvents(reconnect: Bool) -> ServerSentEvents<ErrorModel> { serverSentEvents() }
    @available(*, unavailable, message: "Write \"serverSentEvents(reconnection: .none)\".")
    public func serverSentEvents(reconnect: Reconnection) -> ServerSentEvents<ErrorModel> { serverSentEvents() }
    @available(*, unavailable, message: "Write \"serverSentEvents(reconnection: .none)\".")
    public func serverSentEvents(reconnects: Bool) -> ServerSentEvents<ErrorModel> { serverSentEvents() }
    @available(*, unavailable, message: "Decode each event: \"try event.decoded(as: Price.self)\".")
    public func serverSentEvents<Value>(of type: Value.Type) -> ServerSentEvents<ErrorModel> { serverSentEvents() }
    @available(*, unavailable, message: "Decode each event: \"try event.decoded(as: Price.self)\".")
    public func serverSentEvents<Value>(as type: Value.Type) -> ServerSentEvents<ErrorModel> { serverSentEvents() }
    @available(*, unavailable, message: "Write \"serverSentEvents()\".")
    public func events() -> ServerSentEvents<ErrorModel> { serverSentEvents() }
}

extension Reconnection {
    @available(*, unavailable, message: "Write \".none\".")
    public static var never: Reconnection { .none }
    @available(*, unavailable, message: "Write \".none\".")
    public static var disabled: Reconnection { .none }
}

@available(*, unavailable, message: "Write \"sha256(\"9f86d0…\")\".")
public enum DownloadChecksum {
    case sha256(String)
}

extension DownloadAPIRequest {
    @available(*, unavailable, message: "Write \"sha256(\"9f86d0…\")\".")
    public func checksum(_ digest: DownloadChecksum) -> Self { self }
}

extension DownloadAPIRequest {
    @available(*, unavailable, message: "Read the outcome of a sender: \"sender().value\".")
    public var value: Model { get async throws { try await sender().value } }
    @available(*, unavailable, message: "Read the outcome of a sender: \"sender().value\".")
    public func send() async throws -> Model { try await sender().value }
    @available(*, unavailable, message: "Write \"send { response in … }\", or \"sender().response\" in async code.")
    public func response() -> DownloadRequestSender<Model, ErrorModel> { sender() }
    @available(*, unavailable, message: "Send it: \"sender().value\". That resumes a partial file.")
    @discardableResult
    public func resume() -> DownloadRequestSender<Model, ErrorModel> { sender() }
}

extension DownloadedFile {
    @available(*, unavailable, message: "Write \"url.path\".")
    public var path: String { url.path }
    @available(*, unavailable, message: "Write \"url\".")
    public var fileURL: URL { url }
    @available(*, unavailable, message: "Write \"length\".")
    public var size: Int64 { length }
}

extension APIClient {
    @available(*, unavailable, message: "Write \"download(\"film\", to: .file(url, ifExists: .overwrite))\".")
    public func download(
        _ endpoint: some Endpoint,
        to url: URL,
        overwrite: Bool
    ) -> DownloadAPIRequest<DownloadedFile, APIError> { download(endpoint, to: .temporary) }
    @available(*, unavailable, message: "Write \"download(\"film\", to: .file(url, ifExists: .overwrite))\".")
    public func download(
        _ endpoint: some Endpoint,
        to destination: DownloadDestination,
        overwrite: Bool
    ) -> DownloadAPIRequest<DownloadedFile, APIError> { download(endpoint, to: .temporary) }
}

extension StreamRequest {
    @available(*, unavailable, renamed: "response")
    public func open() async throws -> StreamedResponse<ErrorModel> { try await response() }
    @available(*, unavailable, message: "Read \"lines\", \"bytes\" or \"serverSentEvents()\", which send the request.")
    public func sender() -> RequestSender<Data, ErrorModel> {
        APIRequest<Data, ErrorModel>(client, "", UndecodableSerializer()).sender()
    }
    @available(*, unavailable, message: "Read \"lines\", \"bytes\" or \"serverSentEvents()\", which send the request.")
    public var value: Data { get async throws { Data() } }
}

/// The methods that people look for after `client.stream` and `client.download`.
@available(*, unavailable)
public struct _MethodHints<Request> {
    let request: Request

    public func get(_ endpoint: some Endpoint) -> Request { request }
    public func post(_ endpoint: some Endpoint) -> Request { request }
    public func post(_ endpoint: some Endpoint, to destination: DownloadDestination) -> Request { request }
    public func put(_ endpoint: some Endpoint) -> Request { request }
    public func patch(_ endpoint: some Endpoint) -> Request { request }
    public func delete(_ endpoint: some Endpoint) -> Request { request }
}

extension APIClient {
    @available(
        *,
        unavailable,
        message: "Write \"client.stream(\"prices\")\", and \".post(body)\" after it to send a body."
    )
    public var stream: _MethodHints<StreamRequest<APIError>> { _MethodHints(request: stream("")) }
    @available(*, unavailable, message: "Write \"client.download(\"film\", to: .file(url))\".")
    public var download: _MethodHints<DownloadAPIRequest<DownloadedFile, APIError>> {
        _MethodHints(request: download("", to: .temporary))
    }
}

// MARK: - Pagination hints

// Names and arguments of other libraries, and those that people try first. None can be called: each says what to write.

extension Pages {
    @available(*, unavailable, message: "Collect the pages: \"for try await page in pages { all.append(page) }\".")
    public func all() async throws(ErrorModel) -> [Model] { [] }
    @available(*, unavailable, message: "Write \"items(\\.users)\", or \"items(\\.self)\" for pages that are arrays.")
    public func items() -> Self { self }
}

extension Pagination {
    @available(*, unavailable, message: "Name the parameter first: \"cursor(\"after\", at: { $0.next })\".")
    public static func cursor<Value>(_ cursor: (Model) -> Value) -> Pagination { .link }
    @available(*, unavailable, message: "Name the parameter first: \"cursor(\"after\", at: { $0.next })\".")
    public static func cursor<Value>(_ cursor: (Model) -> Value, query: String) -> Pagination { .link }
    @available(*, unavailable, message: "Write \".link\".")
    public static var linkHeader: Pagination { .link }
    @available(*, unavailable, message: "Write \".pageNumber(counting: \\.orders.count)\".")
    public static var page: Pagination { .link }
    @available(*, unavailable, message: "Write \".pageNumber(\"page\", counting: \\.orders.count)\".")
    public static func page(_ parameter: String) -> Pagination { .link }
    @available(*, unavailable, message: "Write the text of the URL: \"nextURL(at: { $0.next?.absoluteString })\".")
    public static func nextURL(at url: (Model) -> URL?) -> Pagination { .link }
    @available(*, unavailable, message: "A page without items is the last: \"pageNumber(counting: \\.orders.count)\".")
    public static func pageNumber(_ parameter: String = "page", from first: Int = 1, pageSize: Int? = nil) -> Pagination
    { .link }
    @available(*, unavailable, message: "Write \"from: 1\": \"pageNumber(from: 1, counting: \\.orders.count)\".")
    public static func pageNumber(
        _ parameter: String = "page",
        startingAt first: Int,
        pageSize: Int? = nil,
        counting count: (Model) -> Int = { _ in 0 }
    ) -> Pagination { .link }
    @available(*, unavailable, message: "A page without items is the last: \"offset(counting: \\.orders.count)\".")
    public static func offset(_ parameter: String = "offset", from start: Int = 0, pageSize: Int? = nil) -> Pagination {
        .link
    }
}

// MARK: - Composition hints

// Names and arguments that people try first. None can be called: each says what to write.

extension TypedRequest {
    @available(
        *,
        unavailable,
        message:
            "Say where the next page is: \"pages(by: .link)\", or \"pages(by: .cursor(\"after\", at: { $0.next }))\"."
    )
    public func pages() -> Pages<Model, ErrorModel> { pages(by: .link) }
    @available(*, unavailable, message: "Change the value: \"try await request.sender().value.name\".")
    public func map<Value: Sendable>(_ change: (Model) throws -> Value) -> APIRequest<Value, ErrorModel> {
        APIRequest(APIClient(), "", UndecodableSerializer())
    }
    @available(
        *,
        unavailable,
        message: "Await one value after the other, or write \"client.chain(first) { response in … }\"."
    )
    public func flatMap<Next: TypedRequest>(_ next: (Model) throws -> Next) -> APIRequest<Next.Model, ErrorModel> {
        APIRequest(APIClient(), "", UndecodableSerializer())
    }
    @available(
        *,
        unavailable,
        message: "Await one value after the other, or write \"client.chain(first) { response in … }\"."
    )
    @_disfavoredOverload
    public func flatMap<Value>(_ next: (Model) throws -> Value) -> Self { self }
    @available(
        *,
        unavailable,
        message: "Await one value after the other, or write \"client.chain(first) { response in … }\"."
    )
    public func then<Next: TypedRequest>(_ next: (Model) throws -> Next) -> APIRequest<Next.Model, ErrorModel> {
        APIRequest(APIClient(), "", UndecodableSerializer())
    }
    @available(
        *,
        unavailable,
        message: "Await one value after the other, or write \"client.chain(first) { response in … }\"."
    )
    @_disfavoredOverload
    public func then<Value>(_ next: (Model) throws -> Value) -> Self { self }
}

extension APIClient {
    @available(*, unavailable, message: "Write \"maximumInFlight: 3\".")
    public func batch<Request: TypedRequest>(_ requests: [Request], maxConcurrent: Int) async throws -> [Request.Model]
    {
        []
    }
    @available(*, unavailable, message: "Write \"maximumInFlight: 3\".")
    public func batch<Request: TypedRequest>(_ requests: [Request], maxConcurrency: Int) async throws -> [Request.Model]
    {
        []
    }
}

extension GraphResults {
    @available(*, unavailable, message: "Write \"try results.value(of: user)\".")
    public subscript<Value>(step: GraphStep<Value>) -> Value {
        get throws { try value(of: step) }
    }
    @available(*, unavailable, message: "Name the step that \"add\" returned: \"try results.value(of: user)\".")
    public subscript(step: String) -> any Sendable { step }
}

extension RequestGraph {
    @available(*, unavailable, message: "Write \"try await graph.run()\", which returns the results of all steps.")
    public func sender() -> RequestGraph { self }
    @available(*, unavailable, message: "A graph reports no progress. Count in the steps, or send a batch.")
    public var progress: Double { 0 }
}

extension ChainLink {
    @available(
        *,
        unavailable,
        message: "The response may be a failure, and the closure cannot throw: switch over \"response.result\"."
    )
    public init<Request: TypedRequest>(
        _ request: Request,
        _ outcome: @escaping @Sendable (APIResponse<Request.Model, Request.ErrorModel>) throws -> Outcome
    ) { send = { _ in await withUnsafeContinuation { _ in } } }
    @available(*, unavailable, message: "The response may be a failure: switch over \"response.result\".")
    @_disfavoredOverload
    public init<Request: TypedRequest>(_ request: Request, _ outcome: @escaping @Sendable (Request.Model) -> Outcome) {
        send = { _ in await withUnsafeContinuation { _ in } }
    }
}

// MARK: - Responses that arrive, and downloads of other methods

extension StreamedResponse {
    @available(
        *,
        unavailable,
        message: "Write \"for try await chunk in response.bytes\", or \"try await response.collect(upTo: 1 << 20)\"."
    )
    public var body: StreamSequence<Data, ErrorModel> { bytes }
    @available(*, unavailable, message: "Write \"for try await chunk in response.bytes\".")
    public var chunks: StreamSequence<Data, ErrorModel> { bytes }
    @available(*, unavailable, message: "Write \"head.headers\".")
    public var headers: HTTPHeaders { head.headers }
    @available(*, unavailable, message: "Write \"status\", or \"status.rawValue\" for a number.")
    public var statusCode: Int { status.rawValue }
}

@available(*, unavailable, message: "Write \"response.bytes\", \".lines\" or \".serverSentEvents()\".")
extension StreamedResponse: AsyncSequence {
    public func makeAsyncIterator() -> AsyncStream<Data>.AsyncIterator { AsyncStream { _ in }.makeAsyncIterator() }
}

extension StreamSequence where Element == Data {
    @available(
        *,
        unavailable,
        message: "Collect the response: \"try await client.stream(\"log\").response().collect(upTo: 1 << 20)\"."
    )
    public func collect(upTo limit: Int64? = nil) async throws -> Data { Data() }
}

extension DownloadAPIRequest {
    @available(*, unavailable, message: "Write \"client.data.post(\"export\").json(filter).download(to: .file(url))\".")
    public func post(_ body: RequestBody? = nil) -> Self { self }
    @available(*, unavailable, message: "Write \"client.data.put(\"export\").json(filter).download(to: .file(url))\".")
    public func put(_ body: RequestBody? = nil) -> Self { self }
    @available(*, unavailable, message: "Write \"client.data.post(\"export\").json(filter).download(to: .file(url))\".")
    public func method(_ method: HTTPMethod) -> Self { self }
    @available(*, unavailable, message: "Write \"client.data.post(\"export\").json(filter).download(to: .file(url))\".")
    public func body(_ body: RequestBody) -> Self { self }
    @available(*, unavailable, message: "Write \"client.data.post(\"export\").json(filter).download(to: .file(url))\".")
    @_disfavoredOverload
    public func json(_ value: some Encodable) -> Self { self }
    @available(*, unavailable, message: "Write \"client.data.post(\"export\").json(filter).download(to: .file(url))\".")
    public func json(_ parameters: Parameters) -> Self { self }
    @available(*, unavailable, message: "Write \"client.data.post(\"export\").form(filter).download(to: .file(url))\".")
    public func form(_ parameters: Parameters) -> Self { self }
}

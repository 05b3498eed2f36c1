// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation

import SluiceFoundation
import SluiceHTTP
import SluiceJSON

// Arguments that people try first. None can be passed: each says what to write.

extension StubTransport {
    @available(*, unavailable, message: "Write \"on(.get(\"/users\"), stub)\".")
    public func on(_ method: HTTPMethod, _ path: String, _ stub: Stub) {}
    @available(*, unavailable, message: "Name the method: \"on(.get(\"/users\"), stub)\".")
    public func on(_ path: String, _ stub: Stub) {}
    @available(*, unavailable, message: "Write \"on(.get(\"/users\"), .sequence([first, second]))\".")
    public func on(_ matcher: RequestMatcher, _ first: Stub, _ second: Stub, _ others: Stub...) {}
}

extension LoopbackServer {
    @available(*, unavailable, message: "Write \"on(.get, \"/users\", response)\".")
    public func on(_ matcher: RequestMatcher, _ response: LoopbackResponse) {}
    @available(*, unavailable, message: "A server listens as soon as it is created.")
    public func start() throws {}
}

extension LoopbackRequest {
    @available(*, unavailable, message: "Write \"try JSONDecoder().decode(User.self, from: body)\".")
    public func decoded<Value: Decodable>(as type: Value.Type) throws -> Value {
        throw ExpectationFailure("", #fileID, #line)
    }
    @available(*, unavailable, message: "Write \"query\".")
    public var queryItems: [URLQueryItem] { [] }
}

extension TestClock {
    @available(*, unavailable, message: "Write \"pendingSleeps\".")
    public var sleepers: [Duration] { [] }
}

extension CassetteTransport {
    @available(
        *,
        unavailable,
        message: "Write \"CassetteTransport(recording: client.configuration.transport, to: file)\"."
    )
    public convenience init(recordingTo file: URL) { self.init(replaying: file) }
    @available(
        *,
        unavailable,
        message: "Write \"CassetteTransport(recording: client.configuration.transport, to: file)\"."
    )
    public convenience init(_ file: URL) { self.init(replaying: file) }
    @available(
        *,
        unavailable,
        message: "Write \"CassetteTransport(recording: client.configuration.transport, to: file)\"."
    )
    public convenience init(named name: String) { self.init(replaying: URL(filePath: name)) }
}

extension LoopbackResponse {
    @available(*, unavailable, message: "Write \".json(encoding: user)\".")
    public static func json(_ value: some Encodable, status: HTTPStatus = .ok) -> LoopbackResponse { .status(status) }
}

extension RecordedRequest {
    @available(*, unavailable, message: "Write \"try decoded(as: JSON.self)\".")
    public func json() throws -> JSON { .null }
}

extension StubTransport {
    @available(*, unavailable, message: "Write \"on(.get(\"/users\")) { request in … }\".")
    public func on(
        _ method: HTTPMethod,
        _ path: String,
        answer: (RecordedRequest) async throws -> Stub
    ) {}
    @available(*, unavailable, message: "Write \"requests(matching: .path(\"/users\"))\".")
    public func requests(to path: String) -> [RecordedRequest] { [] }
    @available(*, unavailable, message: "Write \"requests.last\".")
    public var lastRequest: RecordedRequest? { nil }
    @available(*, unavailable, message: "Write \"on(.get(\"/users\"), stub)\".")
    public func stub(_ matcher: RequestMatcher, _ stub: Stub) {}
    @available(*, unavailable, message: "Write \"on(.get(\"/users\"), stub)\".")
    public func when(_ matcher: RequestMatcher, _ stub: Stub) {}
    @available(*, unavailable, message: "Write \"requests.count\", or \"count(of: .get(\"/users\"))\".")
    public var requestCount: Int { 0 }
    @available(*, unavailable, message: "Call \"try stubs.verify()\": it throws the first unmatched request.")
    public var unmatchedRequests: [RecordedRequest] { [] }
    @available(*, unavailable, message: "Call \"try stubs.verify()\": it throws the first unmatched request.")
    public var unmatched: [RecordedRequest] { [] }
    @available(*, unavailable, message: "Add a last rule: \"stubs.on(.any, .status(.notFound))\".")
    public var fallback: Stub {
        get { .status(.notFound) }
        set {}
    }
    @available(*, unavailable, message: "Add a last rule: \"stubs.on(.any, .status(.notFound))\".")
    public var `default`: Stub {
        get { .status(.notFound) }
        set {}
    }
    @available(*, unavailable, message: "Write \"stubs.on(.any, .status(.notFound))\".")
    public func onAny(_ stub: Stub) {}
    @available(
        *,
        unavailable,
        message: "Write \"let stubs = StubTransport()\", then \"stubs.on(.any) { request in … }\"."
    )
    public convenience init(_ answer: (RecordedRequest) async throws -> Stub) { self.init() }
    @available(
        *,
        unavailable,
        message: "Write \"let stubs = StubTransport()\", then \"stubs.on(.get(\"/users\"), .json(\"[]\"))\"."
    )
    public convenience init(_ stubs: KeyValuePairs<RequestMatcher, Stub>) { self.init() }
}

extension Stub {
    @available(*, unavailable, message: "Write the stubs as an array: \".sequence([first, second])\".")
    public static func sequence(_ first: Stub, _ second: Stub, _ others: Stub...) -> Stub { first }
    @available(*, unavailable, message: "Write \".status(HTTPStatus(code))\".")
    public static func status(_ code: Int) -> Stub { .status(.ok) }
    @available(*, unavailable, message: "Write \".redirect(to: \"/new\")\".")
    public static func redirect(_ location: String, status: HTTPStatus = .found) -> Stub { .status(status) }
}

extension LoopbackServer {
    @available(*, unavailable, message: "Write \"on(.get, \"/users\") { request in … }\".")
    public func on(_ matcher: RequestMatcher, respond: (LoopbackRequest) throws -> LoopbackResponse) {}
    @available(*, unavailable, message: "Write \"requests.last\".")
    public var lastRequest: LoopbackRequest? { nil }
    @available(*, unavailable, message: "Write \"requests(to: \"/users\")\".")
    public func requests(matching matcher: RequestMatcher) -> [LoopbackRequest] { [] }
}

extension LoopbackResponse {
    @available(*, unavailable, message: "Write \".status(HTTPStatus(code))\".")
    public static func status(_ code: Int) -> LoopbackResponse { .status(.ok) }
    @available(*, unavailable, message: "Write \".redirect(to: \"/new\")\".")
    public static func redirect(_ location: String, status: HTTPStatus = .found) -> LoopbackResponse { .status(status) }
    @available(*, unavailable, message: "Pass the responses one by one: \"on(.get, \"/users\", first, second)\".")
    public static func sequence(_ responses: [LoopbackResponse]) -> LoopbackResponse { .status(.ok) }
    @available(*, unavailable, message: "Pass the responses one by one: \"on(.get, \"/users\", first, second)\".")
    public static func sequence(_ responses: LoopbackResponse...) -> LoopbackResponse { .status(.ok) }
}

extension RecordedRequest {
    @available(*, unavailable, message: "Write \"queryItems\".")
    public var query: String? { nil }
}

extension LoopbackRequest {
    @available(*, unavailable, message: "Write \"String(decoding: request.body, as: UTF8.self)\".")
    public var text: String? { nil }
    @available(*, unavailable, message: "Write \"target\", which has the path and the query.")
    public var url: String { target }
}

extension CassetteTransport {
    @available(*, unavailable, message: "Write \"CassetteTransport(replaying: URL(filePath: path))\".")
    public convenience init(
        replaying path: String,
        matching: [CassetteCriterion] = [],
        redaction: CassetteRedaction = .standard
    ) { self.init(replaying: URL(filePath: path)) }
    @available(*, unavailable, message: "Write \"CassetteTransport(recording: transport, to: URL(filePath: path))\".")
    public convenience init(
        recording transport: any Transport,
        to path: String,
        mode: Mode = .once,
        matching: [CassetteCriterion] = [],
        redaction: CassetteRedaction = .standard
    ) { self.init(replaying: URL(filePath: path)) }
    @available(*, unavailable, message: "Write the criteria as an array: \"matching: [.method, .path]\".")
    public convenience init(
        replaying file: URL,
        matching: CassetteCriterion,
        redaction: CassetteRedaction = .standard
    ) { self.init(replaying: file) }
    @available(*, unavailable, message: "Write the criteria as an array: \"matching: [.method, .path]\".")
    public convenience init(
        recording transport: any Transport,
        to file: URL,
        mode: Mode = .once,
        matching: CassetteCriterion,
        redaction: CassetteRedaction = .standard
    ) { self.init(replaying: file) }
    @available(*, unavailable, message: "Leave \"save()\" out: each exchange is written before its request ends.")
    public func save() async throws {}
}

@available(*, unavailable, message: "Write \"waitUntil(\"the file exists\", within: .seconds(5)) { … }\".")
public func waitUntil(_ condition: String = "", timeout: Duration, _ isTrue: () async throws -> Bool) async throws {}

extension LoopbackServer {
    @available(*, unavailable, message: "Only a response can wait: \".text(\"late\").delayed(by: .seconds(1))\".")
    public func on(
        _ method: HTTPMethod?,
        _ path: String,
        respond: (LoopbackRequest) async throws -> LoopbackResponse
    ) {}
    @available(*, unavailable, message: "Only a response can wait: \".text(\"late\").delayed(by: .seconds(1))\".")
    public func on(_ path: String, respond: (LoopbackRequest) async throws -> LoopbackResponse) {}
}

@available(
    *,
    unavailable,
    message: "Write \"expectError(.unacceptableStatus) { … }\", which returns the error, and compare its status."
)
public func expectError<Value>(status: HTTPStatus, _ body: () async throws -> Value) async throws {}

extension Stub {
    @available(*, unavailable, message: "Write \"Stub.status(.ok).delayed(by: .seconds(3600))\", with a TestClock.")
    public static var hang: Stub { .status(.ok) }
    @available(*, unavailable, message: "Write \"Stub.status(.ok).delayed(by: .seconds(3600))\", with a TestClock.")
    public static var never: Stub { .status(.ok) }
}

// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation

import SluiceFoundation
import SluiceHTTP

// Names and arguments of other libraries, and those that people try first. None can be used: each says what to write.

extension APIError {
    @available(*, unavailable, message: "Write \"decoded(as: Problem.self)\".")
    public func decode<Value: Decodable>(_ type: Value.Type) throws -> Value { throw self }
    @available(*, unavailable, message: "Write \"isCancellation\".")
    public var isCancelled: Bool { isCancellation }
    @available(*, unavailable, message: "Write \"isCancellation\".")
    public var isExplicitlyCancelledError: Bool { isCancellation }
    @available(*, unavailable, message: "Compare the code: \"error.code == .timedOut\".")
    public var isTimeout: Bool { false }
    @available(*, unavailable, message: "Compare the code: \"error.code == .timedOut\".")
    public var isTimedOut: Bool { false }
    @available(*, unavailable, message: "Write \"status\", or \"status?.rawValue\" for a number.")
    public var statusCode: Int? { nil }
    @available(*, unavailable, message: "Write \"status\", or \"status?.rawValue\" for a number.")
    public var responseCode: Int? { nil }
    @available(
        *,
        unavailable,
        message: "Write \"description\". The body has the API's own message: \"try error.decoded(as: Problem.self)\"."
    )
    public var message: String { description }
    @available(*, unavailable, message: "Write \"body\".")
    public var data: Data { body }
    @available(*, unavailable, message: "Write \"body\".")
    public var responseBody: Data { body }
    @available(*, unavailable, message: "Write \"response?.headers\".")
    public var headers: HTTPHeaders { [:] }
    @available(*, unavailable, message: "Write \"error.step\".")
    public var step: SluiceError.Step { error.step }
    @available(
        *,
        unavailable,
        message:
            "Read the header: \"response?.headers[.retryAfter]\". For a refusal of a gate, write \"(error.underlyingError as? GateRefusal)?.retryAfter\"."
    )
    public var retryAfter: Duration? { nil }
    @available(*, unavailable, message: "Write \"String(decoding: body, as: UTF8.self)\".")
    public var text: String { "" }
    @available(*, unavailable, message: "Write \"try decoded(as: JSON.self)\".")
    public var json: JSON? { nil }
}

extension APIError {
    @available(*, unavailable, message: "Write \"response\".")
    public var head: HTTPResponse? { response }
}

extension RequestFailure {
    @available(
        *,
        unavailable,
        message:
            "Put the response into the error: \"RequestFailure(error: SluiceError(.unacceptableStatus, \"…\", response: response), body: data)\"."
    )
    public init(error: SluiceError, response: HTTPResponse, body: Data = Data()) { self.init(error: error, body: body) }
    @available(*, unavailable, message: "Write \"response\".")
    public var head: HTTPResponse? { response }
    @available(*, unavailable, message: "Write \"status\", or \"status?.rawValue\" for a number.")
    public var statusCode: Int? { nil }
    @available(*, unavailable, message: "Write \"error.code\".")
    public var code: SluiceError.Code { error.code }
    @available(
        *,
        unavailable,
        message:
            "Write \"error.description\". The body has the API's own message: \"try failure.decoded(as: Problem.self)\"."
    )
    public var message: String { description }
    @available(*, unavailable, message: "Write \"body\".")
    public var data: Data { body }
    @available(*, unavailable, message: "Write \"response?.headers\".")
    public var headers: HTTPHeaders { [:] }
    @available(*, unavailable, message: "Write \"error.isCancellation\".")
    public var isCancellation: Bool { error.isCancellation }
    @available(*, unavailable, message: "Write \"error.underlyingError\".")
    public var underlyingError: (any Error)? { error.underlyingError }
    @available(
        *,
        unavailable,
        message:
            "Read the header: \"response?.headers[.retryAfter]\". For a refusal of a gate, write \"(error.underlyingError as? GateRefusal)?.retryAfter\"."
    )
    public var retryAfter: Duration? { nil }
    @available(*, unavailable, message: "Write \"String(decoding: body, as: UTF8.self)\".")
    public var text: String { "" }
    @available(*, unavailable, message: "Write \"try decoded(as: JSON.self)\".")
    public var json: JSON? { nil }
    @available(*, unavailable, message: "Write \"error.isCancellation\".")
    public var isCancelled: Bool { error.isCancellation }
    @available(*, unavailable, message: "Compare the code: \"error.code == .timedOut\".")
    public var isTimeout: Bool { false }
    @available(*, unavailable, message: "Write \"try decoded(as: Problem.self)\".")
    public func decode<Value: Decodable>(_ type: Value.Type) throws -> Value? { nil }
}

extension SluiceError {
    @available(*, unavailable, message: "Read the envelope of the failure, or of an APIError: \"failure.envelope\".")
    public var envelope: EnvelopeFailure? { nil }
    @available(*, unavailable, message: "Write \"status\", or \"status?.rawValue\" for a number.")
    public var statusCode: Int? { nil }
    @available(*, unavailable, message: "Write \"isCancellation\".")
    public var isCancelled: Bool { isCancellation }
    @available(*, unavailable, message: "Compare the code: \"error.code == .timedOut\".")
    public var isTimeout: Bool { false }
    @available(*, unavailable, message: "Write \"reason\", or \"description\".")
    public var message: String { reason }
    @available(*, unavailable, message: "The body is in the failure, or in an APIError: \"failure.body\".")
    public var body: Data { Data() }
    @available(*, unavailable, message: "Write catch { switch error.code { case .timedOut: … default: throw error } }.")
    public static var timedOut: SluiceError.Code { .timedOut }
    @available(*, unavailable, message: "Write catch { switch error.code { case .timedOut: … default: throw error } }.")
    public static var connectTimedOut: SluiceError.Code { .connectTimedOut }
    @available(*, unavailable, message: "Write catch { switch error.code { case .timedOut: … default: throw error } }.")
    public static var idleTimedOut: SluiceError.Code { .idleTimedOut }
    @available(*, unavailable, message: "Write catch { switch error.code { case .timedOut: … default: throw error } }.")
    public static var cancelled: SluiceError.Code { .cancelled }
    @available(*, unavailable, message: "Write catch { switch error.code { case .timedOut: … default: throw error } }.")
    public static var cannotConnect: SluiceError.Code { .cannotConnect }
    @available(*, unavailable, message: "Write catch { switch error.code { case .timedOut: … default: throw error } }.")
    public static var cannotResolveHost: SluiceError.Code { .cannotResolveHost }
    @available(*, unavailable, message: "Write catch { switch error.code { case .timedOut: … default: throw error } }.")
    public static var connectionLost: SluiceError.Code { .connectionLost }
    @available(*, unavailable, message: "Write catch { switch error.code { case .timedOut: … default: throw error } }.")
    public static var unacceptableStatus: SluiceError.Code { .unacceptableStatus }
    @available(*, unavailable, message: "Write catch { switch error.code { case .timedOut: … default: throw error } }.")
    public static var decodingFailed: SluiceError.Code { .decodingFailed }
    @available(*, unavailable, message: "Write catch { switch error.code { case .timedOut: … default: throw error } }.")
    public static var authorizationRequired: SluiceError.Code { .authorizationRequired }
}

extension SluiceError.Code {
    @available(*, unavailable, message: "Compare the status: \"error.status == .unauthorized\".")
    public static var unauthorized: Self { .unacceptableStatus }
    @available(*, unavailable, message: "Compare the status: \"error.status == .forbidden\".")
    public static var forbidden: Self { .unacceptableStatus }
    @available(*, unavailable, message: "Compare the status: \"error.status == .notFound\".")
    public static var notFound: Self { .unacceptableStatus }
    @available(*, unavailable, message: "Write \"error.status?.isServerError == true\".")
    public static var serverError: Self { .unacceptableStatus }
    @available(*, unavailable, message: "Without a network the code is \".cannotConnect\" or \".cannotResolveHost\".")
    public static var offline: Self { .cannotConnect }
    @available(*, unavailable, message: "Without a network the code is \".cannotConnect\" or \".cannotResolveHost\".")
    public static var notConnected: Self { .cannotConnect }
    @available(*, unavailable, message: "Without a network the code is \".cannotConnect\" or \".cannotResolveHost\".")
    public static var noConnection: Self { .cannotConnect }
    @available(*, unavailable, message: "Without a network the code is \".cannotConnect\" or \".cannotResolveHost\".")
    public static var notConnectedToInternet: Self { .cannotConnect }
    @available(*, unavailable, message: "Without a network the code is \".cannotConnect\" or \".cannotResolveHost\".")
    public static var noInternet: Self { .cannotConnect }
    @available(*, unavailable, message: "Write \".cannotConnect\".")
    public static var connectionRefused: Self { .cannotConnect }
    @available(*, unavailable, message: "Write \".timedOut\".")
    public static var timeout: Self { .timedOut }
    @available(*, unavailable, message: "Write \".decodingFailed\".")
    public static var decoding: Self { .decodingFailed }
    @available(*, unavailable, message: "Write \".unacceptableStatus\".")
    public static var badStatus: Self { .unacceptableStatus }
}

extension Validation {
    @available(*, unavailable, message: "Leave the array out: \"Validation(statuses: 200...299, 404...404)\".")
    public init(statuses: [ClosedRange<Int>], contentTypes: [String]? = nil, rules: [Rule] = []) { self.init() }
    @available(*, unavailable, message: "Write ranges: \"Validation(statuses: 200...299, 404...404)\".")
    public init(statuses: [Int], contentTypes: [String]? = nil, rules: [Rule] = []) { self.init() }
    @available(*, unavailable, message: "Write ranges of one kind: \"Validation(statuses: 200...299, 404...404)\".")
    public init(statuses: Range<Int>, _ others: ClosedRange<Int>...) { self.init() }
    @available(*, unavailable, message: "Write \"Validation(statuses: 200..<400)\".")
    public static func statuses(_ statuses: Range<Int>...) -> Validation { .none }
    @available(*, unavailable, message: "Write \"Validation(statuses: 200...399)\".")
    public static func statuses(_ statuses: ClosedRange<Int>...) -> Validation { .none }
    @available(*, unavailable, message: "Write \"Validation(statuses: 200...200, 404...404)\".")
    public static func statuses(_ first: HTTPStatus, _ others: HTTPStatus...) -> Validation { .none }
    @available(*, unavailable, message: "Write \"Validation(statuses: 200...200, 404...404)\".")
    public static func statuses(_ statuses: [HTTPStatus]) -> Validation { .none }
}

@available(*, unavailable, message: "Write \".none\" to send a request once.")
extension RetryPolicy: ExpressibleByNilLiteral {
    public init(nilLiteral: ()) { self = .none }
}

// MARK: - Observation hints

// Names that people try first in observers. None can be called: each says what to write.

extension RequestEvent.Kinds {
    @available(*, unavailable, message: "Write \".began\".")
    public static var started: Self { .began }
    @available(*, unavailable, message: "Write \".sending\".")
    public static var sent: Self { .sending }
    @available(*, unavailable, message: "Write \".retrying\".")
    public static var retried: Self { .retrying }
    @available(*, unavailable, message: "Write \".retrying\".")
    public static var hedging: Self { .retrying }
    @available(*, unavailable, message: "Write \".finished\", which has both outcomes.")
    public static var succeeded: Self { .finished }
    @available(*, unavailable, message: "Write \".finished\", which has both outcomes.")
    public static var failed: Self { .finished }
}

extension ObservedRequest {
    @available(*, unavailable, message: "Write \"elapsed\".")
    public var duration: Duration { elapsed }
    @available(*, unavailable, message: "Events have the request: \"if case .sending(let request) = event\".")
    public var request: HTTPRequest { HTTPRequest(scheme: "https", authority: "", path: "/") }
    @available(*, unavailable, message: "Write \"route\", or read the URL of an event: \"case .sending(let request)\".")
    public var url: String { "" }
    @available(*, unavailable, message: "Read the URL of an event: \"if case .sending(let request) = event\".")
    public var host: String { "" }
    @available(*, unavailable, message: "Write \"route\", or read the URL of an event: \"case .sending(let request)\".")
    public var path: String { "" }
}

extension HARRecorder {
    @available(*, unavailable, message: "Write \"write(to: url)\".")
    public func save(to url: URL) async throws(SluiceError) {}
}

extension Array where Element == HTTPHeaderName {
    @available(*, unavailable, message: "Write \"append(\"X-Key\")\".")
    public mutating func insert(_ name: HTTPHeaderName) {}
}

extension RequestMetrics.Route {
    @available(*, unavailable, message: "Write \"phases.gates\".")
    public var gates: LatencyHistogram { phases.gates }
    @available(*, unavailable, message: "Write \"phases.gates\".")
    public var gateTime: LatencyHistogram { phases.gates }
    @available(*, unavailable, message: "Write \"phases.gates\".")
    public var gateWait: LatencyHistogram { phases.gates }
    @available(*, unavailable, message: "Write \"phases.gates\".")
    public var waiting: LatencyHistogram { phases.gates }
}

extension LatencyHistogram {
    @available(*, unavailable, message: "Write \"maximum\".")
    public var max: Duration? { maximum }
    @available(*, unavailable, message: "Write \"minimum\".")
    public var min: Duration? { minimum }
    @available(*, unavailable, message: "Write \"sum\".")
    public var total: Duration { sum }
    @available(*, unavailable, message: "Write \"mean\".")
    public var average: Duration? { mean }
    @available(*, unavailable, message: "Write \"percentile(50)\".")
    public var p50: Duration? { nil }
    @available(*, unavailable, message: "Write \"percentile(95)\".")
    public var p95: Duration? { nil }
    @available(*, unavailable, message: "Write \"percentile(99)\".")
    public var p99: Duration? { nil }
}

extension TypedAPIError {
    @available(*, unavailable, message: "Write \"errorBody\".")
    public var model: Body? { errorBody }
    @available(*, unavailable, message: "Write \"errorBody\".")
    public var value: Body? { errorBody }
}

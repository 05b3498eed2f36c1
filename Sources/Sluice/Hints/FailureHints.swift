import SluiceFoundation
import SluiceHTTP

// Names and arguments of other libraries, and those that people try first. None can be used: each says what to write.

extension APIError {
    /// Unavailable: the message says what to write.
    @available(*, unavailable, message: "Write \"isCancellation\".")
    public var isCancelled: Bool { isCancellation }

    /// Unavailable: the message says what to write.
    @available(*, unavailable, message: "Write \"isCancellation\".")
    public var isExplicitlyCancelledError: Bool { isCancellation }

    /// Unavailable: the message says what to write.
    @available(*, unavailable, message: "Compare the code: \"error.code == .timedOut\".")
    public var isTimeout: Bool { false }

    /// Unavailable: the message says what to write.
    @available(*, unavailable, message: "Compare the code: \"error.code == .timedOut\".")
    public var isTimedOut: Bool { false }

    /// Unavailable: the message says what to write.
    @available(*, unavailable, message: "Write \"status\", or \"status?.rawValue\" for a number.")
    public var statusCode: Int? { nil }

    /// Unavailable: the message says what to write.
    @available(*, unavailable, message: "Write \"status\", or \"status?.rawValue\" for a number.")
    public var responseCode: Int? { nil }

    /// Unavailable: the message says what to write.
    @available(
        *,
        unavailable,
        message: "Write \"description\". The body has the API's own message: \"try error.decoded(as: Problem.self)\"."
    )
    public var message: String { description }

    /// Unavailable: the message says what to write.
    @available(*, unavailable, message: "Write \"body\".")
    public var data: Data { body }

    /// Unavailable: the message says what to write.
    @available(*, unavailable, message: "Write \"body\".")
    public var responseBody: Data { body }

    /// Unavailable: the message says what to write.
    @available(*, unavailable, message: "Write \"response?.headers\".")
    public var headers: HTTPHeaders { [:] }

    /// Unavailable: the message says what to write.
    @available(*, unavailable, message: "Write \"error.step\".")
    public var step: SluiceError.Step { error.step }
}

extension RequestFailure {
    /// Unavailable: the message says what to write.
    @available(*, unavailable, message: "Write \"status\", or \"status?.rawValue\" for a number.")
    public var statusCode: Int? { nil }

    /// Unavailable: the message says what to write.
    @available(*, unavailable, message: "Write \"error.code\".")
    public var code: SluiceError.Code { error.code }

    /// Unavailable: the message says what to write.
    @available(
        *,
        unavailable,
        message:
            "Write \"error.description\". The body has the API's own message: \"try failure.decoded(as: Problem.self)\"."
    )
    public var message: String { description }

    /// Unavailable: the message says what to write.
    @available(*, unavailable, message: "Write \"body\".")
    public var data: Data { body }

    /// Unavailable: the message says what to write.
    @available(*, unavailable, message: "Write \"response?.headers\".")
    public var headers: HTTPHeaders { [:] }

    /// Unavailable: the message says what to write.
    @available(*, unavailable, message: "Write \"error.isCancellation\".")
    public var isCancellation: Bool { error.isCancellation }

    /// Unavailable: the message says what to write.
    @available(*, unavailable, message: "Write \"error.underlyingError\".")
    public var underlyingError: (any Error)? { error.underlyingError }
}

extension SluiceError {
    /// Unavailable: the message says what to write.
    @available(*, unavailable, message: "Read the envelope of the failure, or of an APIError: \"failure.envelope\".")
    public var envelope: EnvelopeFailure? { nil }

    /// Unavailable: the message says what to write.
    @available(*, unavailable, message: "Write \"status\", or \"status?.rawValue\" for a number.")
    public var statusCode: Int? { nil }

    /// Unavailable: the message says what to write.
    @available(*, unavailable, message: "Write \"isCancellation\".")
    public var isCancelled: Bool { isCancellation }

    /// Unavailable: the message says what to write.
    @available(*, unavailable, message: "Compare the code: \"error.code == .timedOut\".")
    public var isTimeout: Bool { false }

    /// Unavailable: the message says what to write.
    @available(*, unavailable, message: "Write \"reason\", or \"description\".")
    public var message: String { reason }

    /// Unavailable: the message says what to write.
    @available(*, unavailable, message: "The body is in the failure, or in an APIError: \"failure.body\".")
    public var body: Data { Data() }

    /// Unavailable: the message says what to write.
    @available(
        *,
        unavailable,
        message:
            "Compare the code: catch { switch error.code { case .timedOut: … default: throw error } }, or catch where error.code == .timedOut."
    )
    public static var timedOut: SluiceError.Code { .timedOut }

    /// Unavailable: the message says what to write.
    @available(
        *,
        unavailable,
        message:
            "Compare the code: catch { switch error.code { case .timedOut: … default: throw error } }, or catch where error.code == .timedOut."
    )
    public static var connectTimedOut: SluiceError.Code { .connectTimedOut }

    /// Unavailable: the message says what to write.
    @available(
        *,
        unavailable,
        message:
            "Compare the code: catch { switch error.code { case .timedOut: … default: throw error } }, or catch where error.code == .timedOut."
    )
    public static var idleTimedOut: SluiceError.Code { .idleTimedOut }

    /// Unavailable: the message says what to write.
    @available(
        *,
        unavailable,
        message:
            "Compare the code: catch { switch error.code { case .timedOut: … default: throw error } }, or catch where error.code == .timedOut."
    )
    public static var cancelled: SluiceError.Code { .cancelled }

    /// Unavailable: the message says what to write.
    @available(
        *,
        unavailable,
        message:
            "Compare the code: catch { switch error.code { case .timedOut: … default: throw error } }, or catch where error.code == .timedOut."
    )
    public static var cannotConnect: SluiceError.Code { .cannotConnect }

    /// Unavailable: the message says what to write.
    @available(
        *,
        unavailable,
        message:
            "Compare the code: catch { switch error.code { case .timedOut: … default: throw error } }, or catch where error.code == .timedOut."
    )
    public static var cannotResolveHost: SluiceError.Code { .cannotResolveHost }

    /// Unavailable: the message says what to write.
    @available(
        *,
        unavailable,
        message:
            "Compare the code: catch { switch error.code { case .timedOut: … default: throw error } }, or catch where error.code == .timedOut."
    )
    public static var connectionLost: SluiceError.Code { .connectionLost }

    /// Unavailable: the message says what to write.
    @available(
        *,
        unavailable,
        message:
            "Compare the code: catch { switch error.code { case .timedOut: … default: throw error } }, or catch where error.code == .timedOut."
    )
    public static var unacceptableStatus: SluiceError.Code { .unacceptableStatus }

    /// Unavailable: the message says what to write.
    @available(
        *,
        unavailable,
        message:
            "Compare the code: catch { switch error.code { case .timedOut: … default: throw error } }, or catch where error.code == .timedOut."
    )
    public static var decodingFailed: SluiceError.Code { .decodingFailed }

    /// Unavailable: the message says what to write.
    @available(
        *,
        unavailable,
        message:
            "Compare the code: catch { switch error.code { case .timedOut: … default: throw error } }, or catch where error.code == .timedOut."
    )
    public static var authorizationRequired: SluiceError.Code { .authorizationRequired }
}

extension SluiceError.Code {
    /// Unavailable: the message says what to write.
    @available(*, unavailable, message: "Compare the status: \"error.status == .unauthorized\".")
    public static var unauthorized: Self { .unacceptableStatus }

    /// Unavailable: the message says what to write.
    @available(*, unavailable, message: "Compare the status: \"error.status == .forbidden\".")
    public static var forbidden: Self { .unacceptableStatus }

    /// Unavailable: the message says what to write.
    @available(*, unavailable, message: "Compare the status: \"error.status == .notFound\".")
    public static var notFound: Self { .unacceptableStatus }

    /// Unavailable: the message says what to write.
    @available(*, unavailable, message: "Write \"error.status?.isServerError == true\".")
    public static var serverError: Self { .unacceptableStatus }

    /// Unavailable: the message says what to write.
    @available(*, unavailable, message: "Without a network the code is \".cannotConnect\" or \".cannotResolveHost\".")
    public static var offline: Self { .cannotConnect }

    /// Unavailable: the message says what to write.
    @available(*, unavailable, message: "Without a network the code is \".cannotConnect\" or \".cannotResolveHost\".")
    public static var notConnected: Self { .cannotConnect }

    /// Unavailable: the message says what to write.
    @available(*, unavailable, message: "Without a network the code is \".cannotConnect\" or \".cannotResolveHost\".")
    public static var noConnection: Self { .cannotConnect }

    /// Unavailable: the message says what to write.
    @available(*, unavailable, message: "Without a network the code is \".cannotConnect\" or \".cannotResolveHost\".")
    public static var notConnectedToInternet: Self { .cannotConnect }

    /// Unavailable: the message says what to write.
    @available(*, unavailable, message: "Write \".timedOut\".")
    public static var timeout: Self { .timedOut }

    /// Unavailable: the message says what to write.
    @available(*, unavailable, message: "Write \".decodingFailed\".")
    public static var decoding: Self { .decodingFailed }

    /// Unavailable: the message says what to write.
    @available(*, unavailable, message: "Write \".unacceptableStatus\".")
    public static var badStatus: Self { .unacceptableStatus }
}

extension Validation {
    /// Unavailable: the message says what to write.
    @available(
        *,
        unavailable,
        message: "Write the ranges without an array: \"Validation(statuses: 200...299, 404...404)\"."
    )
    public init(statuses: [ClosedRange<Int>], contentTypes: [String]? = nil, rules: [Rule] = []) { self.init() }

    /// Unavailable: the message says what to write.
    @available(*, unavailable, message: "Write ranges: \"Validation(statuses: 200...299, 404...404)\".")
    public init(statuses: [Int], contentTypes: [String]? = nil, rules: [Rule] = []) { self.init() }

    /// Unavailable: the message says what to write.
    @available(*, unavailable, message: "Write ranges of one kind: \"Validation(statuses: 200...299, 404...404)\".")
    public init(statuses: Range<Int>, _ others: ClosedRange<Int>...) { self.init() }
}

/// Unavailable: the message says what to write.
@available(*, unavailable, message: "Write \".none\" to send a request once.")
extension RetryPolicy: ExpressibleByNilLiteral {
    /// Unavailable: the message says what to write.
    public init(nilLiteral: ()) { self = .none }
}

// MARK: - Observation hints

// Names that people try first in observers. None can be called: each says what to write.

extension RequestEvent.Kinds {
    /// Unavailable: the message says what to write.
    @available(*, unavailable, message: "Write \".began\".")
    public static var started: Self { .began }

    /// Unavailable: the message says what to write.
    @available(*, unavailable, message: "Write \".sending\".")
    public static var sent: Self { .sending }

    /// Unavailable: the message says what to write.
    @available(*, unavailable, message: "Write \".retrying\".")
    public static var retried: Self { .retrying }

    /// Unavailable: the message says what to write.
    @available(*, unavailable, message: "Write \".retrying\".")
    public static var hedging: Self { .retrying }

    /// Unavailable: the message says what to write.
    @available(*, unavailable, message: "Write \".finished\", which has both outcomes.")
    public static var succeeded: Self { .finished }

    /// Unavailable: the message says what to write.
    @available(*, unavailable, message: "Write \".finished\", which has both outcomes.")
    public static var failed: Self { .finished }
}

extension ObservedRequest {
    /// Unavailable: the message says what to write.
    @available(*, unavailable, message: "Write \"elapsed\".")
    public var duration: Duration { elapsed }

    /// Unavailable: the message says what to write.
    @available(*, unavailable, message: "Events have the request: \"if case .sending(let request) = event\".")
    public var request: HTTPRequest { HTTPRequest(scheme: "https", authority: "", path: "/") }

    /// Unavailable: the message says what to write.
    @available(*, unavailable, message: "Write \"route\", or read the URL of an event: \"case .sending(let request)\".")
    public var url: String { "" }

    /// Unavailable: the message says what to write.
    @available(*, unavailable, message: "Read the URL of an event: \"if case .sending(let request) = event\".")
    public var host: String { "" }

    /// Unavailable: the message says what to write.
    @available(*, unavailable, message: "Write \"route\", or read the URL of an event: \"case .sending(let request)\".")
    public var path: String { "" }
}

extension HARRecorder {
    /// Unavailable: the message says what to write.
    @available(*, unavailable, message: "Write \"write(to: url)\".")
    public func save(to url: URL) async throws(SluiceError) {}
}

extension Array where Element == HTTPHeaderName {
    /// Unavailable: the message says what to write.
    @available(*, unavailable, message: "Write \"append(\"X-Key\")\".")
    public mutating func insert(_ name: HTTPHeaderName) {}
}

extension RequestMetrics.Route {
    /// Unavailable: the message says what to write.
    @available(*, unavailable, message: "Write \"phases.gates\".")
    public var gates: LatencyHistogram { phases.gates }

    /// Unavailable: the message says what to write.
    @available(*, unavailable, message: "Write \"phases.gates\".")
    public var gateTime: LatencyHistogram { phases.gates }

    /// Unavailable: the message says what to write.
    @available(*, unavailable, message: "Write \"phases.gates\".")
    public var gateWait: LatencyHistogram { phases.gates }

    /// Unavailable: the message says what to write.
    @available(*, unavailable, message: "Write \"phases.gates\".")
    public var waiting: LatencyHistogram { phases.gates }
}

extension LatencyHistogram {
    /// Unavailable: the message says what to write.
    @available(*, unavailable, message: "Write \"maximum\".")
    public var max: Duration? { maximum }

    /// Unavailable: the message says what to write.
    @available(*, unavailable, message: "Write \"minimum\".")
    public var min: Duration? { minimum }

    /// Unavailable: the message says what to write.
    @available(*, unavailable, message: "Write \"sum\".")
    public var total: Duration { sum }

    /// Unavailable: the message says what to write.
    @available(*, unavailable, message: "Write \"mean\".")
    public var average: Duration? { mean }

    /// Unavailable: the message says what to write.
    @available(*, unavailable, message: "Write \"percentile(50)\".")
    public var p50: Duration? { nil }

    /// Unavailable: the message says what to write.
    @available(*, unavailable, message: "Write \"percentile(95)\".")
    public var p95: Duration? { nil }

    /// Unavailable: the message says what to write.
    @available(*, unavailable, message: "Write \"percentile(99)\".")
    public var p99: Duration? { nil }
}

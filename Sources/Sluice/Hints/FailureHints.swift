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

/// The head of a response: status, header fields and version.
public struct HTTPResponse: Sendable {
    /// The status.
    public var status: HTTPStatus
    /// The header fields. If the engine decompressed the body, they still describe the encoded one.
    public var headers: HTTPHeaders
    /// The version of HTTP that the response was received with.
    public var version: HTTPVersion

    /// Creates a head.
    public init(status: HTTPStatus, headers: HTTPHeaders = [:], version: HTTPVersion = .http1_1) {
        self.status = status
        self.headers = headers
        self.version = version
    }

    /// True if the response has a `Location` and one of the redirect statuses of the Fetch Standard.
    package var isRedirect: Bool {
        switch status.rawValue {
        case 301, 302, 303, 307, 308: headers.contains(.location)
        default: false
        }
    }
}

/// A version of HTTP.
public struct HTTPVersion: Sendable, Hashable, CustomStringConvertible {
    package let major: Int
    package let minor: Int

    package init(major: Int, minor: Int) {
        self.major = major
        self.minor = minor
    }

    /// `HTTP/1.0`
    public static let http1_0 = HTTPVersion(major: 1, minor: 0)
    /// `HTTP/1.1`
    public static let http1_1 = HTTPVersion(major: 1, minor: 1)
    /// `HTTP/2`
    public static let http2 = HTTPVersion(major: 2, minor: 0)
    /// `HTTP/3`
    public static let http3 = HTTPVersion(major: 3, minor: 0)

    /// The version as `HTTP/1.1` or `HTTP/2`.
    public var description: String { major < 2 ? "HTTP/\(major).\(minor)" : "HTTP/\(major)" }
}

extension HTTPResponse {
    /// Returns the number of bytes in the body (RFC 9112 §6.3); nil if the head does not determine it. The length of an
    /// encoded body does not determine the decoded length.
    package func bodyLength(of method: HTTPMethod) -> Int64? {
        if method == .head || status == .noContent || status == .notModified { return 0 }
        if headers.hasContentCoding || headers.contains(.transferEncoding) { return nil }
        return headers.number(of: .contentLength)
    }
}

// MARK: - HTTP status

/// A response status code (RFC 9110 §15).
public struct HTTPStatus: Sendable, Hashable, RawRepresentable, ExpressibleByIntegerLiteral, CustomStringConvertible {
    /// The three-digit code.
    public let rawValue: Int

    /// Creates a status from any code.
    public init(rawValue: Int) {
        self.rawValue = rawValue
    }

    /// Creates a status from a number, such as `HTTPStatus(code)`.
    public init(_ code: Int) {
        self.init(rawValue: code)
    }

    /// Creates a status from a literal.
    public init(integerLiteral value: Int) {
        self.init(rawValue: value)
    }

    /// The five classes of status codes (RFC 9110 §15).
    package enum Class: Sendable, Hashable {
        /// 1xx
        case informational
        /// 2xx
        case success
        /// 3xx
        case redirection
        /// 4xx
        case clientError
        /// 5xx
        case serverError
        /// Anything else.
        case unknown
    }

    /// The class, determined by the first digit.
    package var `class`: Class {
        switch rawValue {
        case 100..<200: .informational
        case 200..<300: .success
        case 300..<400: .redirection
        case 400..<500: .clientError
        case 500..<600: .serverError
        default: .unknown
        }
    }

    /// True if the code is 2xx.
    public var isSuccess: Bool { self.class == .success }
    /// True if the code is 3xx.
    public var isRedirection: Bool { self.class == .redirection }
    /// True if the code is 4xx.
    public var isClientError: Bool { self.class == .clientError }
    /// True if the code is 5xx.
    public var isServerError: Bool { self.class == .serverError }

    /// The code as decimal digits.
    public var description: String { "\(rawValue)" }

    /// 200
    public static let ok: HTTPStatus = 200
    /// 201
    public static let created: HTTPStatus = 201
    /// 202
    public static let accepted: HTTPStatus = 202
    /// 204
    public static let noContent: HTTPStatus = 204
    /// 206
    public static let partialContent: HTTPStatus = 206
    /// 301
    public static let movedPermanently: HTTPStatus = 301
    /// 302
    public static let found: HTTPStatus = 302
    /// 303
    public static let seeOther: HTTPStatus = 303
    /// 304
    public static let notModified: HTTPStatus = 304
    /// 307
    public static let temporaryRedirect: HTTPStatus = 307
    /// 308
    public static let permanentRedirect: HTTPStatus = 308
    /// 400
    public static let badRequest: HTTPStatus = 400
    /// 401
    public static let unauthorized: HTTPStatus = 401
    /// 403
    public static let forbidden: HTTPStatus = 403
    /// 404
    public static let notFound: HTTPStatus = 404
    /// 408
    public static let requestTimeout: HTTPStatus = 408
    /// 409
    public static let conflict: HTTPStatus = 409
    /// 410
    public static let gone: HTTPStatus = 410
    /// 412
    public static let preconditionFailed: HTTPStatus = 412
    /// 415
    public static let unsupportedMediaType: HTTPStatus = 415
    /// 422
    public static let unprocessableContent: HTTPStatus = 422
    /// 429
    public static let tooManyRequests: HTTPStatus = 429
    /// 500
    public static let internalServerError: HTTPStatus = 500
    /// 502
    public static let badGateway: HTTPStatus = 502
    /// 503
    public static let serviceUnavailable: HTTPStatus = 503
    /// 504
    public static let gatewayTimeout: HTTPStatus = 504
}

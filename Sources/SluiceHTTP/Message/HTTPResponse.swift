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
        if headers.contains(.contentEncoding) || headers.contains(.transferEncoding) { return nil }
        return headers.number(of: .contentLength)
    }
}

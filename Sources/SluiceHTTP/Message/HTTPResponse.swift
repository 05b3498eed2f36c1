/// The head of a response: all that comes before its body.
public struct HTTPResponse: Sendable {
    /// The status.
    public var status: HTTPStatus
    /// The header fields. Where the engine decompressed the body, they still say how it travelled.
    public var headers: HTTPHeaders
    /// The protocol the response came by.
    public var version: HTTPVersion

    /// Makes a head.
    public init(status: HTTPStatus, headers: HTTPHeaders = [:], version: HTTPVersion = .http1_1) {
        self.status = status
        self.headers = headers
        self.version = version
    }
}

/// A version of HTTP.
public struct HTTPVersion: Sendable, Hashable, CustomStringConvertible {
    /// The version's major number.
    public let major: Int
    /// The version's minor number.
    public let minor: Int

    /// Makes a version.
    public init(major: Int, minor: Int) {
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

    /// `HTTP/1.1`, `HTTP/2`
    public var description: String { major < 2 ? "HTTP/\(major).\(minor)" : "HTTP/\(major)" }
}

extension HTTPResponse {
    /// How many bytes of a body must follow (RFC 9112 §6.3); nil where the head does not say. An encoded body's length says nothing of the
    /// decoded one.
    package func bodyLength(of method: HTTPMethod) -> Int64? {
        if method == .head || status == .noContent || status == .notModified { return 0 }
        if headers.contains(.contentEncoding) || headers.contains(.transferEncoding) { return nil }
        return headers[.contentLength].flatMap { Int64($0) }
    }

    /// Whether its body, if it has one, comes as it is or in chunks, as it must to who has asked for nothing else (RFC 9110 §10.1.4).
    package func hasOwnTransferCoding(for method: HTTPMethod) -> Bool {
        guard headers.contains(.transferEncoding), bodyLength(of: method) != 0 else { return true }
        return headers.values(for: .transferEncoding).allSatisfy { value in
            value.lowercased().split { ", \t".contains($0) }.allSatisfy { $0 == "chunked" || $0 == "identity" }
        }
    }
}

import SluiceFoundation
import SluiceHTTP

/// A request that a ``LoopbackServer`` received.
public struct LoopbackRequest: Sendable {
    /// The method.
    public let method: HTTPMethod
    /// The request target, with path and query.
    public let target: String
    /// The percent-encoded path without the query. For an absolute URL, as sent to a proxy, the path of that URL.
    public let path: String
    /// The percent-encoded query, without the question mark.
    public let query: String?
    /// The header fields, in order.
    public let headers: HTTPHeaders
    /// The body. A chunked body is decoded.
    public let body: Data
    /// The number of the connection, counted from 1.
    public let connection: Int

    init(method: HTTPMethod, target: String, headers: HTTPHeaders, body: Data, connection: Int) {
        self.method = method
        self.target = target
        self.headers = headers
        self.body = body
        self.connection = connection
        let parts = target.utf8.split(separator: UInt8(ascii: "?"), maxSplits: 1, omittingEmptySubsequences: false)
        path = LoopbackRequest.path(of: Substring(parts[0]))
        query = parts.count > 1 ? String(Substring(parts[1])) : nil
    }

    private static func path(of target: Substring) -> String {
        guard target.hasPrefix("http://") else { return String(target) }
        let authority = target.dropFirst("http://".count)
        return authority.firstIndex(of: "/").map { String(authority[$0...]) } ?? "/"
    }
}

extension LoopbackRequest: CustomStringConvertible, CustomReflectable, RedactedMirror {
    /// The method and the target, without its secrets.
    public var description: String { "\(method) \(SecretRules.usual.url(target))" }

    /// Everything except the values of header fields and the contents of the body.
    package var shown: [Mirror.Child] {
        [
            ("method", method), ("target", SecretRules.usual.url(target)), ("headers", headers),
            ("body", "\(body.count) bytes"), ("connection", connection),
        ]
    }
}

/// The body of a ``LoopbackResponse/echo`` response: the request that the server received.
public struct LoopbackEcho: Sendable, Codable {
    /// A header field.
    public struct Header: Sendable, Codable {
        /// The name, as sent by the client.
        public let name: String
        /// The value.
        public let value: String
    }

    /// The method.
    public let method: String
    /// The path and the query.
    public let target: String
    /// The header fields, in order.
    public let headers: [Header]
    /// The body as text, or nil if it is not valid UTF-8.
    public let text: String?
    /// The body in Base64.
    public let base64: String

    /// Creates an echo of a request.
    init(_ request: LoopbackRequest) {
        method = request.method.rawValue
        target = request.target
        headers = request.headers.map { Header(name: $0.name.rawValue, value: $0.value) }
        text = String(validating: request.body, as: UTF8.self)
        base64 = request.body.base64EncodedString()
    }

    /// Returns the values of a header field. The name is not case-sensitive.
    public func values(for name: HTTPHeaderName) -> [String] {
        headers.filter { HTTPHeaderName($0.name) == name }.map(\.value)
    }
}

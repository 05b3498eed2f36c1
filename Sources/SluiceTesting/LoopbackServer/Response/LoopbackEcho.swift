import SluiceHTTP

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The body of a ``LoopbackResponse/echo`` response: the request that the server received.
public struct LoopbackEcho: Sendable, Hashable, Codable {
    /// A header field.
    public struct Header: Sendable, Hashable, Codable {
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
    public init(_ request: LoopbackRequest) {
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

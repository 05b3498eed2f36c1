import SluiceHTTP

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The body of ``LoopbackResponse/echo``: what the server was asked, for a test to decode.
public struct LoopbackEcho: Sendable, Hashable, Codable {
    /// A header field.
    public struct Header: Sendable, Hashable, Codable {
        /// The name as it was written.
        public let name: String
        /// The value.
        public let value: String
    }

    /// The method.
    public let method: String
    /// Path and query.
    public let target: String
    /// The header fields in their order.
    public let headers: [Header]
    /// The body as text, nil where it is not UTF-8.
    public let text: String?
    /// The body in Base64.
    public let base64: String

    /// Makes an echo of a request.
    public init(_ request: LoopbackRequest) {
        method = request.method.rawValue
        target = request.target
        headers = request.headers.map { Header(name: $0.name.rawValue, value: $0.value) }
        text = String(validating: request.body, as: UTF8.self)
        base64 = request.body.base64EncodedString()
    }

    /// The values of a header field, whatever the case of its name.
    public func values(for name: HTTPHeaderName) -> [String] {
        headers.filter { HTTPHeaderName($0.name) == name }.map(\.value)
    }
}

import SluiceHTTP

/// Sets the `User-Agent` of requests (RFC 9110 §10.1.5), in place of the client's, which names Sluice and its version.
///
/// ```swift
/// let shop = APIClient(baseURL: "https://shop.example") {
///     $0.requestInterceptors = [UserAgent(product: "acme", version: "1.0")]
/// }
/// ```
///
/// A request that sets its own `User-Agent` keeps it.
public struct UserAgent: RequestAdapter {
    /// The value of the header.
    let value: String

    /// Creates an adapter from a header value, such as `acme/1.0`.
    public init(_ value: String) {
        self.value = value
    }

    /// Creates an adapter from a product and its version: `acme/1.0 (Linux)`, followed by Sluice and its version.
    ///
    /// - Parameters:
    ///   - product: The name of the product. Characters that a token cannot contain (RFC 9110 §5.6.2) become hyphens.
    ///   - version: The version, converted in the same way; nil for none.
    public init(product: String, version: String? = nil) {
        let words = [product, version].compactMap { $0.map(UserAgent.token) }
        value = "\(words.joined(separator: "/")) (\(UserAgent.system)) \(SluiceVersion.product)"
    }

    /// Sets the header, unless the request has a value other than the client's.
    ///
    /// - Parameters:
    ///   - request: The request to change.
    ///   - context: The context of the client whose value is replaced.
    public func adapt(_ request: inout HTTPRequest, context: RequestContext) {
        let existing = request.headers[.userAgent]
        guard existing == nil || existing == context.client.pipeline.userAgent else { return }
        request.headers[.userAgent] = value
    }

    private static func token(_ text: String) -> String {
        let bytes = text.utf8.map { $0.isTokenCharacter ? $0 : UInt8(ascii: "-") }
        return bytes.isEmpty ? "-" : String(decoding: bytes, as: UTF8.self)
    }

    private static var system: String {
        #if os(Linux)
        "Linux"
        #elseif os(iOS)
        "iOS"
        #elseif os(tvOS)
        "tvOS"
        #elseif os(watchOS)
        "watchOS"
        #elseif os(visionOS)
        "visionOS"
        #else
        "macOS"
        #endif
    }
}

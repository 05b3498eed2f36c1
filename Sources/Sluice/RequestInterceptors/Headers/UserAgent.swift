import SluiceHTTP

/// Says which program sends the requests (RFC 9110 §10.1.5), in place of the client's `User-Agent: Sluice`.
///
/// ```swift
/// let shop = APIClient(baseURL: "https://shop.example") {
///     $0.requestInterceptors = [UserAgent(product: "acme", version: "1.0")]
/// }
/// ```
///
/// A request that has a `User-Agent` of its own keeps it.
public struct UserAgent: RequestAdapter {
    /// The header's value.
    public let value: String

    /// Makes an adapter of the header's value, `acme/1.0`.
    public init(_ value: String) {
        self.value = value
    }

    /// Makes an adapter of a product and its version: `acme/1.0 (Linux) Sluice`.
    ///
    /// - Parameters:
    ///   - product: Its name; what may not stand in a token (RFC 9110 §5.6.2) becomes a hyphen.
    ///   - version: Its version, made a token in the same way; nil for none.
    public init(product: String, version: String? = nil) {
        let words = [product, version].compactMap { $0.map(UserAgent.token) }
        value = "\(words.joined(separator: "/")) (\(UserAgent.system)) Sluice"
    }

    /// Sets the header unless the request has one that is not the client's.
    ///
    /// - Parameters:
    ///   - request: The request as it will be sent.
    ///   - context: The client whose value is replaced.
    public func adapt(_ request: inout HTTPRequest, context: RequestContext) {
        let own = request.headers[.userAgent]
        guard own == nil || own == context.client.pipeline.userAgent else { return }
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

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

// MARK: - Idempotency key

/// Adds an `Idempotency-Key`, by which a server recognizes a request that was sent before.
///
/// ```swift
/// let shop = APIClient(baseURL: "https://shop.example") {
///     $0.requestInterceptors = [IdempotencyKey()]
/// }
/// ```
///
/// The key is a random UUID. It is the same for all attempts of one send and different for the next. A request that has
/// the header keeps it. The key is a quoted string, `"8e03978e-…"`, as in draft-ietf-httpapi-idempotency-key-header
/// §2.1.
///
/// With the default header, a ``RetryPolicy`` may send a POST again, as if the request were marked with
/// ``ModifiableRequest/idempotent(_:)``, which can also exclude a request. Use the adapter only with servers that honour
/// the key. With another header, mark the requests that may be sent again.
public struct IdempotencyKey: RequestAdapter {
    private let header: HTTPHeaderName
    private let isQuoted: Bool
    private let condition: @Sendable (HTTPRequest) -> Bool
    private let make: @Sendable (RequestContext) -> String
    private let contextKey: String

    /// Creates an adapter.
    ///
    /// - Parameters:
    ///   - header: The name of the header; `Idempotency-Key` by default.
    ///   - isQuoted: True to write the key in quotes; true by default. Some servers require it without.
    ///   - condition: Returns true for requests that get a key; by default those whose method is not idempotent (RFC
    ///     9110 §9.2.2), such as POST and PATCH.
    ///   - make: Returns the key, for example from an order number or for a test. Called once for all attempts of a
    ///     request. Nil, the default, for a random UUID.
    public init(
        header: HTTPHeaderName = "Idempotency-Key",
        isQuoted: Bool = true,
        when condition: @escaping @Sendable (HTTPRequest) -> Bool = { !$0.method.isIdempotent },
        make: (@Sendable (RequestContext) -> String)? = nil
    ) {
        self.header = header
        self.isQuoted = isQuoted
        self.condition = condition
        self.make = make ?? { _ in IdempotencyKey.uuid(.random(in: .min ... .max), .random(in: .min ... .max)) }
        contextKey = "Sluice.IdempotencyKey.\(header)"
    }

    /// Adds the header if the request needs it.
    ///
    /// - Parameters:
    ///   - request: The request to change.
    ///   - context: The context, which keeps the key for all attempts.
    public func adapt(_ request: inout HTTPRequest, context: RequestContext) {
        guard !request.headers.contains(header), condition(request) else { return }
        let key = context.value(forKey: contextKey) { make(context) }
        request.headers.append(header, isQuoted ? key.asQuotedString : key)
    }

    /// Returns a UUID of version 4 (RFC 9562 §5.4) from random bits.
    ///
    /// - Parameters:
    ///   - high: The first 64 bits, four of which are replaced by the version.
    ///   - low: The others, two of which are replaced by the variant.
    /// - Returns: The UUID in lower case.
    static func uuid(_ high: UInt64, _ low: UInt64) -> String {
        let high = high & ~0xF000 | 0x4000
        let low = low & ~(0b11 << 62) | 0b10 << 62
        return HexText.text(length: 36) {
            $0.append(high >> 32, digits: 8)
            $0.append("-")
            $0.append(high >> 16, digits: 4)
            $0.append("-")
            $0.append(high, digits: 4)
            $0.append("-")
            $0.append(low >> 48, digits: 4)
            $0.append("-")
            $0.append(low, digits: 12)
        }
    }
}

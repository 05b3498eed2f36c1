import SluiceHTTP

/// Adds an `Idempotency-Key`, by which a server knows a request that it has been sent before.
///
/// ```swift
/// let shop = APIClient(baseURL: "https://shop.example") {
///     $0.requestInterceptors = [IdempotencyKey()]
/// }
/// ```
///
/// The key is a random UUID, the same in all attempts of one sending and another in the next; a request that has the header keeps
/// its own. It is written as a string in quotes, `"8e03978e-…"`, as draft-ietf-httpapi-idempotency-key-header §2.1 has it. Whether a
/// POST is tried again is still the request's own word: ``ModifiableRequest/idempotent(_:)``.
public struct IdempotencyKey: RequestAdapter {
    /// Gives the key of a request, once for all its attempts.
    public typealias Making = @Sendable (RequestContext) -> String

    private let header: HTTPHeaderName
    private let isQuoted: Bool
    private let condition: @Sendable (HTTPRequest) -> Bool
    private let make: Making
    private let memory: String

    /// Makes an adapter.
    ///
    /// - Parameters:
    ///   - header: Its name; `Idempotency-Key` by default.
    ///   - isQuoted: Whether it is written in quotes; true by default. Some servers want it without.
    ///   - condition: Which requests get a key; by default those whose method is not idempotent (RFC 9110 §9.2.2), POST and
    ///     PATCH among them.
    ///   - make: Gives the key: from the order's number, say, or a test's own. A random UUID by default.
    public init(
        header: HTTPHeaderName = "Idempotency-Key",
        isQuoted: Bool = true,
        when condition: @escaping @Sendable (HTTPRequest) -> Bool = { !$0.method.isIdempotent },
        make: @escaping Making = { _ in
            IdempotencyKey.uuid(.random(in: .min ... .max), .random(in: .min ... .max))
        }
    ) {
        self.header = header
        self.isQuoted = isQuoted
        self.condition = condition
        self.make = make
        memory = "Sluice.IdempotencyKey.\(header)"
    }

    /// Adds the header where it is wanted.
    ///
    /// - Parameters:
    ///   - request: The request as it will be sent.
    ///   - context: The sending, which the key belongs to.
    public func adapt(_ request: inout HTTPRequest, context: RequestContext) {
        guard !request.headers.contains(header), condition(request) else { return }
        let key = context.remembered(memory) { make(context) }
        request.headers.append(header, isQuoted ? IdempotencyKey.quoted(key) : key)
    }

    /// Makes a UUID of version 4 (RFC 9562 §5.4) of random bits, for a key of one's own randomness.
    ///
    /// - Parameters:
    ///   - high: The first 64 bits, four of which are replaced by the version.
    ///   - low: The others, two of which are replaced by the variant.
    /// - Returns: The UUID in small letters.
    public static func uuid(_ high: UInt64, _ low: UInt64) -> String {
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

    /// A string of RFC 8941 §3.3.3, which holds no character that is not in ASCII.
    private static func quoted(_ key: String) -> String {
        if !key.utf8.contains(where: { $0 == UInt8(ascii: "\"") || $0 == UInt8(ascii: "\\") }) { return "\"\(key)\"" }
        var text = "\""
        for scalar in key.unicodeScalars {
            if scalar == "\"" || scalar == "\\" { text += "\\" }
            text.unicodeScalars.append(scalar)
        }
        return text + "\""
    }
}

import SluiceFoundation
import SluiceHTTP

/// A request that a ``StubTransport`` or a ``CassetteTransport`` received.
public struct RecordedRequest: Sendable {
    /// The method.
    public var method: HTTPMethod
    /// The complete URL, including the query.
    public var url: String
    /// The header fields, in order.
    public var headers: HTTPHeaders
    /// The body. Empty if there is none, or if a ``CassetteTransport`` recorded a body of more than 1 MiB, or one with a
    /// content coding other than gzip.
    public var body: Data
    /// The digest of a body that is too long to be held in memory, or cannot be decoded; nil for all others.
    package var digest: BodyDigest?
    /// The percent-decoded values of the `{name}` placeholders in the path pattern of the matching rule.
    public internal(set) var pathParameters: [String: String] = [:]

    package init(method: HTTPMethod = .get, url: String, headers: HTTPHeaders = [:], body: Data = Data()) {
        self.method = method
        self.url = url
        self.headers = headers
        self.body = body
    }

    init(_ request: HTTPRequest, body: Data) {
        self.init(method: request.method, url: request.url, headers: request.headers, body: body)
    }

    /// The percent-encoded path without the query. At least a slash.
    public var path: String {
        let path = target.prefix { $0 != "?" && $0 != "#" }
        return path.isEmpty ? "/" : String(path)
    }

    /// The host, with the port if the URL contains one.
    public var authority: String {
        String(schemeSpecificPart.prefix { $0 != "/" && $0 != "?" && $0 != "#" })
    }

    /// The percent-decoded query items, in order. An item without a `=` has no value.
    public var queryItems: [(name: String, value: String?)] {
        guard let mark = target.firstIndex(of: "?") else { return [] }
        let query = target[target.index(after: mark)...].prefix { $0 != "#" }
        return FormItems.items(of: query).map { ($0.name, $0.value) }
    }

    /// The body as text, or nil if it is not valid UTF-8.
    public var text: String? { String(validating: body, as: UTF8.self) }

    /// Returns the body, decoded from JSON.
    ///
    /// - Parameters:
    ///   - type: The type to decode.
    ///   - decoder: The decoder.
    /// - Returns: The decoded value.
    /// - Throws: The error of the decoder.
    public func decoded<Value: Decodable>(
        as type: Value.Type = Value.self,
        by decoder: JSONDecoder = JSONDecoder()
    ) throws -> Value {
        try decoder.decode(type, from: body)
    }

    /// The path, the query and the fragment.
    private var target: Substring { schemeSpecificPart.drop { $0 != "/" && $0 != "?" && $0 != "#" } }

    /// The URL without the scheme.
    private var schemeSpecificPart: Substring {
        url.firstRange(of: "://").map { url[$0.upperBound...] } ?? url[...]
    }
}

/// The length and the SHA-256 of a body that a cassette does not contain.
package struct BodyDigest: Sendable, Hashable {
    /// The length in bytes.
    package let length: Int64
    /// 64 hexadecimal digits in lower case.
    package let sha256: String

    /// Creates a digest; nil unless `sha256` has 64 hexadecimal digits in lower case.
    package init?(length: Int64, sha256: String) {
        let digits = sha256.utf8
        let isValid = digits.allSatisfy { (48...57).contains($0) || (97...102).contains($0) }
        guard length >= 0, digits.count == 64, isValid else { return nil }
        self.length = length
        self.sha256 = sha256
    }

    /// Computes the digest of bytes in memory; nil if the system's library fails.
    package init?(of body: Data) {
        guard let digest = SystemSHA256.hexDigest(of: body) else { return nil }
        self.init(length: Int64(body.count), sha256: digest)
    }
}

extension RecordedRequest: CustomStringConvertible, CustomReflectable, RedactedMirror {
    /// The method and the URL, without user name, password and query.
    public var description: String {
        "\(method) \(SecretRules.usual.url(String(url.prefix { $0 != "?" && $0 != "#" })))"
    }

    /// The method, the URL without its secrets, the header field names and the length of the body.
    package var shown: [Mirror.Child] {
        [
            ("method", method), ("url", SecretRules.usual.url(url)), ("headers", headers),
            ("body", "\(digest?.length ?? Int64(body.count)) bytes"),
        ]
    }
}

extension HTTPRequest {
    /// Returns the request with its body in memory, and the context with the remaining total time.
    ///
    /// - Parameter context: The context. Its total time-out also limits the time to read the body.
    /// - Returns: The request, its body, and the context for sending it.
    /// - Throws: The error of the body, or a time-out.
    func withBodyInMemory(
        _ context: TransferContext
    ) async throws(SluiceError) -> (request: HTTPRequest, body: Data, context: TransferContext) {
        switch body.source {
        case .none: return (self, Data(), context)
        case .data(let data): return (self, data, context)
        case .file, .stream, .deferred, .encoded: break
        }
        let start = ContinuousClock.now
        let data = try await TimedWork.outcome(within: context.timeouts.total) { [body] () async throws(SluiceError) in
            try await body.collect()
        }
        var request = self
        var context = context
        request.body = .data(data)
        context.timeouts.total = context.timeouts.total.map { max(.zero, $0 - start.duration(to: .now)) }
        return (request, data, context)
    }
}

// MARK: - Queries and forms

/// Parses the names and values of a query or a form: `a=1&b=2`.
enum FormItems {
    /// A decoded name and value.
    struct Item {
        let name: String
        let value: String?
    }

    static func items(of text: some StringProtocol) -> [Item] {
        Substring(text).utf8.split(separator: UInt8(ascii: "&")).map { item(of: Substring($0)) }
    }

    static func item(of source: Substring) -> Item {
        let parts = source.utf8.split(separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
        return Item(name: decoded(Substring(parts[0])), value: parts.count > 1 ? decoded(Substring(parts[1])) : nil)
    }

    /// Decodes percent-encoding, and a plus as a space. Invalid triplets are left as they are.
    static func decoded(_ text: some StringProtocol, plusIsBlank: Bool = true) -> String {
        String(decoding: PercentEncoding.decoded(text.utf8, plusIsSpace: plusIsBlank), as: UTF8.self)
    }
}

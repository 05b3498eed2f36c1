import SluiceFoundation
import SluiceHTTP

/// A rule that derives the cache key of a request to a ``DataSource``.
public struct CacheKeyRule: Sendable {
    private let name: @Sendable (HTTPRequest) -> String?

    /// The method, the URL with its query, and the body. The order of JSON members is irrelevant. Requests with a file
    /// or stream body are never cached.
    public static let methodURLParameters = CacheKeyRule { request in
        guard let digest = bodyDigest(of: request) else { return nil }
        return "\(request.method) \(request.url)" + (digest.isEmpty ? "" : " \(digest)")
    }

    /// The method and the URL without its query. The body is ignored.
    public static let methodURL = CacheKeyRule { request in
        "\(request.method) \(request.scheme)://\(request.authority)\(request.path.prefix { $0 != "?" })"
    }

    /// A fixed name.
    public static func custom(_ name: String) -> CacheKeyRule { CacheKeyRule { _ in name } }

    /// A name computed from the request. If it is nil, the request does not use the cache.
    public static func custom(_ name: @escaping @Sendable (HTTPRequest) -> String?) -> CacheKeyRule {
        CacheKeyRule(name: name)
    }

    private init(name: @escaping @Sendable (HTTPRequest) -> String?) {
        self.name = name
    }

    /// Returns the cache key of a request for an identity; nil if the request does not use the cache.
    func key(for request: HTTPRequest, _ identity: CacheIdentity) -> CacheKey? {
        guard var name = name(request) else { return nil }
        // The `Host` field selects another resource of the same server. Lines, which no URL and no field contains, separate
        // it from the digest.
        if let host = request.headers["Host"] { name += "\nhost: \(host)" }
        if let digest = identity.digest { name += "\nidentity: \(digest)" }
        return CacheKey(name, in: .responses, partition: identity.partition)
    }

    /// Returns JSON with sorted members, because their order after encoding differs between runs of a program.
    private static func canonical(_ body: Data, _ contentType: String?) -> Data {
        guard contentType?.contains("json") == true else { return body }
        return (try? JSON(parsing: body))?.encoded() ?? body
    }

    /// Returns the digest of the body: empty without a body, nil if the body is not in memory.
    private static func bodyDigest(of request: HTTPRequest) -> String? {
        switch request.body.source {
        case .none: ""
        case .data(let data): SystemSHA256.hexDigest(of: canonical(data, request.headers[.contentType]))
        case .file, .stream, .deferred, .encoded: nil
        }
    }
}

/// The owner of a response: a partition or the credentials of the request.
struct CacheIdentity: Sendable {
    /// The partition that the app has set.
    let partition: String
    /// A digest of the credentials; nil if the request has none or a partition is set.
    let digest: String?

    /// Creates the identity of a request.
    ///
    /// - Parameters:
    ///   - request: The request.
    ///   - credentials: The credentials for authentication challenges.
    ///   - cookies: The cookie jar of the client.
    ///   - secretHeaders: The client's header fields that hold secrets, besides `Authorization` and `Cookie`.
    ///   - partition: The partition; empty for none.
    init(
        _ request: HTTPRequest,
        credentials: ChallengeCredentials? = nil,
        cookies: CookieJar? = nil,
        secretHeaders: [HTTPHeaderName] = [],
        partition: String
    ) {
        self.partition = partition
        guard partition.isEmpty else {
            digest = nil
            return
        }
        var secrets: [[UInt8]] = []
        let headers = request.headers
        func append(_ name: HTTPHeaderName) {
            guard headers.contains(name) else { return }
            secrets += headers.fieldValues(for: name).map { Array("\(name.rawValue.lowercased()): ".utf8) + $0.bytes }
        }
        append(.authorization)
        append(.cookie)
        for name in secretHeaders { append(name) }
        if let credentials { secrets.append(Array("credentials: \(credentials.user):\(credentials.password)".utf8)) }
        if let cookies { secrets.append(Array("jar: \(cookies.id)".utf8)) }
        if secrets.isEmpty {
            digest = nil
        } else {
            let text = Data(secrets.joined(separator: "\n".utf8))
            // Without a digest, the response matches no other request rather than every request.
            digest = SystemSHA256.hexDigest(of: text) ?? UUID().uuidString
        }
    }
}

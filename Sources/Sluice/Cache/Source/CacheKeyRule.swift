import SluiceHTTP

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// What makes two requests ask for the same.
public struct CacheKeyRule: Sendable {
    private let name: @Sendable (HTTPRequest) -> String?

    /// Method, URL with its query, and body; JSON whatever the order of its members. Requests whose body is a file or a stream are never kept.
    public static let methodURLParameters = CacheKeyRule { request in
        guard let digest = bodyDigest(of: request) else { return nil }
        return "\(request.method) \(request.url)" + (digest.isEmpty ? "" : " \(digest)")
    }

    /// Method and URL without its query and whatever the body.
    public static let methodURL = CacheKeyRule { request in
        "\(request.method) \(request.scheme)://\(request.authority)\(request.path.prefix { $0 != "?" })"
    }

    /// A name.
    public static func custom(_ name: String) -> CacheKeyRule { CacheKeyRule { _ in name } }

    /// A name made of the request; nil for one that is neither looked up nor kept.
    public static func custom(_ name: @escaping @Sendable (HTTPRequest) -> String?) -> CacheKeyRule {
        CacheKeyRule(name: name)
    }

    private init(name: @escaping @Sendable (HTTPRequest) -> String?) {
        self.name = name
    }

    /// The key of what is kept for a request, by its rule and for whom it is; nil if nothing can be.
    func key(for request: HTTPRequest, _ identity: CacheIdentity) -> CacheKey? {
        guard var name = name(request) else { return nil }
        // Another host's answer, whatever the URL.
        if let host = request.headers["Host"] { name += " \(host)" }
        if let digest = identity.digest { name += " \(digest)" }
        return CacheKey(name, in: .responses, partition: identity.partition)
    }

    /// JSON with its members in the order of their names: an encoder gives them another in each run of a program.
    private static func canonical(_ body: Data, _ contentType: String?) -> Data {
        guard contentType?.contains("json") == true else { return body }
        return (try? JSON(parsing: body))?.encoded() ?? body
    }

    /// Empty without a body; nil of one whose bytes are not in memory.
    private static func bodyDigest(of request: HTTPRequest) -> String? {
        switch request.body.source {
        case .none: ""
        case .data(let data): SystemSHA256.hexDigest(of: canonical(data, request.headers[.contentType]))
        case .file, .stream, .deferred: nil
        }
    }
}

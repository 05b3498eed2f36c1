import SluiceHTTP

/// Which requests share a limit.
///
/// ```swift
/// $0.gates = [RateLimit(5, every: .seconds(1), per: .key { $0.tags.contains("search") ? "search" : nil })]
/// ```
public struct GateScope: Sendable {
    private enum Kind: Sendable {
        case client
        case host
        case key(@Sendable (RequestContext) -> String?)
    }

    private let kind: Kind

    /// All requests of the clients that the gate is given to.
    public static let client = GateScope(kind: .client)
    /// The requests to one host, and to one port where it is not the scheme's own.
    public static let host = GateScope(kind: .host)

    /// The requests for which a closure gives the same key.
    ///
    /// - Parameter key: Gives the key of a request, or nil for one that has no limit. It must not block.
    /// - Returns: The scope.
    public static func key(_ key: @escaping @Sendable (RequestContext) -> String?) -> GateScope {
        GateScope(kind: .key(key))
    }

    func key(for request: RequestContext) -> String? {
        switch kind {
        case .client: ""
        case .host: Self.host(of: request.request)
        case .key(let key): key(request)
        }
    }

    /// The key of what a response says, which is another host's than the request's where there was a redirect.
    func key(_ key: String, answeredBy request: HTTPRequest) -> String {
        if case .host = kind { Self.host(of: request) } else { key }
    }

    private static func host(of request: HTTPRequest) -> String {
        var authority = request.authority
        let isPlain = authority.withUTF8 { bytes in
            bytes.allSatisfy { $0 != UInt8(ascii: ":") && $0 == $0.asciiLowercased }
        }
        // As it is nearly always; an origin looks closer, and takes longer.
        return isPlain ? authority : request.origin.authority
    }
}

import SluiceHTTP

/// The group of requests that share a limit.
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

    /// One limit for everything that passes this gate, also from several clients.
    public static let client = GateScope(kind: .client)
    /// The requests to one host and port. The default ports of http and https count as the same.
    public static let host = GateScope(kind: .host)

    /// The requests for which a closure returns the same key.
    ///
    /// - Parameter key: Called for each request; returns its key, or nil for a request without
    ///   a limit. It must not block.
    /// - Returns: The scope.
    public static func key(_ key: @escaping @Sendable (RequestContext) -> String?) -> GateScope {
        GateScope(kind: .key(key))
    }

    package func key(for request: RequestContext) -> String? {
        switch kind {
        case .client: ""
        case .host: request.call.host
        case .key(let key): key(request)
        }
    }

    /// The key that the response to a request applies to. After a redirect, this is the host that sent the response.
    package func key(_ key: String, of request: RequestContext, answeredBy answered: HTTPRequest) -> String {
        // Compared with the request as it was sent, whose host an interceptor may have changed.
        guard case .host = kind, let sent = request.call.redirectedRequest(in: request.attempt) else { return key }
        return answered.authority == sent.authority && answered.scheme == sent.scheme ? key : answered.hostAndPort
    }
}

import SluiceHTTP

/// The header for credentials, and the requests that get it.
struct CredentialField: Sendable {
    /// Returns true for requests that get the credentials.
    typealias Condition = @Sendable (RequestContext) -> Bool

    let name: HTTPHeaderName
    let scope: CredentialScope
    let condition: Condition?

    /// Returns true if a request needs credentials: it has no such header, its origin is within the scope, and the
    /// condition is true.
    func isWanted(by request: HTTPRequest, _ context: RequestContext) throws(SluiceError) -> Bool {
        guard !request.headers.contains(name), condition?(context) ?? true else { return false }
        return try scope.covers(request, context)
    }

    /// Returns the header's value; nil for an empty token, because a scheme alone is not a valid credential.
    static func value(_ token: some SecretConvertible, scheme: String?) -> Secret? {
        let token = token.asSecret()
        if token.isEmpty { return nil }
        return scheme.map { Secret("\($0) \(token.reveal())") } ?? token
    }
}

/// A step that puts a secret into a header. The header must not be sent to another origin by a redirect, or logged.
protocol SecretBearing {
    /// The name of the header.
    var secretHeader: HTTPHeaderName { get }
}

extension [any RequestInterceptor] {
    /// The headers into which the interceptors put secrets.
    var secretHeaders: [HTTPHeaderName] { compactMap { ($0 as? any SecretBearing)?.secretHeader } }
}

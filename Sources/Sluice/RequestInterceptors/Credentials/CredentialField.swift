import SluiceHTTP

/// The header that credentials go into, and which requests get it.
struct CredentialField: Sendable {
    /// Decides for each request.
    typealias Condition = @Sendable (RequestContext) -> Bool

    let name: HTTPHeaderName
    let scope: CredentialScope
    let condition: Condition?

    /// Whether a request is to get credentials: it has none, its origin is within the scope, and nobody says otherwise.
    func isWanted(by request: HTTPRequest, _ context: RequestContext) throws(SluiceError) -> Bool {
        guard !request.headers.contains(name), condition?(context) ?? true else { return false }
        return try scope.covers(request, context)
    }

    /// The header's value; nil of an empty token: a scheme with nothing behind it is no credentials.
    static func value(_ token: some SecretConvertible, scheme: String?) -> Secret? {
        let token = token.asSecret()
        if token.isEmpty { return nil }
        return scheme.map { Secret("\($0) \(token.reveal())") } ?? token
    }
}

/// A step that puts a secret into a header, which must not follow a redirect to another origin, nor be logged.
protocol SecretBearing {
    /// The header.
    var secretHeader: HTTPHeaderName { get }
}

extension [any RequestInterceptor] {
    /// The headers they put secrets into.
    var secretHeaders: [HTTPHeaderName] { compactMap { ($0 as? any SecretBearing)?.secretHeader } }
}

import SluiceHTTP

/// The origins that credentials may be sent to: scheme, host and port (RFC 6454 §4).
///
/// ```swift
/// BearerToken(token, scope: .origins("https://api.example.com", "https://upload.example.com"))
/// ```
public struct CredentialScope: Sendable {
    private let trusted: TrustedOrigins

    /// The origin of the client's base URL only. This is right for most tokens.
    ///
    /// A client without a base URL has no such origin. A request that needs credentials then fails with
    /// ``SluiceError/Code/unsupported``.
    public static let baseURL = CredentialScope(trusted: .baseURL)

    /// Returns a scope of these origins only.
    ///
    /// - Parameter urls: Absolute http or https URLs, whose paths are ignored. An invalid URL fails each request that
    ///   needs credentials with ``SluiceError/Code/invalidURL``.
    /// - Returns: A scope.
    public static func origins(_ urls: String...) -> CredentialScope { origins(urls) }

    /// Returns a scope of these origins only.
    public static func origins(_ urls: [String]) -> CredentialScope { CredentialScope(trusted: TrustedOrigins(urls)) }

    /// Returns true if the request's origin is within the scope.
    func covers(_ request: HTTPRequest, _ context: RequestContext) throws(SluiceError) -> Bool {
        if case .invalid(let error) = trusted { throw error }
        guard let covers = trusted.include(request, of: context.client.pipeline) else { throw .noBaseURL }
        return covers
    }
}

extension SluiceError {
    fileprivate static var noBaseURL: SluiceError {
        SluiceError(
            .unsupported,
            "The client has no base URL, so its credentials have no scope. Set a scope of origins for them.",
            step: .requestInterceptor
        )
    }
}

/// The header for credentials, and the requests that get it.
struct CredentialField: Sendable {
    /// Returns true for requests that get the credentials.
    typealias Condition = @Sendable (RequestContext) -> Bool

    let name: HTTPHeaderName
    let scope: CredentialScope
    let condition: Condition?

    /// Returns true if a request needs credentials: it has no such header, its origin is within the scope, and the
    /// condition is true.
    func applies(to request: HTTPRequest, _ context: RequestContext) throws(SluiceError) -> Bool {
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

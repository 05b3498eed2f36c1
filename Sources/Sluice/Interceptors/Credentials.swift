import SluiceFoundation
import SluiceHTTP

/// Adds `Authorization: Basic …` (RFC 7617) to requests that have no such header, without waiting for a challenge.
///
/// ```swift
/// let shop = APIClient(baseURL: "https://shop.example") {
///     $0.requestInterceptors = [BasicCredentials(user: "ada", password: "s3cret")]
/// }
/// ```
///
/// If a server requires Digest authentication, or must send a challenge first, use the client's
/// ``ChallengeCredentials``.
public struct BasicCredentials: RequestAdapter, FieldBearing {
    let field: CredentialField
    private let value: Result<Secret, SluiceError>

    /// Creates an adapter.
    ///
    /// - Parameters:
    ///   - user: The user name, sent in UTF-8. A name with a colon or a control character, which RFC 7617 §2 does not
    ///     allow, fails each request that needs it with ``SluiceError/Code/invalidHeader``.
    ///   - password: The password, a `String` or a ``Secret``, sent in UTF-8; without control characters.
    ///   - scope: The origins that the credentials may be sent to; the origin of the client's base URL by default.
    ///   - condition: Returns true for requests that get the credentials, by their tags for example; all by default.
    public init(
        user: String,
        password: some SecretConvertible,
        scope: CredentialScope = .baseURL,
        when condition: (@Sendable (RequestContext) -> Bool)? = nil
    ) {
        field = CredentialField(name: .authorization, scope: scope, condition: condition)
        value = Result { () throws(SluiceError) in
            let credentials = ChallengeCredentials(user: user, password: password, methods: .basic)
            try credentials.validate()
            return Secret(credentials.basic)
        }
    }

    /// Adds the header if the request needs it.
    ///
    /// - Parameters:
    ///   - request: The request to change.
    ///   - context: The context, with the client's base URL and the tags.
    /// - Throws: ``SluiceError/Code/invalidHeader``, or ``SluiceError/Code/unsupported`` or
    ///   ``SluiceError/Code/invalidURL`` if the scope is not known.
    public func adapt(_ request: inout HTTPRequest, context: RequestContext) throws {
        guard try field.applies(to: request, context) else { return }
        request.headers.append(field.name, try value.get().reveal())
    }
}

/// Adds `Authorization: Bearer …` (RFC 6750 §2.1) to requests that have no such header.
///
/// ```swift
/// let shop = APIClient(baseURL: "https://shop.example") {
///     $0.requestInterceptors = [BearerToken("t0k3n") { !$0.tags.contains("public") }]
/// }
/// ```
///
/// The token is sent only to the origins of its scope. Use ``SuppliedToken`` for a token that must be fetched first,
/// and an ``OAuth2`` gate for one that expires.
public struct BearerToken: RequestAdapter, FieldBearing, TokenSupplying {
    private let token: CustomToken
    var field: CredentialField { token.field }
    var suppliesTokens: Bool { token.suppliesTokens }

    /// Creates an adapter for a constant token.
    ///
    /// - Parameters:
    ///   - token: The token, a `String` or a ``Secret``; an empty one is not sent.
    ///   - scope: The origins that the token may be sent to; the origin of the client's base URL by default.
    ///   - condition: Returns true for requests that get the token, by their tags for example; all by default.
    public init(
        _ token: some SecretConvertible,
        scope: CredentialScope = .baseURL,
        when condition: (@Sendable (RequestContext) -> Bool)? = nil
    ) {
        self.token = CustomToken(token, scheme: "Bearer", scope: scope, when: condition)
    }

    /// Creates an adapter that asks for the token with each request.
    ///
    /// - Parameters:
    ///   - scope: The origins that the token may be sent to; the origin of the client's base URL by default.
    ///   - condition: Returns true for requests that get the token, by their tags for example; all by default.
    ///   - token: Returns the token, a `String` or a ``Secret``, without waiting; nil for none.
    public init(
        scope: CredentialScope = .baseURL,
        when condition: (@Sendable (RequestContext) -> Bool)? = nil,
        token: @escaping @Sendable (RequestContext) -> (any SecretConvertible)?
    ) {
        self.token = CustomToken(scheme: "Bearer", scope: scope, when: condition, token: token)
    }

    /// Adds the header if the request needs it.
    ///
    /// - Parameters:
    ///   - request: The request to change.
    ///   - context: The context, with the client's base URL and the tags.
    /// - Throws: ``SluiceError/Code/unsupported`` or ``SluiceError/Code/invalidURL`` if the scope is not known.
    public func adapt(_ request: inout HTTPRequest, context: RequestContext) throws {
        try token.adapt(&request, context: context)
    }
}

/// Adds a token with any scheme in any header to requests that do not have that header.
///
/// ```swift
/// let weather = APIClient(baseURL: "https://weather.example") {
///     $0.requestInterceptors = [CustomToken("k3y", header: "X-API-Key")]
/// }
/// ```
///
/// The header is treated as one of the client's secret headers: a redirect does not send it to another origin.
public struct CustomToken: RequestAdapter, FieldBearing, SecretBearing, TokenSupplying {
    let field: CredentialField
    private let value: @Sendable (RequestContext) -> Secret?
    let suppliesTokens: Bool

    var secretHeader: HTTPHeaderName { field.name }

    /// Creates an adapter for a constant token.
    ///
    /// - Parameters:
    ///   - token: The token, a `String` or a ``Secret``; an empty one is not sent.
    ///   - scheme: The text before the token, separated by a space, such as `Token`; nil, the default, for the token
    ///     alone.
    ///   - header: The name of the header; `Authorization` by default.
    ///   - scope: The origins that the token may be sent to; the origin of the client's base URL by default.
    ///   - condition: Returns true for requests that get the token, by their tags for example; all by default.
    public init(
        _ token: some SecretConvertible,
        scheme: String? = nil,
        header: HTTPHeaderName = .authorization,
        scope: CredentialScope = .baseURL,
        when condition: (@Sendable (RequestContext) -> Bool)? = nil
    ) {
        let value = CredentialField.value(token, scheme: scheme)
        field = CredentialField(name: header, scope: scope, condition: condition)
        self.value = { _ in value }
        suppliesTokens = false
    }

    /// Creates an adapter that asks for the token with each request.
    ///
    /// - Parameters:
    ///   - scheme: The text before the token, separated by a space, such as `Token`; nil, the default, for the token
    ///     alone.
    ///   - header: The name of the header; `Authorization` by default.
    ///   - scope: The origins that the token may be sent to; the origin of the client's base URL by default.
    ///   - condition: Returns true for requests that get the token, by their tags for example; all by default.
    ///   - token: Returns the token, a `String` or a ``Secret``, without waiting; nil for none.
    public init(
        scheme: String? = nil,
        header: HTTPHeaderName = .authorization,
        scope: CredentialScope = .baseURL,
        when condition: (@Sendable (RequestContext) -> Bool)? = nil,
        token: @escaping @Sendable (RequestContext) -> (any SecretConvertible)?
    ) {
        field = CredentialField(name: header, scope: scope, condition: condition)
        value = { context in token(context).flatMap { CredentialField.value($0, scheme: scheme) } }
        suppliesTokens = true
    }

    /// Adds the header if the request needs it.
    ///
    /// - Parameters:
    ///   - request: The request to change.
    ///   - context: The context, with the client's base URL and the tags.
    /// - Throws: ``SluiceError/Code/unsupported`` or ``SluiceError/Code/invalidURL`` if the scope is not known.
    public func adapt(_ request: inout HTTPRequest, context: RequestContext) throws {
        guard try field.applies(to: request, context), let value = value(context) else { return }
        request.headers.append(field.name, value.reveal())
    }
}

/// Adds a token that is obtained asynchronously, for example from a keychain, a file or another service.
///
/// ```swift
/// let shop = APIClient(baseURL: "https://shop.example") {
///     $0.requestInterceptors = [SuppliedToken { _ in try await vault.token() }]
/// }
/// ```
///
/// The closure is called for each request that gets the token, and its result is not stored. If many requests should
/// wait for the same result, use a ``Constraint``.
public struct SuppliedToken: RequestInterceptor, FieldBearing, SecretBearing, TokenSupplying {
    let field: CredentialField
    private let scheme: String?
    private let token: @Sendable (RequestContext) async throws -> (any SecretConvertible)?

    var secretHeader: HTTPHeaderName { field.name }
    var suppliesTokens: Bool { true }

    /// Creates an interceptor.
    ///
    /// - Parameters:
    ///   - scheme: The text before the token, separated by a space; `Bearer` by default, nil for the token alone.
    ///   - header: The name of the header; `Authorization` by default.
    ///   - scope: The origins that the token may be sent to; the origin of the client's base URL by default.
    ///   - condition: Returns true for requests that get the token, by their tags for example; all by default.
    ///   - token: Returns the token, a `String` or a ``Secret``, or nil for none. An error it throws fails the request.
    public init(
        scheme: String? = "Bearer",
        header: HTTPHeaderName = .authorization,
        scope: CredentialScope = .baseURL,
        when condition: (@Sendable (RequestContext) -> Bool)? = nil,
        token: @escaping @Sendable (RequestContext) async throws -> (any SecretConvertible)?
    ) {
        field = CredentialField(name: header, scope: scope, condition: condition)
        self.scheme = scheme
        self.token = token
    }

    /// Adds the header if the request needs it.
    public func intercept(_ request: HTTPRequest, context: RequestContext) async throws -> HTTPRequest {
        guard try field.applies(to: request, context), let token = try await token(context),
            let value = CredentialField.value(token, scheme: scheme)
        else { return request }
        var request = request
        request.headers.append(field.name, value.reveal())
        return request
    }
}

// MARK: - Credential scope

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
    var secretHeader: HTTPHeaderName { get }
}

extension [any RequestInterceptor] {
    /// The headers into which the interceptors put secrets.
    var secretHeaders: [HTTPHeaderName] { compactMap { ($0 as? any SecretBearing)?.secretHeader } }
}

/// A step that adds credentials in a field.
protocol FieldBearing: CredentialBearing {
    var field: CredentialField { get }
}

extension FieldBearing {
    var credentialHeader: HTTPHeaderName { field.name }

    func covers(_ request: HTTPRequest, _ context: RequestContext) throws(SluiceError) -> Bool {
        try field.scope.covers(request, context)
    }
}

import SluiceHTTP

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
public struct SuppliedToken: RequestInterceptor, SecretBearing {
    private let field: CredentialField
    private let scheme: String?
    private let token: @Sendable (RequestContext) async throws -> (any SecretConvertible)?

    var secretHeader: HTTPHeaderName { field.name }

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
        guard try field.isWanted(by: request, context), let token = try await token(context),
            let value = CredentialField.value(token, scheme: scheme)
        else { return request }
        var request = request
        request.headers.append(field.name, value.reveal())
        return request
    }
}

import SluiceHTTP

/// Adds a token that has to be waited for: one that a keychain, a file or another service holds.
///
/// ```swift
/// let shop = APIClient(baseURL: "https://shop.example") {
///     $0.requestInterceptors = [SuppliedToken { _ in try await vault.token() }]
/// }
/// ```
///
/// It is asked for with each request that is to get it, and nothing is kept. Where many requests should wait for one answer, use a
/// ``Constraint``.
public struct SuppliedToken: RequestInterceptor, SecretBearing {
    private let field: CredentialField
    private let scheme: String?
    private let token: @Sendable (RequestContext) async throws -> (any SecretConvertible)?

    var secretHeader: HTTPHeaderName { field.name }

    /// Makes an interceptor.
    ///
    /// - Parameters:
    ///   - scheme: Stands before the token with a space between; `Bearer` by default, nil for the token alone.
    ///   - header: Where it stands; `Authorization` by default.
    ///   - scope: Where it may go; the origin of the client's base URL by default.
    ///   - condition: Which requests get it, by their tags for example; all of them by default.
    ///   - token: Gives the token, a `String` or a ``Secret``, nil for none; what it throws fails the request.
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

    /// Adds the header where it is wanted.
    public func intercept(_ request: HTTPRequest, context: RequestContext) async throws -> HTTPRequest {
        guard try field.isWanted(by: request, context), let token = try await token(context),
            let value = CredentialField.value(token, scheme: scheme)
        else { return request }
        var request = request
        request.headers.append(field.name, value.reveal())
        return request
    }
}

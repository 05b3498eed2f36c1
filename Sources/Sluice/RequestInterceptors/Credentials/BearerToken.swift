import SluiceHTTP

/// Adds `Authorization: Bearer …` (RFC 6750 §2.1) to requests that have no such header.
///
/// ```swift
/// let shop = APIClient(baseURL: "https://shop.example") {
///     $0.requestInterceptors = [BearerToken("t0k3n") { !$0.tags.contains("public") }]
/// }
/// ```
///
/// The token is sent only to the origins of its scope. Use ``SuppliedToken`` for a token that must be fetched first,
/// and a ``Gate`` for one that expires and is refreshed.
public struct BearerToken: RequestAdapter {
    private let field: CredentialField
    private let value: @Sendable (RequestContext) -> Secret?

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
        let value = CredentialField.value(token, scheme: "Bearer")
        field = CredentialField(name: .authorization, scope: scope, condition: condition)
        self.value = { _ in value }
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
        field = CredentialField(name: .authorization, scope: scope, condition: condition)
        value = { context in token(context).flatMap { CredentialField.value($0, scheme: "Bearer") } }
    }

    /// Adds the header if the request needs it.
    ///
    /// - Parameters:
    ///   - request: The request to change.
    ///   - context: The context, with the client's base URL and the tags.
    /// - Throws: ``SluiceError/Code/unsupported`` or ``SluiceError/Code/invalidURL`` if the scope is not known.
    public func adapt(_ request: inout HTTPRequest, context: RequestContext) throws {
        guard try field.isWanted(by: request, context), let value = value(context) else { return }
        request.headers.append(field.name, value.reveal())
    }
}

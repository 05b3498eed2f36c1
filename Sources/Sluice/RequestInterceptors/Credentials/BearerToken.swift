import SluiceHTTP

/// Adds `Authorization: Bearer …` (RFC 6750 §2.1) to requests that have no such header.
///
/// ```swift
/// let shop = APIClient(baseURL: "https://shop.example") {
///     $0.requestInterceptors = [BearerToken("t0k3n") { !$0.tags.contains("public") }]
/// }
/// ```
///
/// The token goes to the origins of its scope and nowhere else. One that has to be fetched first is a ``SuppliedToken``; one that
/// expires and is refreshed is the business of a ``Gate``.
public struct BearerToken: RequestAdapter {
    private let field: CredentialField
    private let value: @Sendable (RequestContext) -> Secret?

    /// Makes an adapter for a token that stays the same.
    ///
    /// - Parameters:
    ///   - token: The token, a `String` or a ``Secret``; an empty one is not sent.
    ///   - scope: Where it may go; the origin of the client's base URL by default.
    ///   - condition: Which requests get it, by their tags for example; all of them by default.
    public init(
        _ token: some SecretConvertible,
        scope: CredentialScope = .baseURL,
        when condition: (@Sendable (RequestContext) -> Bool)? = nil
    ) {
        let value = CredentialField.value(token, scheme: "Bearer")
        field = CredentialField(name: .authorization, scope: scope, condition: condition)
        self.value = { _ in value }
    }

    /// Makes an adapter for a token that is asked for with each request.
    ///
    /// - Parameters:
    ///   - scope: Where it may go; the origin of the client's base URL by default.
    ///   - condition: Which requests get it, by their tags for example; all of them by default.
    ///   - token: Gives the token, a `String` or a ``Secret``, without waiting; nil for none.
    public init(
        scope: CredentialScope = .baseURL,
        when condition: (@Sendable (RequestContext) -> Bool)? = nil,
        token: @escaping @Sendable (RequestContext) -> (any SecretConvertible)?
    ) {
        field = CredentialField(name: .authorization, scope: scope, condition: condition)
        value = { context in token(context).flatMap { CredentialField.value($0, scheme: "Bearer") } }
    }

    /// Adds the header where it is wanted.
    ///
    /// - Parameters:
    ///   - request: The request as it will be sent.
    ///   - context: The client whose base URL counts, and the tags.
    /// - Throws: ``SluiceError/Code/unsupported`` or ``SluiceError/Code/invalidURL`` where the scope is not known.
    public func adapt(_ request: inout HTTPRequest, context: RequestContext) throws {
        guard try field.isWanted(by: request, context), let value = value(context) else { return }
        request.headers.append(field.name, value.reveal())
    }
}

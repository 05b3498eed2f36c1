import SluiceHTTP

/// Adds a token of any scheme in any header to requests that do not have that header.
///
/// ```swift
/// let weather = APIClient(baseURL: "https://weather.example") {
///     $0.requestInterceptors = [CustomToken("k3y", header: "X-API-Key")]
/// }
/// ```
///
/// The header is one of the client's secrets: it does not follow a redirect to another origin.
public struct CustomToken: RequestAdapter, SecretBearing {
    private let field: CredentialField
    private let value: @Sendable (RequestContext) -> Secret?

    var secretHeader: HTTPHeaderName { field.name }

    /// Makes an adapter for a token that stays the same.
    ///
    /// - Parameters:
    ///   - token: The token, a `String` or a ``Secret``; an empty one is not sent.
    ///   - scheme: Stands before the token with a space between, `Token`; nil, the default, for the token alone.
    ///   - header: Where it stands; `Authorization` by default.
    ///   - scope: Where it may go; the origin of the client's base URL by default.
    ///   - condition: Which requests get it, by their tags for example; all of them by default.
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
    }

    /// Makes an adapter for a token that is asked for with each request.
    ///
    /// - Parameters:
    ///   - scheme: Stands before the token with a space between, `Token`; nil, the default, for the token alone.
    ///   - header: Where it stands; `Authorization` by default.
    ///   - scope: Where it may go; the origin of the client's base URL by default.
    ///   - condition: Which requests get it, by their tags for example; all of them by default.
    ///   - token: Gives the token, a `String` or a ``Secret``, without waiting; nil for none.
    public init(
        scheme: String? = nil,
        header: HTTPHeaderName = .authorization,
        scope: CredentialScope = .baseURL,
        when condition: (@Sendable (RequestContext) -> Bool)? = nil,
        token: @escaping @Sendable (RequestContext) -> (any SecretConvertible)?
    ) {
        field = CredentialField(name: header, scope: scope, condition: condition)
        value = { context in token(context).flatMap { CredentialField.value($0, scheme: scheme) } }
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

import SluiceHTTP

/// Adds a token with any scheme in any header to requests that do not have that header.
///
/// ```swift
/// let weather = APIClient(baseURL: "https://weather.example") {
///     $0.requestInterceptors = [CustomToken("k3y", header: "X-API-Key")]
/// }
/// ```
///
/// The header is treated as one of the client's secret headers: a redirect does not send it to another origin.
public struct CustomToken: RequestAdapter, SecretBearing {
    private let field: CredentialField
    private let value: @Sendable (RequestContext) -> Secret?

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

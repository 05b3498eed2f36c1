import SluiceHTTP

extension OAuth2 {
    /// The grant by which tokens are obtained: client credentials, a refresh token, a
    /// password or an authorization code.
    ///
    /// A client with a secret authenticates itself as ``Configuration/authentication`` specifies. A client
    /// without one is public and only sends its identifier (RFC 6749 §2.1). Secrets, passwords and refresh tokens
    /// are a `String` or a ``Secret``.
    public struct Grant: Sendable, CustomStringConvertible {
        enum Kind: Sendable {
            case clientCredentials
            case refreshToken(Secret)
            case password(username: String, password: Secret)
            case authorizationCode(AuthorizationCode)
        }

        struct AuthorizationCode: Sendable {
            let authorizationURL: String
            let redirectURL: String
            let issuer: String?
        }

        let kind: Kind
        let id: String
        let secret: Secret?
        let scope: String?
        let parameters: Parameters

        /// The type of the grant, without secrets.
        public var description: String {
            switch kind {
            case .clientCredentials: "client credentials"
            case .refreshToken: "refresh token"
            case .password: "password"
            case .authorizationCode: "authorization code"
            }
        }
    }
}

extension OAuth2.Grant {
    /// A token for the client itself, without a user (RFC 6749 §4.4).
    ///
    /// - Parameters:
    ///   - id: The client's identifier.
    ///   - secret: The client's secret.
    ///   - scope: The scope of the token, words separated by spaces; nil for the server's default.
    ///   - parameters: Additional parameters for the server: `["audience": "https://api.example.com"]`, or `resource`
    ///     (RFC 8707). An array is sent as one parameter for each element.
    /// - Returns: The grant. It is used again for each new token; refresh tokens are not used.
    public static func clientCredentials(
        id: String,
        secret: some SecretConvertible,
        scope: String? = nil,
        parameters: Parameters = [:]
    ) -> OAuth2.Grant {
        OAuth2.Grant(kind: .clientCredentials, id: id, secret: secret.asSecret(), scope: scope, parameters: parameters)
    }

    /// Tokens from a refresh token that was obtained elsewhere (RFC 6749 §6).
    ///
    /// A token in the store takes precedence. If the server rotates refresh tokens, the one
    /// given here is used only once.
    ///
    /// - Parameters:
    ///   - refreshToken: The first refresh token.
    ///   - id: The client's identifier.
    ///   - secret: The client's secret; nil for a public client.
    ///   - scope: The scope of the token; nil for the scope that was granted.
    ///   - parameters: Additional parameters for the server.
    /// - Returns: The grant.
    public static func refreshToken(
        _ refreshToken: some SecretConvertible,
        id: String,
        secret: (any SecretConvertible)? = nil,
        scope: String? = nil,
        parameters: Parameters = [:]
    ) -> OAuth2.Grant {
        OAuth2.Grant(
            kind: .refreshToken(refreshToken.asSecret()),
            id: id,
            secret: secret?.asSecret(),
            scope: scope,
            parameters: parameters
        )
    }

    /// A token for a user's name and password (RFC 6749 §4.3): legacy.
    ///
    /// RFC 9700 §2.4 forbids this grant, because it exposes the user's password to the client. Use
    /// ``authorizationCode(id:secret:authorizationURL:redirectURL:scope:issuer:parameters:)`` unless the
    /// server supports nothing else.
    ///
    /// - Parameters:
    ///   - username: The user's name.
    ///   - password: The user's password. It is kept in memory, because it is needed again when
    ///     no refresh token is valid.
    ///   - id: The client's identifier.
    ///   - secret: The client's secret; nil for a public client.
    ///   - scope: The scope of the token; nil for the server's default.
    ///   - parameters: Additional parameters for the server.
    /// - Returns: The grant.
    public static func password(
        username: String,
        password: some SecretConvertible,
        id: String,
        secret: (any SecretConvertible)? = nil,
        scope: String? = nil,
        parameters: Parameters = [:]
    ) -> OAuth2.Grant {
        OAuth2.Grant(
            kind: .password(username: username, password: password.asSecret()),
            id: id,
            secret: secret?.asSecret(),
            scope: scope,
            parameters: parameters
        )
    }

    /// A token that the user authorizes in a browser, with PKCE (RFC 6749 §4.1, RFC 7636).
    ///
    /// ``OAuth2/authorizationRequest(parameters:)`` creates the URL to open, and ``OAuth2/signIn(redirectedTo:for:)``
    /// takes the redirect URL. Until then, and whenever no refresh token is valid, requests fail with
    /// ``SluiceError/Code/authorizationRequired``.
    ///
    /// - Parameters:
    ///   - id: The client's identifier.
    ///   - secret: The client's secret; nil for a public client, such as an app.
    ///   - authorizationURL: The authorization endpoint.
    ///   - redirectURL: The URL that the browser is redirected to, as registered with the server.
    ///   - scope: The scope of the token; nil for the server's default.
    ///   - issuer: The server's issuer identifier, for servers that send it in the response (RFC 9207). A response with
    ///     another issuer, or with none, is refused. Nil for no check.
    ///   - parameters: Additional parameters for the authorization URL: `["prompt": "consent"]`.
    /// - Returns: The grant.
    public static func authorizationCode(
        id: String,
        secret: (any SecretConvertible)? = nil,
        authorizationURL: String,
        redirectURL: String,
        scope: String? = nil,
        issuer: String? = nil,
        parameters: Parameters = [:]
    ) -> OAuth2.Grant {
        let code = AuthorizationCode(authorizationURL: authorizationURL, redirectURL: redirectURL, issuer: issuer)
        return OAuth2.Grant(
            kind: .authorizationCode(code),
            id: id,
            secret: secret?.asSecret(),
            scope: scope,
            parameters: parameters
        )
    }
}

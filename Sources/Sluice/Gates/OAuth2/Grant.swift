import SluiceHTTP

extension OAuth2 {
    /// What a token is got for: the client's own right, a refresh token, the user's password, or the user's consent.
    ///
    /// Where it has a secret, the client proves who it is as ``Configuration/authentication`` says; without one it is public,
    /// and only names itself (RFC 6749 §2.1). Secrets, passwords and refresh tokens are given as a `String` or as a ``Secret``.
    public struct Grant: Sendable, CustomStringConvertible {
        enum Kind: Sendable {
            case clientCredentials
            case refreshToken(Secret)
            case password(username: String, password: Secret)
            case authorizationCode(AuthorizationCode)
        }

        /// Where the user is sent and comes back from.
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

        /// The kind of grant, without secrets.
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
    /// A token for the client itself, without any user (RFC 6749 §4.4).
    ///
    /// - Parameters:
    ///   - id: The client's identifier.
    ///   - secret: The client's secret.
    ///   - scope: What the token is to allow, words with spaces between them; nil for what the server thinks fit.
    ///   - parameters: What the server wants besides: `["audience": "https://api.example.com"]`, or `resource` (RFC 8707).
    ///     An array is sent as a parameter for each of its elements.
    /// - Returns: The grant. A new token is got by it each time; a refresh token is not used.
    public static func clientCredentials(
        id: String,
        secret: some SecretConvertible,
        scope: String? = nil,
        parameters: Parameters = [:]
    ) -> OAuth2.Grant {
        OAuth2.Grant(
            kind: .clientCredentials,
            id: id,
            secret: secret.asSecret(),
            scope: scope,
            parameters: parameters
        )
    }

    /// Tokens by a refresh token that was got elsewhere (RFC 6749 §6).
    ///
    /// A token in the store goes before this one: where the server gives a new refresh token with each access token, the one
    /// given here is used but once.
    ///
    /// - Parameters:
    ///   - refreshToken: The first one.
    ///   - id: The client's identifier.
    ///   - secret: The client's secret; nil for a public client.
    ///   - scope: What the token is to allow; nil for what was granted.
    ///   - parameters: What the server wants besides.
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
    /// RFC 9700 §2.4 forbids it, since it shows the user's password to the client. Use
    /// ``authorizationCode(id:secret:authorizationURL:redirectURL:scope:issuer:parameters:)`` unless the server is old and
    /// knows nothing else.
    ///
    /// - Parameters:
    ///   - username: The user's name.
    ///   - password: The user's password; kept in memory, since it is needed again when no refresh token is good.
    ///   - id: The client's identifier.
    ///   - secret: The client's secret; nil for a public client.
    ///   - scope: What the token is to allow; nil for what the server thinks fit.
    ///   - parameters: What the server wants besides.
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

    /// A token by the user's consent in a browser, with PKCE (RFC 6749 §4.1, RFC 7636).
    ///
    /// ``OAuth2/authorizationRequest(parameters:)`` makes the URL to open, ``OAuth2/signIn(redirectedTo:for:)`` takes what
    /// comes back. Until then, and whenever no refresh token is good, requests fail with
    /// ``SluiceError/Code/authorizationRequired``.
    ///
    /// - Parameters:
    ///   - id: The client's identifier.
    ///   - secret: The client's secret; nil for a public client, as all apps are.
    ///   - authorizationURL: The authorization endpoint.
    ///   - redirectURL: Where the browser is sent back to, as it is registered with the server.
    ///   - scope: What the token is to allow; nil for what the server thinks fit.
    ///   - issuer: The server's issuer identifier, where it names itself in its answers (RFC 9207): one from another server, or
    ///     from none, is then refused. Nil to take any.
    ///   - parameters: What the server wants in the authorization URL besides: `["prompt": "consent"]`.
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

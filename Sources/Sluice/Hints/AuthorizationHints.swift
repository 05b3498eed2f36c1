import SluiceFoundation
import SluiceHTTP

// Names and arguments of other libraries, and those that people try first. None can be used: each says what to write.

/// Unavailable: the message says what to write.
@available(*, unavailable, message: "Write \"OAuth2.Token\".")
public typealias OAuth2Token = OAuth2.Token

extension OAuth2 {
    /// Unavailable: the message says what to write.
    @available(
        *,
        unavailable,
        message:
            "Write \"token()\", which renews a token that has expired. A token that an API refuses is renewed without a call."
    )
    @discardableResult
    public func refresh() async throws(SluiceError) -> Token { try await token() }

    /// Unavailable: the message says what to write.
    @available(
        *,
        unavailable,
        message:
            "Write \"token()\", which renews a token that has expired. A token that an API refuses is renewed without a call."
    )
    @discardableResult
    public func refreshToken() async throws(SluiceError) -> Token { try await token() }

    /// Unavailable: the message says what to write.
    @available(*, unavailable, message: "Write \"(try? await oauth.token()) != nil\".")
    public var isSignedIn: Bool { false }

    /// Unavailable: the message says what to write.
    @available(*, unavailable, message: "Write \"(try? await oauth.token()) != nil\".")
    public var isAuthorized: Bool { false }

    /// Unavailable: the message says what to write.
    @available(*, unavailable, message: "Write \"signOut()\".")
    public func logout() async throws(SluiceError) {}

    /// Unavailable: the message says what to write.
    @available(*, unavailable, message: "Write \"signOut()\".")
    public func revoke() async throws(SluiceError) {}

    /// Unavailable: the message says what to write.
    @available(*, unavailable, message: "Write \"token().accessToken\".")
    public func accessToken() async throws(SluiceError) -> String { "" }

    /// Unavailable: the message says what to write.
    @available(*, unavailable, message: "Write \"token().accessToken\".")
    public var accessToken: String? { nil }

    /// Unavailable: the message says what to write.
    @available(
        *,
        unavailable,
        message: "Write the URL as text: \"signIn(redirectedTo: url.absoluteString, for: request)\"."
    )
    @discardableResult
    public func signIn(redirectedTo redirect: URL, for request: AuthorizationRequest) async throws(SluiceError) -> Token
    {
        try await token()
    }

    /// Unavailable: the message says what to write.
    @available(*, unavailable, message: "Write \"signIn(redirectedTo: url, for: request)\".")
    @discardableResult
    public func signIn(with redirect: URL) async throws(SluiceError) -> Token { try await token() }
}

extension OAuth2.Token {
    /// Unavailable: the message says what to write.
    @available(
        *,
        unavailable,
        message: "Compare \"expiresAt\" with the date. The gate renews a token before it expires."
    )
    public var isExpired: Bool { false }

    /// Unavailable: the message says what to write.
    @available(*, unavailable, message: "Write \"expiresAt\".")
    public var expirationDate: Date? { expiresAt }
}

extension OAuth2.Grant {
    /// Unavailable: the message says what to write.
    @available(*, unavailable, message: "Write \".clientCredentials(id: id, secret: secret, scope: \"orders.read\")\".")
    public static func clientCredentials(
        clientID: String,
        clientSecret: some SecretConvertible,
        scopes: [String]
    ) -> OAuth2.Grant { .clientCredentials(id: "", secret: "") }

    /// Unavailable: the message says what to write.
    @available(*, unavailable, message: "Separate the scopes by spaces: \"scope: \"orders.read orders.write\"\".")
    public static func clientCredentials(
        id: String,
        secret: some SecretConvertible,
        scopes: [String]
    ) -> OAuth2.Grant { .clientCredentials(id: "", secret: "") }

    /// Unavailable: the message says what to write.
    @available(
        *,
        unavailable,
        message:
            "Write \".authorizationCode(id: id, authorizationURL: url, redirectURL: redirect, scope: \"profile orders\")\"."
    )
    public static func authorizationCode(
        clientID: String,
        authorizationURL: String = "",
        redirectURI: String = "",
        scope: String? = nil,
        scopes: [String] = []
    ) -> OAuth2.Grant { .clientCredentials(id: "", secret: "") }

    /// Unavailable: the message says what to write.
    @available(
        *,
        unavailable,
        message:
            "Write \".authorizationCode(id: id, authorizationURL: url, redirectURL: redirect, scope: \"profile orders\")\"."
    )
    public static func authorizationCode(
        clientID: String,
        authorizationURL: String,
        redirectURL: String,
        scope: String? = nil,
        scopes: [String] = []
    ) -> OAuth2.Grant { .clientCredentials(id: "", secret: "") }

    /// Unavailable: the message says what to write.
    @available(*, unavailable, message: "Write \"redirectURL:\" in place of \"redirectURI:\".")
    public static func authorizationCode(
        id: String,
        secret: (any SecretConvertible)? = nil,
        authorizationURL: String,
        redirectURI: String,
        scope: String? = nil
    ) -> OAuth2.Grant { .clientCredentials(id: "", secret: "") }

    /// Unavailable: the message says what to write.
    @available(*, unavailable, message: "Separate the scopes by spaces: \"scope: \"profile orders\"\".")
    public static func authorizationCode(
        id: String,
        secret: (any SecretConvertible)? = nil,
        authorizationURL: String,
        redirectURL: String,
        scopes: [String]
    ) -> OAuth2.Grant { .clientCredentials(id: "", secret: "") }
}

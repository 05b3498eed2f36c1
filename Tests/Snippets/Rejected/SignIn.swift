import Foundation
import Sluice

// Grants and gates of OAuth 2.0, as in other libraries.

private let oauth = OAuth2(.refreshToken("r", id: "tool"), tokenURL: "https://id.example/token")

// error: Write "OAuth2.Token".
func tokenType() {
    struct Keys: TokenStore {
        func load() async throws -> OAuth2Token? { nil }
        func save(_ token: OAuth2Token) async throws {}
        func delete() async throws {}
    }
}

// error: "token()" renews an expired token.
func refreshGate() async throws {
    try await oauth.refresh()
}

// error: "token()" renews an expired token.
func refreshTokenOfAGate() async throws {
    try await oauth.refreshToken()
}

// error: Write "(try? await oauth.token()) != nil".
func isSignedIn() {
    print(oauth.isSignedIn)
}

// error: Write "signOut()".
func logout() async throws {
    try await oauth.logout()
}

// error: Write "token().accessToken".
func accessTokenFunction() async throws {
    print(try await oauth.accessToken())
}

// error: Write ".authorizationCode(id: id, authorizationURL: url, redirectURL: redirect, scope: "profile orders")".
func authorizationCodeOfAppAuth() {
    show(
        OAuth2.Grant.authorizationCode(
            clientID: "app",
            authorizationURL: "https://id.example/authorize",
            redirectURI: "app:/signed-in",
            scopes: ["profile"]
        )
    )
}

// error: Write "redirectURL:" in place of "redirectURI:".
func redirectURI() {
    show(
        OAuth2.Grant.authorizationCode(
            id: "app",
            authorizationURL: "https://id.example/authorize",
            redirectURI: "app:/signed-in",
            scope: "profile"
        )
    )
}

// error: Separate the scopes by spaces: "scope: "profile orders"".
func scopesOfACode() {
    let gate = OAuth2(
        .authorizationCode(
            id: "app",
            authorizationURL: "https://id.example/authorize",
            redirectURL: "app:/signed-in",
            scopes: ["profile", "orders"]
        ),
        tokenURL: "https://id.example/token"
    )
    show(gate)
}

// error: Write ".clientCredentials(id: id, secret: secret, scope: "orders.read")".
func clientIDAndScopes() {
    show(OAuth2.Grant.clientCredentials(clientID: "a", clientSecret: "b", scopes: ["orders"]))
}

// error: Pass text: "signIn(redirectedTo: url.absoluteString, for: request)".
func redirectedToAURL(_ url: URL) async throws {
    let request = try oauth.authorizationRequest()
    try await oauth.signIn(redirectedTo: url, for: request)
}

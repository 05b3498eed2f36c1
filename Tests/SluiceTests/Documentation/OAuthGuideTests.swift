import Foundation
import Sluice
import SluiceTesting
import XCTest

/// The article on OAuth 2.0.
final class OAuthGuideTests: XCTestCase {
    /// A keychain of the user's own.
    actor Vault {
        private var values: [String: Data] = [:]

        func data(_ name: String) throws -> Data? { values[name] }
        func write(_ data: Data, _ name: String) throws { values[name] = data }
        func remove(_ name: String) throws { values[name] = nil }
    }

    struct VaultTokenStore: TokenStore {
        let vault: Vault

        func load() async throws -> OAuth2.Token? {
            try await vault.data("oauth2").map { try JSONDecoder().decode(OAuth2.Token.self, from: $0) }
        }
        func save(_ token: OAuth2.Token) async throws {
            try await vault.write(JSONEncoder().encode(token), "oauth2")
        }
        func delete() async throws {
            try await vault.remove("oauth2")
        }
    }

    func testStoreAndTokens() async throws {
        let server = try LoopbackServer()
        server.on(
            "/token",
            .json(#"{"access_token":"a1","token_type":"Bearer","refresh_token":"r2","expires_in":3600}"#)
        )
        let vault = Vault()
        let (access, refresh) = ("a0", "r0")
        for _ in 0..<2 {
            let oauth = OAuth2(.refreshToken("r1", id: "tool"), tokenURL: "\(server.url)/token") {
                $0.store = VaultTokenStore(vault: vault)
            }
            let token = try await oauth.token()
            XCTAssertEqual(token.accessToken, "a1")
        }
        XCTAssertEqual(server.requestCount, 1)
        let oauth = OAuth2(.refreshToken("r1", id: "tool"), tokenURL: "\(server.url)/token") {
            $0.store = VaultTokenStore(vault: vault)
        }
        let token = try await oauth.token()
        print(token.accessToken, token.tokenType, token.expiresAt ?? .distantFuture, token.scope ?? "no scope")
        try await oauth.signIn(with: OAuth2.Token(accessToken: access, refreshToken: refresh))
        let stored = try await VaultTokenStore(vault: vault).load()
        XCTAssertEqual(stored, OAuth2.Token(accessToken: "a0", refreshToken: "r0"))
        try await oauth.signOut()
        let removed = try await vault.data("oauth2")
        XCTAssertNil(removed)
    }

    private func open(_ url: String) {}

    func service(_ secret: String, _ first: String) -> (APIClient, OAuth2) {
        let reports = APIClient(baseURL: "https://api.example.com") {
            $0.gates = [
                OAuth2(
                    .clientCredentials(id: "reports", secret: secret, scope: "orders.read"),
                    tokenURL: "https://id.example.com/token"
                )
            ]
        }
        let oauth = OAuth2(.refreshToken(first, id: "tool"), tokenURL: "https://id.example.com/token") {
            $0.origins = ["https://api.example.com", "https://files.example.com"]
            $0.store = FileTokenStore(URL(filePath: "/var/lib/tool/token.json"))
            $0.revocationURL = "https://id.example.com/revoke"
        }
        return (reports, oauth)
    }

    func others(_ secret: Secret, _ password: Secret) -> [OAuth2] {
        let partner = OAuth2(
            .clientCredentials(id: "reports", secret: secret, parameters: ["audience": "https://api.example.com"]),
            tokenURL: "https://id.example.com/token"
        )
        let legacy = OAuth2(
            .password(username: "ada", password: password, id: "tool"),
            tokenURL: "https://id.example.com/token"
        )
        return [partner, legacy]
    }

    func user(_ redirect: String) async throws {
        let oauth = OAuth2(
            .authorizationCode(
                id: "app",
                authorizationURL: "https://id.example.com/authorize",
                redirectURL: "com.example.app:/signed-in",
                scope: "profile orders"
            ),
            tokenURL: "https://id.example.com/token"
        )
        let request = try oauth.authorizationRequest()
        open(request.url)
        try await oauth.signIn(redirectedTo: redirect, for: request)
    }

    func testMissingSignInSendsNoRequests() async throws {
        let server = try LoopbackServer()
        let oauth = OAuth2(
            .authorizationCode(id: "app", authorizationURL: "\(server.url)/authorize", redirectURL: "app:/back"),
            tokenURL: "\(server.url)/token"
        )
        let shop = APIClient(baseURL: server.url) { $0.gates = [oauth] }
        do {
            print(try await shop.string.get("orders").sender().value)
        } catch {
            if error.code == .authorizationRequired { print("Please sign in.") }
        }
        let failure = await shop.string.get("orders").sender().result.failure
        XCTAssertEqual(failure?.code, .authorizationRequired)
        XCTAssertEqual(server.requestCount, 0)
    }

    func testDeclinedSignInFails() async throws {
        let server = try LoopbackServer()
        let oauth = OAuth2(
            .authorizationCode(id: "app", authorizationURL: "\(server.url)/authorize", redirectURL: "app:/back"),
            tokenURL: "\(server.url)/token"
        )
        let request = try oauth.authorizationRequest()
        let url = try XCTUnwrap(URL(string: request.url))
        let state = URLComponents(string: url.absoluteString)?.queryItems?.first { $0.name == "state" }?.value
        let redirect = "app:/back?error=access_denied&state=\(state ?? "")"
        do {
            try await oauth.signIn(redirectedTo: redirect, for: request)
        } catch {
            if error.authorizationError?.code == .accessDenied { print("The user declined.") }
        }
        XCTAssertEqual(server.requestCount, 0)
        let declined = try await expectError(.authorizationFailed) {
            try await oauth.signIn(redirectedTo: redirect, for: oauth.authorizationRequest())
        }
        XCTAssertEqual(declined.authorizationError?.code, .stateMismatch)
    }

    func testInvalidClientSecretFails() async throws {
        let server = try LoopbackServer()
        server.on("/token", .json(#"{"error":"invalid_client"}"#, status: .unauthorized))
        let oauth = OAuth2(.clientCredentials(id: "reports", secret: "wrong"), tokenURL: "\(server.url)/token")
        let shop = APIClient(baseURL: server.url) { $0.gates = [oauth] }
        let result = await shop.string.get("orders").sender().result
        let error = try XCTUnwrap(result.failure)
        if let cause = error.authorizationError, cause.code == .invalidClient {
            print("The secret is wrong: \(cause.detail ?? "no details").")
        }
        XCTAssertEqual(error.authorizationError?.code, .invalidClient)
    }
}

import Sluice
import SluiceTesting
import XCTest

/// The article on OAuth 2.0.
final class OAuthGuideTests: XCTestCase {
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

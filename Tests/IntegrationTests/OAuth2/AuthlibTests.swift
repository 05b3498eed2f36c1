import Foundation
import XCTest

@testable import Sluice

/// The OAuth 2.0 gate against an independent authorization server.
final class AuthlibTests: XCTestCase {
    private typealias Me = AuthlibServer.Me

    override func setUpWithError() throws {
        try XCTSkipUnless(AuthlibServer.canRun, AuthlibServer.reason)
    }

    private func me(_ client: APIClient) async throws -> Me {
        try await client.get("me").sender().value
    }

    func testClientCredentialsInHeaderAndBody() async throws {
        let server = try AuthlibServer()
        for (id, secret, authentication) in [
            ("service", "s3cret", OAuth2.ClientAuthentication.basic), ("odd: ü", "p:%+ä ~&=", .basic),
            ("poster", "p:%+ä ~&=", .body),
        ] {
            let oauth = server.gate(.clientCredentials(id: id, secret: secret, scope: "read write")) {
                $0.authentication = authentication
            }
            let client = server.client(oauth)
            for _ in 0..<3 {
                let me = try await me(client)
                XCTAssertEqual(me, Me(user: nil, client: id, scope: "read write"))
            }
            let token = try await oauth.token()
            XCTAssertEqual(token.scope, "read write")
            XCTAssertGreaterThan(token.expiresAt?.timeIntervalSinceNow ?? 0, 1000)
        }
        let state = try await server.state()
        XCTAssertEqual(state.counts["/token"], 3)
    }

    func testWrongSecretIsTypedErrorWithoutRetry() async throws {
        let server = try AuthlibServer()
        for authentication in [OAuth2.ClientAuthentication.basic, .body] {
            let oauth = server.gate(.clientCredentials(id: "service", secret: "wr0ng", scope: "read")) {
                $0.authentication = authentication
            }
            let error = await server.client(oauth).get("me", as: Me.self).sender().result.failure
            XCTAssertEqual(error?.code, .authorizationFailed)
            let cause = error?.error.authorizationError
            XCTAssertEqual(cause?.code, .invalidClient)
            XCTAssertEqual(cause?.status, .unauthorized)
            XCTAssertFalse("\(String(describing: error))".contains("wr0ng"))
        }
        let state = try await server.state()
        XCTAssertEqual(state.counts, ["/token": 2, "/state": 1])
    }

    func testRefusedGrantsAreTypedErrors() async throws {
        let server = try AuthlibServer()
        for (grant, code) in [
            (OAuth2.Grant.refreshToken("made-up", id: "web", secret: "s3cret"), OAuth2Error.Code.authorizationRequired),
            (
                .password(username: "ada", password: "wrong", id: "legacy", secret: "s3cret"),
                .init(rawValue: "invalid_request")
            ),
            (
                .password(username: "ada", password: "x", id: "service", secret: "s3cret"),
                .init(rawValue: "unauthorized_client")
            ),
            (.clientCredentials(id: "nobody", secret: "s3cret"), .invalidClient),
        ] {
            let error = await server.client(server.gate(grant)).get("me", as: Me.self).sender().result.failure
            XCTAssertEqual(error?.error.authorizationError?.code, code)
        }
    }

    func testPasswordGrantRotatesRefreshTokens() async throws {
        let server = try AuthlibServer()
        let store = MemoryTokenStore()
        let oauth = server.gate(
            .password(username: "ada", password: "pass word+ü&", id: "legacy", secret: "s3cret", scope: "read")
        ) {
            $0.store = store
        }
        let client = server.client(oauth)
        let user = try await me(client)
        XCTAssertEqual(user, Me(user: "ada", client: "legacy", scope: "read"))
        let first = await store.load()
        try await server.forget()
        let again = try await me(client)
        XCTAssertEqual(again, user)
        let second = await store.load()
        XCTAssertNotEqual(first?.refreshToken, second?.refreshToken)

        // The old refresh token is refused, and the new one is valid.
        let old = server.gate(.refreshToken(first?.refreshToken ?? "", id: "legacy", secret: "s3cret"))
        let refused = await server.client(old).get("me", as: Me.self).sender().result.failure
        XCTAssertEqual(refused?.code, .authorizationRequired)
        let new = server.gate(.refreshToken(second?.refreshToken ?? "", id: "legacy", secret: "s3cret"))
        let accepted = try await me(server.client(new))
        XCTAssertEqual(accepted, user)
    }

    func testConcurrentRequestsRefreshInvalidTokenOnce() async throws {
        let server = try AuthlibServer()
        let oauth = server.gate(
            .password(username: "ada", password: "pass word+ü&", id: "legacy", secret: "s3cret", scope: "read")
        )
        let client = server.client(oauth)
        _ = try await me(client)
        try await server.forget()
        let users = await withTaskGroup(of: String?.self) { group in
            for _ in 0..<50 {
                group.addTask { (try? await client.get("me", as: Me.self).sender().value)?.user }
            }
            return await group.reduce(into: []) { $0.append($1) }
        }
        XCTAssertEqual(users, Array(repeating: "ada", count: 50))
        let state = try await server.state()
        XCTAssertEqual(state.counts["/token"], 2)
    }

    func testAuthorizationCodeWithPKCE() async throws {
        let server = try AuthlibServer()
        for (id, secret) in [("app", nil), ("web", "s3cret")] as [(String, String?)] {
            let grant = code(server, id, secret)
            let oauth = server.gate(grant)
            let client = server.client(oauth)
            let before = await client.get("me", as: Me.self).sender().result.failure
            XCTAssertEqual(before?.code, .authorizationRequired)
            let request = try oauth.authorizationRequest()
            let redirect = try await server.browse(request.url)
            XCTAssertTrue(redirect.hasPrefix("https://app.example/back?from=id&"), redirect)
            try await oauth.signIn(redirectedTo: redirect, for: request)
            let user = try await me(client)
            XCTAssertEqual(user, Me(user: "ada", client: id, scope: "read write"))
            try await server.forget()
            let again = try await me(client)
            XCTAssertEqual(again, user)
            // A request serves once, and its code is valid once, also from another process.
            for (gate, code) in [(oauth, OAuth2Error.Code.stateMismatch), (server.gate(grant), .invalidGrant)] {
                do {
                    try await gate.signIn(redirectedTo: redirect, for: request)
                    XCTFail("The code was accepted twice.")
                } catch {
                    XCTAssertEqual(error.authorizationError?.code, code)
                }
            }
        }
    }

    func testWrongVerifierAndDeclinedSignInAreTypedErrors() async throws {
        let server = try AuthlibServer()
        let oauth = server.gate(code(server, "app", nil))
        let request = try oauth.authorizationRequest()
        let redirect = try await server.browse(request.url)
        let other = try oauth.authorizationRequest()
        let forged = OAuth2.AuthorizationRequest(url: request.url, state: request.state, verifier: other.verifier)
        let declining = try oauth.authorizationRequest(parameters: ["login_hint": "nobody"])
        let declined = try await server.browse(declining.url)
        for (redirect, request, code) in [
            (redirect, forged, OAuth2Error.Code.invalidGrant), (redirect, other, .stateMismatch),
            (declined, declining, .accessDenied),
        ] {
            do {
                try await oauth.signIn(redirectedTo: redirect, for: request)
                XCTFail("The redirect was accepted.")
            } catch {
                XCTAssertEqual(error.authorizationError?.code, code)
            }
        }
        let otherIssuer = server.gate(
            .authorizationCode(
                id: "app",
                authorizationURL: "\(server.url)/authorize",
                redirectURL: "https://app.example/back?from=id",
                issuer: "https://other.example"
            )
        )
        do {
            try await otherIssuer.signIn(redirectedTo: redirect, for: request)
            XCTFail("The redirect was accepted.")
        } catch {
            XCTAssertEqual(error.authorizationError?.code, .issuerMismatch)
        }
    }

    func testSignOutRevokesTokens() async throws {
        let server = try AuthlibServer()
        let oauth = server.gate(code(server, "app", nil))
        let client = server.client(oauth)
        let request = try oauth.authorizationRequest()
        let token = try await oauth.signIn(redirectedTo: try await server.browse(request.url), for: request)
        _ = try await me(client)
        try await oauth.signOut()
        let after = await client.get("me", as: Me.self).sender().result.failure
        XCTAssertEqual(after?.code, .authorizationRequired)
        // The token that had been stored is invalid as well.
        let direct = await APIClient(baseURL: "\(server.url)/api").string.get("me")
            .header("Authorization", "Bearer \(token.accessToken)").sender().result.failure
        XCTAssertEqual(direct?.status, .unauthorized)
        let refresh = server.gate(.refreshToken(token.refreshToken ?? "", id: "app"))
        let refused = await server.client(refresh).get("me", as: Me.self).sender().result.failure
        XCTAssertEqual(refused?.code, .authorizationRequired)
        let state = try await server.state()
        XCTAssertEqual(state.counts["/revoke"], 2)
    }

    func testInsufficientScopeReturnsResponseOfAPI() async throws {
        let server = try AuthlibServer()
        let client = server.client(server.gate(.clientCredentials(id: "service", secret: "s3cret", scope: "read")))
        let error = await client.get("admin", as: Me.self).sender().result.failure
        XCTAssertEqual(error?.status, .forbidden)
        let state = try await server.state()
        XCTAssertEqual(state.counts["/token"], 1)
    }

    private func code(_ server: AuthlibServer, _ id: String, _ secret: String?) -> OAuth2.Grant {
        .authorizationCode(
            id: id,
            secret: secret,
            authorizationURL: "\(server.url)/authorize",
            redirectURL: "https://app.example/back?from=id",
            scope: "read write",
            issuer: server.url
        )
    }
}

extension Result {
    fileprivate var failure: Failure? {
        if case .failure(let error) = self { error } else { nil }
    }
}

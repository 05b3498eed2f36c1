import Foundation
import Sluice
import SluiceTesting
import XCTest

/// Sign-in and sign-out of a user.
final class OAuth2SignInTests: XCTestCase {
    func testRequestsRequireSignIn() async throws {
        let guarded = try GuardedServer(isRefreshable: true)
        let oauth = guarded.gate(GuardedServer.user(guarded))
        let client = guarded.client(oauth)
        let before = await client.get("x")
        XCTAssertEqual(before.failure?.code, .authorizationRequired)
        XCTAssertEqual(before.failure?.error.step, .gate)
        XCTAssertEqual(guarded.server.requestCount, 0)

        let request = try oauth.authorizationRequest()
        let token = try await oauth.signIn(
            redirectedTo: "https://app.example/back?code=a%20code&state=\(request.state)",
            for: request
        )
        XCTAssertEqual(token.accessToken, "t1")
        XCTAssertEqual(token.scope, "read")
        XCTAssertEqual(
            guarded.tokenRequests.first?.text,
            "client_id=app&code=a+code&code_verifier=\(request.verifier)&grant_type=authorization_code"
                + "&redirect_uri=https%3A%2F%2Fapp.example%2Fback"
        )
        let after = try await client.string.get("x").sender().value
        XCTAssertEqual(after, "Bearer t1")
        guarded.refuse("t1")
        let refreshed = try await client.string.get("x").sender().value
        XCTAssertEqual(refreshed, "Bearer t2")
        XCTAssertEqual(
            guarded.tokenRequests.last?.text,
            "client_id=app&grant_type=refresh_token&refresh_token=r1"
        )
    }

    func testRejectsRedirectWithOtherStateOrError() async throws {
        let guarded = try GuardedServer()
        let oauth = guarded.gate(GuardedServer.user(guarded))
        let request = try oauth.authorizationRequest()
        for (redirect, code) in [
            ("?code=c&state=other", OAuth2Error.Code.stateMismatch),
            ("?error=access_denied&state=\(request.state)", .accessDenied),
        ] {
            do {
                _ = try await oauth.signIn(redirectedTo: redirect, for: request)
                XCTFail("The sign-in succeeded.")
            } catch {
                XCTAssertEqual(error.authorizationError?.code, code)
            }
        }
        XCTAssertEqual(guarded.server.requestCount, 0)
    }

    func testRefusedCodeKeepsPreviousToken() async throws {
        let guarded = try GuardedServer(isRefreshable: true)
        let store = WatchedTokenStore(.init(accessToken: "old", refreshToken: "r"))
        let oauth = guarded.gate(GuardedServer.user(guarded)) { $0.store = store }
        guarded.server.on(.post, "/token", .json(#"{"error":"invalid_grant"}"#, status: .badRequest))
        let request = try oauth.authorizationRequest()
        do {
            _ = try await oauth.signIn(redirectedTo: "?code=c&state=\(request.state)", for: request)
            XCTFail("The sign-in succeeded.")
        } catch {
            XCTAssertEqual(error.code, .authorizationFailed)
            XCTAssertEqual(error.authorizationError?.code, .invalidGrant)
        }
        let carried = try await guarded.client(oauth).string.get("x").sender().value
        XCTAssertEqual(carried, "Bearer old")
        XCTAssertEqual(store.token.read?.refreshToken, "r")
    }

    func testRequestsWaitForSignInInProgress() async throws {
        let guarded = try GuardedServer()
        let signal = LoopbackSignal()
        guarded.server.on(.post, "/token", .after(signal, .token("t")))
        let oauth = guarded.gate(GuardedServer.user(guarded))
        let request = try oauth.authorizationRequest()
        let signingIn = Task { try await oauth.signIn(redirectedTo: "?code=c&state=\(request.state)", for: request) }
        await guarded.server.waitForRequests(1)
        let client = guarded.client(oauth)
        let waiting = Task { await client.get("x") }
        // Cancelling the caller does not discard the code.
        signingIn.cancel()
        signal.fire()
        _ = try await signingIn.value
        let carried = try await waiting.value.get()
        XCTAssertEqual(carried, "Bearer t")
    }

    func testSignInWithTokenStoresValidTokenAndRejectsInvalid() async throws {
        let guarded = try GuardedServer()
        let store = WatchedTokenStore()
        let oauth = guarded.gate(GuardedServer.user(guarded)) { $0.store = store }
        try await oauth.signIn(with: .init(accessToken: "mine"))
        let carried = try await guarded.client(oauth).string.get("x").sender().value
        XCTAssertEqual(carried, "Bearer mine")
        XCTAssertEqual(store.token.read?.accessToken, "mine")
        for token in [OAuth2.Token(accessToken: ""), .init(accessToken: "a\r\nX: y")] {
            do {
                try await oauth.signIn(with: token)
                XCTFail("The sign-in succeeded.")
            } catch {
                XCTAssertEqual(error.authorizationError?.code, .unsupported)
            }
        }
        do {
            try await oauth.signIn(with: .init(accessToken: "late", expiresAt: .distantPast))
            XCTFail("The sign-in succeeded.")
        } catch {
            XCTAssertEqual(error.authorizationError?.code, .expiredToken)
        }
        XCTAssertEqual(store.token.read?.accessToken, "mine")
        let afterwards = try await guarded.client(oauth).string.get("x").sender().value
        XCTAssertEqual(afterwards, "Bearer mine")
    }

    func testExpiredTokenWithRefreshTokenSignsIn() async throws {
        let guarded = try GuardedServer()
        guarded.server.on(.post, "/token", .token("new"))
        let oauth = guarded.gate(GuardedServer.user(guarded))
        try await oauth.signIn(with: .init(accessToken: "old", expiresAt: .distantPast, refreshToken: "r"))
        let carried = try await guarded.client(oauth).string.get("x").sender().value
        XCTAssertEqual(carried, "Bearer new")
    }

    func testRequestOfEarlierUserIsNotReplayedForNextUser() async throws {
        let guarded = try GuardedServer()
        let signal = LoopbackSignal()
        guarded.server.on(.post, "/api/orders", .after(signal, .status(.unauthorized)))
        let oauth = guarded.gate(GuardedServer.user(guarded))
        let client = guarded.client(oauth)
        try await oauth.signIn(with: .init(accessToken: "first"))
        let order = Task { await client.string.post("orders").idempotent().sender().response.head?.status }
        await guarded.server.waitForRequests(1)
        try await oauth.signOut()
        try await oauth.signIn(with: .init(accessToken: "second"))
        signal.fire()
        let status = await order.value
        XCTAssertEqual(status, .unauthorized)
        let orders = guarded.server.requests(to: "/api/orders").map { $0.headers[.authorization] }
        XCTAssertEqual(orders, ["Bearer first"])
    }

    func testSignOutRevokesAndDeletesTokens() async throws {
        let guarded = try GuardedServer()
        guarded.server.on(.post, "/revoke", .status(.ok))
        let store = WatchedTokenStore(.init(accessToken: "a", refreshToken: "r"))
        let oauth = guarded.gate(GuardedServer.user(guarded)) {
            $0.store = store
            $0.revocationURL = "\(guarded.server.url)/revoke"
        }
        // A deadline that has passed leaves no token that nobody can revoke any more.
        let outcome = await Deadline.$current.withValue(.after(.zero)) {
            do throws(SluiceError) {
                return Result<Void, SluiceError>.success(try await oauth.signOut())
            } catch {
                return .failure(error)
            }
        }
        try outcome.get()
        XCTAssertEqual(
            guarded.server.requests(to: "/revoke").map(\.text),
            [
                "client_id=app&token=r&token_type_hint=refresh_token",
                "client_id=app&token=a&token_type_hint=access_token",
            ]
        )
        XCTAssertNil(store.token.read)
        let after = await guarded.client(oauth).get("x")
        XCTAssertEqual(after.failure?.code, .authorizationRequired)
        // No token is left to revoke.
        try await oauth.signOut()
        XCTAssertEqual(guarded.server.requests(to: "/revoke").count, 2)
    }

    func testSignOutDiscardsTokenIfRevocationOrStoreFails() async throws {
        let guarded = try GuardedServer()
        guarded.server.on(.post, "/revoke", .status(.serviceUnavailable))
        let store = WatchedTokenStore(.init(accessToken: "a"))
        let oauth = guarded.gate(GuardedServer.user(guarded)) {
            $0.store = store
            $0.revocationURL = "\(guarded.server.url)/revoke"
        }
        let client = guarded.client(oauth)
        _ = await client.get("x")
        do {
            try await oauth.signOut()
            XCTFail("The sign-out succeeded.")
        } catch {
            XCTAssertEqual(error.authorizationError?.code, .invalidResponse)
            XCTAssertEqual(error.authorizationError?.status, .serviceUnavailable)
        }
        XCTAssertNil(store.token.read)
        try await oauth.signIn(with: .init(accessToken: "b"))
        store.isFailing.change { $0 = true }
        do {
            try await oauth.signOut()
            XCTFail("The sign-out succeeded.")
        } catch {
            XCTAssertEqual(error.authorizationError?.code, .storeFailed)
        }
        XCTAssertEqual(guarded.server.requests(to: "/revoke").last?.text.contains("token=b"), true)
        let after = await client.get("x")
        XCTAssertEqual(after.failure?.code, .authorizationRequired)
    }

    func testSignOutReportsUnreadableStore() async throws {
        struct Unreadable: TokenStore {
            struct Failure: Error {}
            func load() async throws -> OAuth2.Token? { throw Failure() }
            func save(_ token: OAuth2.Token) async throws {}
            func delete() async throws {}
        }
        let guarded = try GuardedServer()
        let oauth = guarded.gate(GuardedServer.user(guarded)) {
            $0.store = Unreadable()
            $0.revocationURL = "\(guarded.server.url)/revoke"
        }
        do {
            try await oauth.signOut()
            XCTFail("The sign-out succeeded.")
        } catch {
            XCTAssertEqual(error.authorizationError?.code, .storeFailed)
        }
        XCTAssertEqual(guarded.server.requests(to: "/revoke").count, 0)
        let after = await guarded.client(oauth).get("x")
        XCTAssertEqual(after.failure?.code, .authorizationRequired)
    }

    func testSignOutWaitsForRefreshAndRevokesNewToken() async throws {
        let guarded = try GuardedServer()
        guarded.server.on(.post, "/revoke", .status(.ok))
        let signal = LoopbackSignal()
        guarded.server.on(.post, "/token", .after(signal, .token("t", refresh: "r1")))
        let oauth = guarded.gate(.refreshToken("r0", id: "i")) { $0.revocationURL = "\(guarded.server.url)/revoke" }
        let client = guarded.client(oauth)
        let call = Task { await client.get("x") }
        await guarded.server.waitForRequests(1)
        let leaving = Task { try await oauth.signOut() }
        signal.fire()
        _ = await call.value
        try await leaving.value
        XCTAssertEqual(guarded.server.requests(to: "/revoke").first?.text.contains("token=r1&"), true)
        let after = await client.get("x")
        XCTAssertEqual(after.failure?.code, .authorizationRequired)
    }

    func testClientCredentialsWorkAfterSignOut() async throws {
        let guarded = try GuardedServer()
        let oauth = guarded.gate()
        let client = guarded.client(oauth)
        _ = await client.get("x")
        try await oauth.signOut()
        let carried = try await client.string.get("x").sender().value
        XCTAssertEqual(carried, "Bearer t2")
    }

    func testFileStoreServesNextRun() async throws {
        let guarded = try GuardedServer(isRefreshable: true)
        let url = FileManager.default.temporaryDirectory.appending(path: "sluice-\(UUID().uuidString).json")
        defer { try? FileManager.default.removeItem(at: url) }
        for expected in ["Bearer t1", "Bearer t1"] {
            let oauth = guarded.gate(.refreshToken("r0", id: "i")) { $0.store = FileTokenStore(url) }
            let carried = try await guarded.client(oauth).string.get("x").sender().value
            XCTAssertEqual(carried, expected)
        }
        guarded.refuse("t1")
        let oauth = guarded.gate(.refreshToken("r0", id: "i")) { $0.store = FileTokenStore(url) }
        let carried = try await guarded.client(oauth).string.get("x").sender().value
        XCTAssertEqual(carried, "Bearer t2")
        XCTAssertEqual(guarded.tokenRequests.last?.text, "client_id=i&grant_type=refresh_token&refresh_token=r1")
    }
}

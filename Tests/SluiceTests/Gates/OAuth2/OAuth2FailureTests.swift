import Foundation
import SluiceTesting
import XCTest

@testable import Sluice

/// Authorization servers that fail or violate the standard.
final class OAuth2FailureTests: XCTestCase {
    private static let answers: [(LoopbackResponse, OAuth2Error.Code)] = [
        (.json(#"{"error":"invalid_client"}"#, status: .unauthorized), .invalidClient),
        (.json(#"{"error":"unsupported_grant_type"}"#, status: .badRequest), .init(rawValue: "unsupported_grant_type")),
        (.json(#"{"error":"invalid_grant"}"#, status: .badRequest), .invalidGrant),
        (.json(#"{"error":"slow_down"}"#), OAuth2Error.Code(rawValue: "slow_down")),
        (.status(.badRequest), .invalidResponse), (.status(.internalServerError), .invalidResponse),
        (.status(.noContent), .invalidResponse), (.text("<html>Welcome</html>"), .invalidResponse),
        (.text("<html>Oops</html>", status: .badGateway), .invalidResponse), (.json("{}"), .invalidResponse),
        (.json(#"{"access_token":"t"}"#), .invalidResponse),
        (.json(#"{"access_token":"t","token_type":"mac"}"#), .invalidResponse),
        (.json(#"{"access_token":"t","token_type":"mac"}"#), .invalidResponse),
        (.token("t", lifetime: 0), .expiredToken), (.token("t", lifetime: -1), .expiredToken),
        (.drop, .unreachable), (.reset, .unreachable),
        (.truncated(Data("{".utf8), announced: 100), .unreachable),
        (.raw("garbage\r\n\r\n", thenClose: true), .unreachable),
        (.redirect(to: "/token2", status: .temporaryRedirect), .invalidResponse),
        (.redirect(to: "/token2", status: .seeOther), .invalidResponse),
    ]
    /// Answers without an end, which need a short time-out.
    private static let endlessAnswers: [(LoopbackResponse, OAuth2Error.Code)] = [
        (.hang, .unreachable), (.endless(chunk: Data(repeating: 32, count: 1 << 16)), .unreachable),
    ]

    func testFailedTokenRequestIsTypedErrorAndNotRepeated() async throws {
        for (index, (answer, code)) in (Self.answers + Self.endlessAnswers).enumerated() {
            let guarded = try GuardedServer()
            guarded.server.on(.post, "/token", answer)
            guarded.server.on("/token2", .token("stolen"))
            let timeout: Duration = index < Self.answers.count ? .seconds(30) : .seconds(4)
            let client = guarded.client(guarded.gate { $0.timeout = timeout })
            let result = await client.get("x")
            XCTAssertEqual(result.oauth2?.code, code, "answer \(index): \(result)")
            XCTAssertEqual(result.failure?.code, .authorizationFailed, "answer \(index)")
            XCTAssertEqual(result.failure?.error.step, .gate)
            XCTAssertEqual(guarded.tokenRequests.count, 1, "answer \(index)")
            XCTAssertEqual(guarded.server.requestCount, 1, "answer \(index)")
            XCTAssertFalse("\(result)".contains("secret"))
        }
    }

    func testTokenFailureFailsWaitersAndLaterRequestRetries() async throws {
        let guarded = try GuardedServer()
        let signal = LoopbackSignal()
        guarded.server.on(.post, "/token", .after(signal, .status(.serviceUnavailable)), .token("t"))
        let oauth = guarded.gate()
        let client = guarded.client(oauth)
        let tasks = (0..<20).map { _ in Task { await client.get("x").oauth2?.code } }
        try await waitUntil("all requests wait for the token") { oauth.shared.withLock { $0.state.waiting } == 20 }
        signal.fire()
        for task in tasks {
            let code = await task.value
            XCTAssertEqual(code, .invalidResponse)
        }
        XCTAssertEqual(guarded.server.requestCount, 1)
        // A request after the failure gets the token of the next attempt.
        let carried = try await client.string.get("x").sender().value
        XCTAssertEqual(carried, "Bearer t")
    }

    func testMissingTokenTypeIsAcceptedOnRequest() async throws {
        for accepts in [false, true] {
            let guarded = try GuardedServer()
            guarded.server.on(.post, "/token", .json(#"{"access_token":"t"}"#))
            guarded.server.on("/api/x", .text("ok"))
            let client = guarded.client(guarded.gate { $0.acceptsMissingTokenType = accepts })
            let result = await client.get("x")
            XCTAssertEqual(result.oauth2?.code, accepts ? nil : .invalidResponse)
            XCTAssertEqual(guarded.server.requests(to: "/api/x").count, accepts ? 1 : 0)
        }
    }

    func testMarginDeterminesWhenATokenIsReplaced() async throws {
        for (margin, tokens) in [(Duration.seconds(5), 1), (.seconds(20), 2)] {
            let guarded = try GuardedServer(lifetime: 100)
            let clock = TestClock()
            let client = guarded.client(guarded.gate { $0.refreshMargin = margin }, clock: clock)
            _ = await client.get("x")
            clock.advance(by: .seconds(90))
            _ = await client.get("x")
            XCTAssertEqual(guarded.tokenRequests.count, tokens)
        }
    }

    // Some servers return the same token until it expires. One resource may refuse it, and others accept it.
    func testRefusalOfAReissuedTokenIsTheResponse() async throws {
        let guarded = try GuardedServer()
        guarded.server.on(.post, "/token", .token("same"))
        guarded.server.on("/api/admin", .text("no", status: .unauthorized))
        let clock = TestClock()
        let client = guarded.client(guarded.gate(), clock: clock)
        for _ in 0..<10 {
            let refused = await client.get("admin")
            XCTAssertEqual(refused.failure?.status, .unauthorized)
            XCTAssertEqual(refused.failure?.body, Data("no".utf8))
            let text = try await client.string.get("x").sender().value
            XCTAssertEqual(text, "Bearer same")
        }
        // The first refusal leads to a second token, and the request is sent again with it.
        XCTAssertEqual(guarded.tokenRequests.count, 2)
        XCTAssertEqual(guarded.server.requests(to: "/api/admin").count, 11)
        clock.advance(by: .seconds(11))
        guarded.server.on(.post, "/token", .token("new"))
        _ = await client.get("admin")
        XCTAssertEqual(guarded.tokenRequests.count, 3)
        let text = try await client.string.get("x").sender().value
        XCTAssertEqual(text, "Bearer new")
    }

    func testWaitsAsLongAsTheAuthorizationServerAsks() async throws {
        let guarded = try GuardedServer()
        let clock = TestClock()
        let client = guarded.client(guarded.gate(), clock: clock)
        guarded.server.on(
            .post,
            "/token",
            .status(.tooManyRequests, headers: ["Retry-After": "60"]),
            .token("t")
        )
        for _ in 0..<3 {
            let result = await client.get("x")
            XCTAssertEqual(result.oauth2?.status, .tooManyRequests)
            clock.advance(by: .seconds(19))
        }
        XCTAssertEqual(guarded.tokenRequests.count, 1)
        clock.advance(by: .seconds(3))
        let carried = try await client.string.get("x").sender().value
        XCTAssertEqual(carried, "Bearer t")
    }

    func testUsesValidTokenWhileAuthorizationServerIsDown() async throws {
        let guarded = try GuardedServer(lifetime: 3600)
        let clock = TestClock()
        let client = guarded.client(guarded.gate(), clock: clock)
        _ = await client.get("x")
        guarded.server.on(.post, "/token", .drop)
        clock.advance(by: .seconds(3550))
        let carried = try await client.string.get("x").sender().value
        XCTAssertEqual(carried, "Bearer t1")
        clock.advance(by: .seconds(50))
        let result = await client.get("x")
        XCTAssertEqual(result.oauth2?.code, .unreachable)
        let cause = result.oauth2?.underlyingError as? SluiceError
        XCTAssertEqual(cause?.code, .connectionLost)
        // The token request contained the client secret, so it is not in the error.
        XCTAssertNil(cause?.request)
    }

    func testUsesValidTokenWhileAuthorizationServerHangs() async throws {
        let guarded = try GuardedServer(lifetime: 3600)
        let clock = TestClock()
        let oauth = guarded.gate()
        let client = guarded.client(oauth, clock: clock)
        _ = await client.get("x")
        guarded.server.on(.post, "/token", .hang)
        clock.advance(by: .seconds(3550))
        let waiting = (0..<3).map { _ in Task { await client.get("x") } }
        try await waitUntil("all requests wait for the token") { oauth.shared.withLock { $0.state.waiting } == 3 }
        await guarded.server.waitForRequests(3)
        await eventually { clock.pendingSleeps.contains(.seconds(2)) }
        clock.advance(by: .seconds(2))
        for task in waiting {
            let carried = try await task.value.get()
            XCTAssertEqual(carried, "Bearer t1")
        }
        // Later ones do not wait, as long as the server hangs and the token is valid.
        for _ in 0..<2 {
            let carried = try await client.string.get("x").sender().value
            XCTAssertEqual(carried, "Bearer t1")
            clock.advance(by: .seconds(20))
        }
        XCTAssertEqual(guarded.tokenRequests.count, 2)
    }

    func testUsesStoredTokenThatWasLoadedLateWhileAuthorizationServerHangs() async throws {
        struct SlowStore: TokenStore {
            let isLoaded: AsyncSignal
            let token: OAuth2.Token

            func load() async throws -> OAuth2.Token? {
                await isLoaded.wait()
                return token
            }
            func save(_ token: OAuth2.Token) async throws {}
            func delete() async throws {}
        }
        let guarded = try GuardedServer()
        guarded.server.on(.post, "/token", .hang)
        let clock = TestClock()
        let isLoaded = AsyncSignal()
        let token = OAuth2.Token(accessToken: "old", expiresAt: clock.date + 30)
        let store = SlowStore(isLoaded: isLoaded, token: token)
        let client = guarded.client(guarded.gate { $0.store = store }, clock: clock)
        let request = Task { await client.get("x") }
        await eventually { clock.pendingSleeps.contains(.seconds(2)) }
        clock.advance(by: .seconds(2))
        await eventually { clock.pendingSleeps.contains(.seconds(2)) }
        isLoaded.open()
        await guarded.server.waitForRequests(1)
        clock.advance(by: .seconds(2))
        let carried = try await request.value.get()
        XCTAssertEqual(carried, "Bearer old")
    }

    func testRejectsInvalidTokenURL() async throws {
        let guarded = try GuardedServer()
        for url in ["", "id.example/token", "ftp://id.example/token", "https://u:p@id.example/"] {
            let result = await guarded.client(OAuth2(.clientCredentials(id: "i", secret: "s"), tokenURL: url)).get("x")
            XCTAssertEqual(result.oauth2?.code, .unreachable, url)
        }
        XCTAssertEqual(guarded.server.requestCount, 0)
    }

    func testErrorTextsContainNoSecret() async throws {
        let guarded = try GuardedServer()
        let echo = #"{"error":"invalid_grant","error_description":"unknown: first-refresh, client-secret"}"#
        guarded.server.on(.post, "/token", .json(echo, status: .badRequest))
        let oauth = guarded.gate(.refreshToken("first-refresh", id: "i", secret: "client-secret"))
        let result = await guarded.client(oauth).get("x")
        XCTAssertEqual(result.failure?.code, .authorizationRequired)
        XCTAssertEqual((result.oauth2?.underlyingError as? OAuth2Error)?.detail, "unknown: …, …")
        XCTAssertEqual(result.oauth2?.detail, "the refresh token is no longer valid (unknown: …, …)")
        let shown = "\(result) \(result.failure?.error.expandedDescription ?? "") \(String(reflecting: result.oauth2))"
        XCTAssertFalse(shown.contains("first-refresh"))
        XCTAssertFalse(shown.contains("client-secret"))
    }

    func testUnreadableStoreFailsRequestsAndIsNotOverwritten() async throws {
        let guarded = try GuardedServer()
        let store = WatchedTokenStore(.init(accessToken: "stored"))
        store.isFailing.change { $0 = true }
        let client = guarded.client(guarded.gate { $0.store = store })
        let result = await client.get("x")
        XCTAssertEqual(result.oauth2?.code, .storeFailed)
        XCTAssertTrue(result.oauth2?.underlyingError is WatchedTokenStore.Failure)
        XCTAssertEqual(store.calls.read, ["load"])
        store.isFailing.change { $0 = false }
        let carried = try await client.string.get("x").sender().value
        XCTAssertEqual(carried, "Bearer stored")
        XCTAssertEqual(guarded.tokenRequests.count, 0)
    }

    func testUnsavedTokenIsHeldUntilSaveSucceeds() async throws {
        let guarded = try GuardedServer(isRefreshable: true)
        let store = WatchedTokenStore(.init(accessToken: "old", refreshToken: "r0"))
        let client = guarded.client(guarded.gate(GuardedServer.user(guarded)) { $0.store = store })
        _ = await client.get("x")
        guarded.refuse("old")
        store.isFailing.change { $0 = true }
        for _ in 0..<3 {
            let result = await client.get("x")
            XCTAssertEqual(result.oauth2?.code, .storeFailed)
        }
        XCTAssertEqual(guarded.tokenRequests.count, 1)
        XCTAssertFalse(guarded.server.requests(to: "/api/x").contains { $0.headers[.authorization] == "Bearer t1" })
        store.isFailing.change { $0 = false }
        let carried = try await client.string.get("x").sender().value
        XCTAssertEqual(carried, "Bearer t1")
        XCTAssertEqual(store.token.read?.refreshToken, "r1")
        XCTAssertEqual(guarded.tokenRequests.count, 1)
    }
}

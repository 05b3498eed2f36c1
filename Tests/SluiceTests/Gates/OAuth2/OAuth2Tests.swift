import Foundation
import Sluice
import SluiceTesting
import XCTest

/// Client credentials, and the tokens of requests.
final class OAuth2Tests: XCTestCase {
    func testRequestsCarryTokenFetchedOnce() async throws {
        let guarded = try GuardedServer()
        let oauth = guarded.gate(.clientCredentials(id: "my app", secret: "a:b%c+d~/=*\u{E9}", scope: "read write"))
        XCTAssertFalse(oauth.reservesResource)
        let client = APIClient(baseURL: "\(guarded.server.url)/api") {
            $0.gates = [oauth]
            $0.headers["X-API-Key"] = "secret of the API"
            $0.headers["Cookie"] = "session=1"
        }
        for _ in 0..<3 {
            let carried = try await client.string.get("users").sender().value
            XCTAssertEqual(carried, "Bearer t1")
        }
        XCTAssertEqual(guarded.tokenRequests.count, 1)
        let request = try XCTUnwrap(guarded.tokenRequests.first)
        XCTAssertEqual(request.method, .post)
        XCTAssertEqual(request.text, "grant_type=client_credentials&scope=read+write")
        XCTAssertEqual(request.headers[.contentType], "application/x-www-form-urlencoded")
        XCTAssertEqual(request.headers[.accept], "application/json")
        let basic = Data("my%20app:a%3Ab%25c%2Bd~/=*%C3%A9".utf8).base64EncodedString()
        XCTAssertEqual(request.headers[.authorization], "Basic \(basic)")
        XCTAssertNil(request.headers["X-API-Key"])
        XCTAssertNil(request.headers[.cookie])
    }

    func testRequestThatHasWaitedAtALimitCarriesTheNewestToken() async throws {
        let guarded = try GuardedServer(lifetime: 100)
        let clock = TestClock()
        let signal = LoopbackSignal()
        guarded.server.on("/slow", .after(signal, .text("")))
        let limit = ConcurrencyLimit(1)
        let client = guarded.client(guarded.gate(), limit, clock: clock)
        let slow = Task { await client.string.get("\(guarded.server.url)/slow").sender().response.status }
        // The other request is for the token.
        await guarded.server.waitForRequests(2)
        let first = Task { await client.get("x") }
        await eventually { limit.waiting == 1 }
        clock.advance(by: .seconds(95))
        let second = Task { await client.get("x") }
        await eventually { limit.waiting == 2 }
        signal.fire()
        let (status, results) = (await slow.value, [await first.value, await second.value])
        XCTAssertEqual(status, .ok)
        XCTAssertEqual(try results.map { try $0.get() }, ["Bearer t2", "Bearer t2"])
    }

    func testTokenEndpointIsTextOrURL() async throws {
        let guarded = try GuardedServer()
        let server = try XCTUnwrap(URL(string: guarded.server.url))
        let grant = OAuth2.Grant.clientCredentials(id: "id", secret: "secret")
        for oauth in [
            OAuth2(grant, tokenURL: guarded.tokenURL), OAuth2(grant, tokenURL: server.appending(path: "token")),
        ] {
            let carried = try await guarded.client(oauth).string.get("x").sender().value
            XCTAssertTrue(carried.hasPrefix("Bearer t"))
        }
        XCTAssertEqual(guarded.tokenRequests.count, 2)
        let named = OAuth2(grant, tokenURL: server) { $0.name = "files" }
        XCTAssertEqual(named.name, "files")
    }

    func testSendsClientCredentialsAndExtraParametersInBody() async throws {
        let guarded = try GuardedServer()
        let grant = OAuth2.Grant.clientCredentials(
            id: "id&",
            secret: "s=1",
            parameters: ["audience": "https://api.example", "resource": ["a", "b"], "grant_type": "mine"]
        )
        let oauth = guarded.gate(grant) { $0.authentication = .body }
        _ = try await guarded.client(oauth).string.get("x").sender().value
        let request = try XCTUnwrap(guarded.tokenRequests.first)
        XCTAssertEqual(
            request.text,
            "audience=https%3A%2F%2Fapi.example&client_id=id%26&client_secret=s%3D1&grant_type=client_credentials"
                + "&resource=a&resource=b"
        )
        XCTAssertNil(request.headers[.authorization])
    }

    func testPasswordGrantRefreshesWithRefreshToken() async throws {
        let guarded = try GuardedServer(lifetime: 100, isRefreshable: true)
        let clock = TestClock()
        let oauth = guarded.gate(.password(username: "ada", password: "p w", id: "app", scope: "x"))
        let client = guarded.client(oauth, clock: clock)
        _ = try await client.string.get("x").sender().value
        clock.advance(by: .seconds(90))
        let carried = try await client.string.get("x").sender().value
        XCTAssertEqual(carried, "Bearer t2")
        XCTAssertEqual(
            guarded.tokenRequests.map(\.text),
            [
                "client_id=app&grant_type=password&password=p+w&scope=x&username=ada",
                "client_id=app&grant_type=refresh_token&refresh_token=r1",
            ]
        )
    }

    func testReplacesTokenBeforeExpiry() async throws {
        let guarded = try GuardedServer(lifetime: 3600)
        let clock = TestClock()
        let client = guarded.client(guarded.gate(), clock: clock)
        var carried: [String] = []
        for seconds in [0, 3539, 1, 0, 3540] {
            clock.advance(by: .seconds(seconds))
            carried.append(try await client.string.get("x").sender().value)
        }
        XCTAssertEqual(carried, ["t1", "t1", "t2", "t2", "t3"].map { "Bearer \($0)" })
    }

    func testReplacesRefusedTokenAndResendsRequest() async throws {
        let guarded = try GuardedServer()
        let client = guarded.client(guarded.gate())
        _ = try await client.string.get("x").sender().value
        guarded.refuse("t1")
        let carried = try await client.string.post("x").json(["a": 1]).sender().value
        XCTAssertEqual(carried, "Bearer t2")
        let sent = guarded.server.requests(to: "/api/x").suffix(2)
        XCTAssertEqual(sent.map { $0.headers[.authorization] }, ["Bearer t1", "Bearer t2"])
        XCTAssertEqual(sent.map(\.text), [#"{"a":1}"#, #"{"a":1}"#])
        XCTAssertEqual(guarded.tokenRequests.count, 2)
    }

    func testSecondRefusalIsOutcomeAndKeepsNewToken() async throws {
        let guarded = try GuardedServer()
        guarded.server.on("/api/closed", .status(.unauthorized))
        let client = guarded.client(guarded.gate())
        let result = await client.get("closed")
        XCTAssertEqual(result.failure?.code, .unacceptableStatus)
        XCTAssertEqual(result.failure?.status, .unauthorized)
        XCTAssertEqual(guarded.server.requests(to: "/api/closed").count, 2)
        XCTAssertEqual(guarded.tokenRequests.count, 2)
        let carried = try await client.string.get("open").sender().value
        XCTAssertEqual(carried, "Bearer t2")
    }

    func testLimitsRefreshesIfEveryTokenIsRefused() async throws {
        let guarded = try GuardedServer()
        guarded.server.on("/api/closed", .status(.unauthorized))
        let client = guarded.client(guarded.gate())
        for _ in 0..<20 { _ = await client.get("closed") }
        XCTAssertEqual(guarded.tokenRequests.count, 5)
        XCTAssertEqual(guarded.server.requests(to: "/api/closed").count, 24)
        let carried = try await client.string.get("open").sender().value
        XCTAssertEqual(carried, "Bearer t5")
    }

    func testDoesNotRefreshAfterOtherRefusals() async throws {
        let guarded = try GuardedServer()
        let challenge = #"Bearer error="insufficient_scope", scope="admin""#
        guarded.server.on("/api/admin", .status(.unauthorized, headers: ["WWW-Authenticate": challenge]))
        guarded.server.on("/api/forbidden", .status(.forbidden))
        let client = guarded.client(guarded.gate())
        _ = await client.get("admin")
        _ = await client.get("forbidden")
        XCTAssertEqual(guarded.server.requestCount, 3)
    }

    func testDoesNotResendOneShotBodyAfterRefusal() async throws {
        let guarded = try GuardedServer()
        let client = guarded.client(guarded.gate())
        _ = await client.get("x")
        guarded.refuse("t1")
        let chunks = AsyncStream<Data> { continuation in
            continuation.yield(Data("once".utf8))
            continuation.finish()
        }
        let result = await client.string.post("stream").body(.stream(chunks)).sender().result
        XCTAssertEqual(result.failure?.status, .unauthorized)
        XCTAssertEqual(guarded.server.requests(to: "/api/stream").count, 1)
        let carried = try await client.string.get("x").sender().value
        XCTAssertEqual(carried, "Bearer t2")
    }

    func testRequestBypassesGateByName() async throws {
        let guarded = try GuardedServer()
        let client = guarded.client(guarded.gate { $0.name = "shop" })
        let without = await client.string.get("x").withoutGate(named: "shop").sender().result
        XCTAssertEqual(without.failure?.status, .unauthorized)
        XCTAssertEqual(guarded.tokenRequests.count, 0)
    }

    func testTokenIsAvailableForOtherUses() async throws {
        let guarded = try GuardedServer()
        let oauth = guarded.gate()
        let token = try await oauth.token()
        XCTAssertEqual(token.accessToken, "t1")
        let carried = try await guarded.client(oauth).string.get("x").sender().value
        XCTAssertEqual(carried, "Bearer t1")
    }
}

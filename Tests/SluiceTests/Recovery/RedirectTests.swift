import Sluice
import SluiceTesting
import XCTest

final class RedirectTests: XCTestCase {
    func testARedirectIsFollowedAndTheResponseSaysWhereItEnded() async throws {
        let server = try LoopbackServer()
        server.on("/old", .redirect(to: "/new?x=1"))
        server.on("/new", .echo)
        let request: APIRequest<LoopbackEcho, APIError> = APIClient(baseURL: server.url).codable.request("old")
        let response = await request.sender().response
        XCTAssertEqual(try response.result.get().target, "/new?x=1")
        XCTAssertEqual(response.request?.url, "\(server.url)/new?x=1")
    }

    func testAPolicyOfNoneGivesTheRedirectItself() async throws {
        let server = try LoopbackServer()
        server.on("/old", .redirect(to: "/new"))
        let client = APIClient(baseURL: server.url) { $0.redirects = .none }
        let error = await client.data.request("old").sender().result.failure
        XCTAssertEqual(error?.status, .found)
        XCTAssertEqual(error?.response?.headers[.location], "/new")
    }

    func testACircleIsAnError() async throws {
        let server = try LoopbackServer()
        server.on("/a", .redirect(to: "/b"))
        server.on("/b", .redirect(to: "/a"))
        let client = APIClient(baseURL: server.url)
        let error = await client.data.request("a").sender().result.failure
        XCTAssertEqual(error?.code, .redirectLoop)
        XCTAssertEqual(error?.error.step, .recovery)
        XCTAssertEqual(server.requestCount, 2)
        server.on("/c", .text("fine"))
        let data = try await client.data.request("c").sender().value
        XCTAssertEqual(data, Data("fine".utf8))
    }

    func testMoreRedirectsThanAllowedAreAnError() async throws {
        let server = try LoopbackServer()
        server.on("/*") { request in
            .redirect(to: "/\((Int(request.path.dropFirst()) ?? 0) + 1)")
        }
        let client = APIClient(baseURL: server.url) { $0.redirects.limit = 3 }
        let error = await client.data.request("0").sender().result.failure
        XCTAssertEqual(error?.code, .tooManyRedirects)
        XCTAssertEqual(server.requestCount, 4)
    }

    func testSecretsDoNotLeaveTheirOrigin() async throws {
        let home = try LoopbackServer()
        let away = try LoopbackServer()
        home.on("/near", .redirect(to: "/echo"))
        home.on("/echo", .echo)
        home.on("/far", .redirect(to: "\(away.url)/echo"))
        away.on("/echo", .echo)
        let client = APIClient(baseURL: home.url) {
            $0.headers = ["Authorization": "Bearer t", "Cookie": "c=1", "X-Other": "o"]
        }
        let near: LoopbackEcho = try await client.codable.request("near").sender().value
        XCTAssertEqual(near.values(for: .authorization), ["Bearer t"])
        let far: LoopbackEcho = try await client.codable.request("far").sender().value
        XCTAssertEqual(far.values(for: .authorization), [])
        XCTAssertEqual(far.values(for: .cookie), [])
        XCTAssertEqual(far.values(for: "x-other"), ["o"])
        XCTAssertEqual(far.values(for: .host), [away.authority])
    }

    func testABodyIsSentAgainOnlyWhereItMayBe() async throws {
        let server = try LoopbackServer()
        server.on("/307", .redirect(to: "/echo", status: .temporaryRedirect))
        server.on("/303", .redirect(to: "/echo", status: .seeOther))
        server.on("/echo", .echo)
        let client = APIClient(baseURL: server.url)
        let kept: LoopbackEcho = try await client.codable.request("307").put().json([1]).sender().value
        XCTAssertEqual(kept.method, "PUT")
        XCTAssertEqual(kept.text, "[1]")
        let dropped: LoopbackEcho = try await client.codable.request("303").put().json([1]).sender().value
        XCTAssertEqual(dropped.method, "GET")
        XCTAssertEqual(dropped.text, "")
        XCTAssertEqual(dropped.values(for: .contentType), [])
        let once = AsyncStream<Data> { continuation in
            continuation.yield(Data("once".utf8))
            continuation.finish()
        }
        let error = await client.data.request("307").put().body(.stream(once)).sender().result.failure
        XCTAssertEqual(error?.code, .bodyNotReplayable)
    }

    func testTheTotalTimeCoversAllRedirectsTogether() async throws {
        let server = try LoopbackServer()
        server.on("/*") { request in
            let next = LoopbackResponse.redirect(to: "/\((Int(request.path.dropFirst()) ?? 0) + 1)")
            return .delayed(by: .milliseconds(40), next)
        }
        let client = APIClient(baseURL: server.url) { $0.redirects.limit = 1000 }
        let error = await client.data.request("0").timeout(total: .milliseconds(300)).sender().result.failure
        XCTAssertEqual(error?.code, .timedOut)
        XCTAssertGreaterThan(server.requestCount, 1)
    }
}

import Sluice
import SluiceTesting
import XCTest

/// No client receives a private response of another.
final class CachePrivacyTests: XCTestCase {
    private let store = CacheStore(storage: nil)

    private func server() throws -> LoopbackServer {
        let server = try LoopbackServer()
        server.on("/me") { request in
            let user = request.headers["Authorization"] ?? request.headers["Cookie"] ?? "nobody"
            return .text(user, headers: ["Cache-Control": "max-age=3600"])
        }
        server.on("/public") { request in
            .text(request.headers["Authorization"] ?? "nobody", headers: ["Cache-Control": "public, max-age=3600"])
        }
        return server
    }

    func testStoredResponsesAreSeparatedByCredentials() async throws {
        let server = try server()
        let client = APIClient(baseURL: server.url) { $0.cache = store }
        for _ in 0..<2 {
            for (name, value) in [
                ("Authorization", "ada"), ("Authorization", "grace"), ("Cookie", "sid=1"), ("X-Other", "1"),
            ] {
                let text = try await client.string.get("me").header(HTTPHeaderName(name), value).sender().value
                XCTAssertEqual(text, name == "X-Other" ? "nobody" : value)
            }
        }
        XCTAssertEqual(server.requests.count, 4)
    }

    func testPublicResponsesAreSharedBetweenUsers() async throws {
        let server = try server()
        let client = APIClient(baseURL: server.url) { $0.cache = store }
        for token in ["ada", "grace"] {
            let text = try await client.string.get("public").header("Authorization", token).sender().value
            XCTAssertEqual(text, "ada")
        }
    }

    func testPartitionsAreIsolated() async throws {
        let server = try server()
        let clients = ["a", "b", ""].map { partition in
            APIClient(baseURL: server.url) {
                $0.cache = store
                $0.caching.partition = partition
            }
        }
        for client in clients {
            let response = await client.string.get("me").sender().response
            XCTAssertEqual(response.source, .server)
            let kept = await client.string.get("me").dataSource(.cacheElseServer).httpCaching(nil).sender().response
            XCTAssertEqual(kept.source, .server)
        }
        for client in clients {
            let response = await client.string.get("me").sender().response
            XCTAssertTrue(response.source.isCache)
            let kept = await client.string.get("me").dataSource(.cache).sender().response
            XCTAssertTrue(kept.source.isCache)
        }
        try await store.partition("a").removeAll()
        let gone = await clients[0].string.get("me").dataSource(.cache).sender().response
        XCTAssertEqual(gone.failure?.code, .cacheMiss)
        let left = await clients[1].string.get("me").dataSource(.cache).sender().response
        XCTAssertTrue(left.source.isCache)
    }

    func testPartitionIsUsedAfterTokenRefresh() async throws {
        let server = try server()
        let client = APIClient(baseURL: server.url) {
            $0.cache = store
            $0.caching.partition = "ada"
        }
        for token in ["old", "new"] {
            let text = try await client.string.get("me").header("Authorization", token).sender().value
            XCTAssertEqual(text, "old")
        }
    }

    func testCookieJarsAreIsolated() async throws {
        let server = try server()
        let clients = (0..<2).map { _ in
            APIClient(baseURL: server.url) {
                $0.cache = store
                $0.cookies = CookieJar()
            }
        }
        for client in clients {
            let response = await client.string.get("me").sender().response
            XCTAssertEqual(response.source, .server)
            let again = await client.string.get("me").sender().response
            XCTAssertTrue(again.source.isCache)
        }
    }

    func testDataSourceEntriesAreSeparatedByCredentials() async throws {
        let server = try server()
        let client = APIClient(baseURL: server.url) {
            $0.cache = store
            $0.caching.source = .cacheElseServer
            $0.caching.http = nil
        }
        for token in ["ada", "grace", "ada"] {
            let text = try await client.string.get("me").header("Authorization", token).sender().value
            XCTAssertEqual(text, token)
        }
        XCTAssertEqual(server.requests.count, 2)
    }

    func testInterceptorTokensSeparateStoredResponses() async throws {
        let server = try LoopbackServer()
        server.on("/me") { request in
            .text(request.headers["X-Token"] ?? "nobody", headers: ["Cache-Control": "max-age=3600"])
        }
        let client = APIClient(baseURL: server.url) { $0.cache = store }
        for _ in 0..<2 {
            for token in ["ada", "grace"] {
                let request = client.string.get("me").intercept(CustomToken(token, header: "X-Token"))
                let text = try await request.sender().value
                XCTAssertEqual(text, token)
            }
        }
        XCTAssertEqual(server.requests.count, 2)
    }
}

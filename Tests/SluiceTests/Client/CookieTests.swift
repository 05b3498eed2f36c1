import Sluice
import SluiceTesting
import XCTest

final class CookieTests: XCTestCase {
    private func server() throws -> LoopbackServer {
        let server = try LoopbackServer()
        server.on("/sign-in", .data(Data(), headers: ["Set-Cookie": "session=s1; Path=/"]))
        server.on("/moved", .data(Data(), status: .found, headers: ["Set-Cookie": "hop=h1", "Location": "/echo"]))
        server.on("/echo", .echo)
        return server
    }

    private func cookies(_ client: APIClient, _ path: String = "echo", uses: Bool = true) async throws -> [String] {
        let request: APIRequest<LoopbackEcho, APIError> = client.get(path).cookies(uses)
        return try await request.sender().value.values(for: .cookie)
    }

    func testCookiesAreNotStoredByDefault() async throws {
        let server = try server()
        let client = APIClient(baseURL: server.url)
        _ = try await client.empty.get("sign-in").sender().value
        let sent = try await cookies(client)
        XCTAssertEqual(sent, [])
    }

    func testJarSendsCookiesUnlessTheRequestDisablesThem() async throws {
        let server = try server()
        let client = APIClient(baseURL: server.url) { $0.cookies = CookieJar() }
        _ = try await client.empty.get("sign-in").sender().value
        let sent = try await cookies(client)
        let without = try await cookies(client, uses: false)
        let again = try await cookies(client)
        XCTAssertEqual(sent, ["session=s1"])
        XCTAssertEqual(without, [])
        XCTAssertEqual(again, ["session=s1"])
    }

    func testCookieSetByRedirectIsSentToItsTarget() async throws {
        let server = try server()
        let sent = try await cookies(APIClient(baseURL: server.url) { $0.cookies = CookieJar() }, "moved")
        XCTAssertEqual(sent, ["hop=h1"])
    }

    func testClientsShareCookiesOnlyThroughTheSameJar() async throws {
        let server = try server()
        let jar = CookieJar()
        let first = APIClient(baseURL: server.url) { $0.cookies = jar }
        let second = APIClient(baseURL: server.url) { $0.cookies = jar }
        let other = APIClient(baseURL: server.url) { $0.cookies = CookieJar() }
        _ = try await first.empty.get("sign-in").sender().value
        let shared = try await cookies(second)
        let apart = try await cookies(other)
        XCTAssertEqual(shared, ["session=s1"])
        XCTAssertEqual(apart, [])
    }

    func testTargetSetsCookieUseAndCachePolicy() async throws {
        struct Private: Target {
            let baseURL: String
            var path: String { "echo" }
            var usesCookies: Bool { false }
            var cachePolicy: CachePolicy { .noStore }
        }
        let server = try server()
        let client = APIClient(baseURL: server.url) { $0.cookies = CookieJar() }
        _ = try await client.empty.get("sign-in").sender().value
        let echo: LoopbackEcho = try await client.request(Private(baseURL: server.url)).sender().value
        XCTAssertEqual(echo.values(for: .cookie), [])
        XCTAssertEqual(echo.values(for: "Cache-Control"), ["no-store"])
    }

    func testConcurrentRequestsStoreAllCookiesInTheJar() async throws {
        let server = try LoopbackServer()
        server.on("/*") { .data(Data(), headers: ["Set-Cookie": "c\($0.path.dropFirst())=1; Path=/"]) }
        server.on("/echo", .echo)
        let client = APIClient(baseURL: server.url) { $0.cookies = CookieJar() }
        try await withThrowingTaskGroup { group in
            for index in 0..<40 {
                group.addTask { _ = try await client.empty.get("\(index)").sender().value }
            }
            try await group.waitForAll()
        }
        let sent = try await cookies(client)
        XCTAssertEqual(sent.first?.split(separator: ";").count, 40)
    }
}

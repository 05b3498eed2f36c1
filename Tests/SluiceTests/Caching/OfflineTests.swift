import Sluice
import SluiceTesting
import XCTest

/// Stored responses without a network, and with gates that fail.
final class OfflineTests: XCTestCase {
    private struct NoToken: Constraint {
        func isSatisfied(for request: RequestContext) -> Bool { false }
        func satisfy(for request: RequestContext) throws { throw Offline() }
        struct Offline: Error {}
    }

    func testCacheElseServerNeedsNoNetworkOrGate() async throws {
        let server = try LoopbackServer()
        server.on("/feed", .json(#"{"id":7,"name":"Feed"}"#))
        let directory = try DownloadFolder()
        let online = APIClient(baseURL: server.url) { $0.cache = CacheStore(directory: directory.url) }
        let request: APIRequest<User, APIError> = online.codable.request("feed").dataSource(.cacheElseServer)
        _ = try await request.sender().value
        await online.configuration.cache?.flush()
        server.stop()
        // A new client, as after a restart of the program.
        let offline = APIClient(baseURL: server.url) {
            $0.cache = CacheStore(directory: directory.url)
            $0.constraints = [NoToken()]
        }
        let again: APIRequest<User, APIError> = offline.codable.request("feed")
        let user = try await again.dataSource(.cacheElseServer).sender().value
        XCTAssertEqual(user.name, "Feed")
        let error = await again.sender().response.failure
        XCTAssertEqual(error?.code, .gateFailed)
    }

    /// A server that is in trouble may not even end the body of its error.
    func testStaleIfErrorDoesNotWaitForBodyOfError() async throws {
        let server = try LoopbackServer()
        server.on(
            "/feed",
            .json(#"{"id":7,"name":"Feed"}"#, headers: ["Cache-Control": "max-age=0, stale-if-error=86400"]),
            .headersThenHang(status: .internalServerError, headers: ["Content-Length": "100"])
        )
        let client = APIClient(baseURL: server.url) {
            $0.cache = CacheStore(storage: nil)
            $0.timeouts.idle = .seconds(600)
        }
        for _ in 0..<2 {
            // The body is given a second.
            let user = try await client.codable.get("feed", as: User.self).timeout(total: .seconds(60)).sender().value
            XCTAssertEqual(user.name, "Feed")
        }
        XCTAssertEqual(server.requestCount, 2)
    }

    func testStaleIfErrorCoversFailedGateAndUnreachableServer() async throws {
        let server = try LoopbackServer()
        server.on(
            "/feed",
            .json(#"{"id":7,"name":"Feed"}"#, headers: ["Cache-Control": "max-age=60, stale-if-error=86400"])
        )
        let clock = TestClock()
        let directory = try DownloadFolder()
        func client(_ constraints: [any Constraint]) -> APIClient {
            APIClient(baseURL: server.url) {
                $0.cache = CacheStore(directory: directory.url) { $0.clock = clock }
                $0.caching.partition = "ada"
                $0.constraints = constraints
                $0.headers["Authorization"] = "Bearer \(constraints.count)"
                $0.clock = clock
            }
        }
        let online = client([])
        let request: APIRequest<User, APIError> = online.codable.request("feed")
        _ = try await request.sender().value
        await online.configuration.cache?.flush()
        clock.advance(by: .seconds(3600))
        server.stop()
        for constraints in [[], [NoToken()]] as [[any Constraint]] {
            let again: APIRequest<User, APIError> = client(constraints).codable.request("feed")
            let response = await again.sender().response
            XCTAssertEqual(try response.result.get().name, "Feed")
            XCTAssertEqual(response.source, .cache(CachedResponseInfo(age: .seconds(3600), isFresh: false)))
        }
        clock.advance(by: .seconds(86_400))
        let late: APIRequest<User, APIError> = client([]).codable.request("feed")
        let failure = await late.sender().response.failure
        XCTAssertEqual(failure?.code, .cannotConnect)
    }
}

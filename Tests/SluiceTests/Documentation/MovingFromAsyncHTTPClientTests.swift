import Foundation
import Sluice
import SluiceTesting
import XCTest

/// The guide for users of async-http-client.
final class MovingFromAsyncHTTPClientTests: XCTestCase {
    private func shopServer() throws -> LoopbackServer {
        let server = try LoopbackServer()
        server.on(.get, "/users/1", .json(#"{"id":1,"name":"Ada"}"#))
        server.on(.get, "/users/9", .json(#"{"message":"There is no user 9."}"#, status: .notFound))
        server.on(.post, "/users") { .data($0.body, contentType: "application/json") }
        server.on(.post, "/login") { .data($0.body) }
        server.on("/motto", .text("Let it flow."))
        server.on("/slow", .hang)
        server.on("/log", .text("a\nb\n"))
        server.on("/token", .json(#"{"access_token":"t1","token_type":"Bearer","expires_in":3600}"#))
        return server
    }

    func testRequests() async throws {
        let server = try shopServer()
        let shop = APIClient(baseURL: server.url) { $0.timeouts.total = .seconds(30) }
        let user: User = try await shop.codable.get("users/1").sender().value
        let response = await shop.data.get("users/9").validate(.none).sender().response
        if response.status == .notFound { print(response.head?.headers["Content-Type"] ?? "", response.body.count) }
        XCTAssertEqual(user.name, "Ada")
        XCTAssertEqual(response.status, .notFound)
    }

    func testBodies() async throws {
        let fixture = try DownloadFixture(bytes: 0)
        let film = fixture.file
        try Data("film".utf8).write(to: film)
        let server = try shopServer()
        server.on(.post, "/films") { .data($0.body) }
        server.on(.put, "/films/1") { .data($0.body) }
        let shop = APIClient(baseURL: server.url)
        let frames = AsyncStream { continuation in
            for frame in ["a", "b", "c"] { continuation.yield(Data(frame.utf8)) }
            continuation.finish()
        }
        let create = shop.codable.post("users", as: User.self).json(User(id: 2, name: "Grace"))
        let login = shop.string.post("login").form(["user": "ada", "remember": true])
        let upload = shop.data.post("films").body(.stream(frames, length: 3, contentType: "video/mp4"))
        let file = shop.data.put("films/1").file(film)
        let created = try await create.sender().value
        let form = try await login.sender().value
        XCTAssertEqual([created.name, form], ["Grace", "remember=1&user=ada"])
        let sent = try await [upload.sender().value, file.sender().value]
        XCTAssertEqual(sent, [Data("abc".utf8), Data("film".utf8)])
    }

    func testStreamsAndFiles() async throws {
        let fixture = try DownloadFixture(bytes: 0)
        fixture.server.on("/log", .text("a\nb\n"))
        fixture.server.on("/archive.tar.gz", .resource(LoopbackResource(Data("hello".utf8), eTag: "\"1\"")))
        let shop = fixture.client
        let target = fixture.file
        let log = try await shop.stream("log").response()
        print(log.status, log.head.headers["Content-Type"] ?? "")
        for try await chunk in log.bytes { print(chunk.count) }
        try Data("old".utf8).write(to: target)
        let archive = try await shop.download("archive.tar.gz", to: .file(target, ifExists: .overwrite)).sender().value
        print(archive.url, archive.length)
        XCTAssertEqual(archive.length, 5)
    }

    func testTimeOutsAndErrors() async throws {
        let server = try shopServer()
        let shop = APIClient(baseURL: server.url)
        let careful = APIClient(baseURL: server.url) {
            $0.timeouts = Timeouts(connect: .seconds(3), idle: .seconds(30), total: .seconds(60))
            $0.redirects.limit = 5
            $0.limits.body = 1 << 20
        }
        let motto = careful.string.get("motto").timeout(total: .seconds(2)).redirects(.none)
        let text = try await motto.sender().value
        XCTAssertEqual(text, "Let it flow.")
        do {
            _ = try await shop.data.get("slow").timeout(total: .milliseconds(50)).sender().value
        } catch {
            // No cast: this is an APIError.
            if error.code == .timedOut { print("Too slow: \(error)") }
        }
    }

    func testProductionConfiguration() async throws {
        let server = try shopServer()
        let orders = APIClient(baseURL: server.url) {
            $0.gates = [
                OAuth2(.clientCredentials(id: "reports", secret: "s3cret"), tokenURL: "\(server.url)/token"),
                ConcurrencyLimit(64, perHost: 8),
                RateLimit(10, every: .seconds(1)),
                CircuitBreaker(),
            ]
            $0.requestInterceptors = [UserAgent(product: "acme", version: "1.0"), TraceParent()]
            $0.retry = .standard
            $0.observers = [RequestLog(), RequestMetrics()]
        }
        let motto = try await orders.string.get("motto").sender().value
        XCTAssertEqual(motto, "Let it flow.")
        let headers = server.requests(to: "/motto").first?.headers
        XCTAssertEqual(headers?["Authorization"], "Bearer t1")
        XCTAssertEqual(headers?["User-Agent"]?.hasPrefix("acme/1.0"), true)
    }
}

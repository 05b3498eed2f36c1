import Foundation
import Sluice
import SluiceTesting
import XCTest

/// The guide for users of Moya.
final class MovingFromMoyaTests: XCTestCase {
    struct Session: Sendable {
        var token: String? { "t0k3n" }
    }

    enum Shop: Target {
        case user(Int)
        case search(String)
        case create(User)

        var baseURL: String { "https://shop.example/v1" }
        var path: String {
            switch self {
            case .user(let id): "users/\(id)"
            case .search, .create: "users"
            }
        }
        var method: HTTPMethod {
            if case .create = self { .post } else { .get }
        }
        var task: RequestTask {
            switch self {
            case .user: .plain
            case .search(let words): .parameters(["q": words, "page": 1])
            case .create(let user): .json(user)
            }
        }
        var headers: HTTPHeaders { ["Accept": "application/json"] }
        var validation: Validation { Validation(contentTypes: ["application/json"]) }
    }

    enum Users: Target {
        case all, create(User), remove(Int)

        var baseURL: String { "https://shop.example/v1" }
        var path: String {
            if case .remove(let id) = self { "users/\(id)" } else { "users" }
        }
        var task: MethodTask {
            switch self {
            case .all: .get(.parameters(["page": 1]))
            case .create(let user): .post(.json(user))
            case .remove: .delete()
            }
        }
    }

    enum Preview: Target {
        case user(Int)

        var baseURL: String { "https://shop.example" }
        var path: String {
            switch self {
            case .user(let id): "users/\(id)"
            }
        }
        var stub: Stub? { .json(#"{"id":1,"name":"Ada"}"#, headers: ["X-Sample": "1"]) }
    }

    struct Tracing: Plugin {
        func prepare(_ request: HTTPRequest, context: RequestContext) async throws -> HTTPRequest {
            var request = request
            request.headers["X-Request-Id"] = UUID().uuidString
            return request
        }
        func willSend(_ request: HTTPRequest, context: RequestContext) {
            if case Shop.search(let words) = context.endpoint { print(words, context.userInfo["screen"] ?? "") }
        }
        func process(_ outcome: TransportOutcome, context: RequestContext) async -> TransportOutcome {
            outcome.mapError { $0.code == .timedOut ? SluiceError(.timedOut, "The shop is closed.") : $0 }
        }
        func didFinish(_ result: Result<any Sendable, any Error>, context: RequestContext) {
            switch result {
            case .success(let user as User): print("\(user.name) has arrived.")
            case .failure(let error as APIError): print(error.code)
            default: break
            }
        }
    }

    private func shopServer() throws -> LoopbackServer {
        let server = try LoopbackServer()
        server.on(.get, "/v1/users", .json(#"[{"id":1,"name":"Ada"}]"#))
        server.on(.get, "/v1/users/1", .json(#"{"id":1,"name":"Ada"}"#))
        server.on(.get, "/v1/users/7", .hang)
        server.on(.get, "/v1/users/404", .data(Data(), contentType: "application/json"))
        server.on(.post, "/v1/users") { .data($0.body, contentType: "application/json") }
        server.on("/motto", .text("Let it flow."))
        return server
    }

    /// Returns a client that sends requests for the shop to a loopback server.
    private func client(of server: LoopbackServer) -> APIClient {
        APIClient { $0.endpointMapping = { _, draft in draft.host(server.url) } }
    }

    func testTargets() async throws {
        let server = try shopServer()
        let client = client(of: server)
        let ada: User = try await client.request(Shop.user(1)).sender().value
        let text = try await client.string.request(Shop.search("ada")).sender().value
        XCTAssertEqual(ada.name, "Ada")
        XCTAssertEqual(text, #"[{"id":1,"name":"Ada"}]"#)
        let sender = client.data.request(Shop.create(User(id: 2, name: "Grace"))).sender()
        async let created = sender.value
        for await progress in sender.uploadProgress { print(progress.fractionCompleted ?? 0) }
        print(try await created.count)
        XCTAssertEqual(server.requests.map(\.method), [.get, .get, .post])
    }

    func testTasks() async throws {
        let fixture = try DownloadFixture(bytes: 0)
        let picture = fixture.folder.appending(path: "picture.png")
        let target = fixture.folder.appending(path: "user.json")
        try Data("png".utf8).write(to: picture)
        fixture.server.on("/v1/users/1", .json(#"{"id":1,"name":"Ada"}"#))
        let client = client(of: fixture.server)
        let tasks: [RequestTask] = [
            .data(Data("# Title".utf8), contentType: "text/markdown").query(["draft": true]),
            .json(["user": "ada", "age": 36]),
            .file(picture, contentType: "image/png"),
            .multipart([.file(picture, name: "picture"), .text("Holidays", name: "title")]).query(["public": true]),
        ]
        let file = try await client.download(Shop.user(1), to: .file(target)).sender().responseURL
        XCTAssertEqual(tasks.count, 4)
        XCTAssertEqual(try JSONDecoder().decode(User.self, from: Data(contentsOf: file)), User(id: 1, name: "Ada"))
    }

    func testMappings() throws {
        let mapped = APIClient {
            $0.endpointMapping = { endpoint, draft in
                guard case Shop.create = endpoint else { return draft }
                return draft.header("X-Shop", "1").timeout(total: .seconds(5))
            }
            $0.requestMapping = { request in
                var request = request
                request.headers["X-Path"] = request.path
                request.setTimeouts(idle: .seconds(5))
                return request
            }
        }
        let requests = try [Shop.user(1), Shop.create(User(id: 2, name: "Grace"))].map {
            try mapped.data.request($0).httpRequest().headers
        }
        XCTAssertEqual(requests.map { $0["X-Shop"] }, [nil, "1"])
        XCTAssertEqual(requests.map { $0["X-Path"] }, ["/v1/users/1", "/v1/users"])
    }

    func testPlugins() async throws {
        let server = try shopServer()
        let session = Session()
        let activity = ActivityCounter()
        let equipped = APIClient(baseURL: server.url) {
            $0.plugins = [Tracing()]
            $0.requestInterceptors = [BearerToken { $0.tags.contains("public") ? nil : session.token }]
            $0.credentials = ChallengeCredentials(user: "ada", password: "s3cret")
            $0.observers = [activity, RequestLog(.summary, curl: true)]
        }
        _ = try await equipped.string.get("motto").sender().value
        _ = try await equipped.string.get("motto").tags("public").sender().value
        let headers = server.requests.map(\.headers)
        XCTAssertEqual(headers.map { $0["Authorization"] }, ["Bearer t0k3n", nil])
        XCTAssertEqual(headers.map { $0.contains("X-Request-Id") }, [true, true])
    }

    func testResponses() async throws {
        let server = try shopServer()
        let client = client(of: server)
        let response = await client.data.request(Shop.user(1)).validate(.none).sender().response
        let user = try response.filterSuccesses().decoded(as: User.self)
        let name = try response.filter(statuses: 200..<300).string(at: "name")
        let json = try response.json()
        print(user.id, name, json.id.intValue, response.status ?? 0)
        let nested: String = try await client.request(Shop.user(1)).keyPath("name").sender().value
        let nobody: User? = try await client.request(Shop.user(404)).allowingEmptyBody().sender().value
        XCTAssertEqual([name, nested], ["Ada", "Ada"])
        XCTAssertNil(nobody)
        let slow = client.data.request(Shop.user(7)).sender()
        slow.cancel()
        let code = await slow.response.failure?.code
        XCTAssertEqual(code, .cancelled)
    }

    func testTasksSayTheirMethods() throws {
        let client = APIClient()
        let targets: [Users] = [.all, .create(User(id: 1, name: "Ada")), .remove(1)]
        let requests = try targets.map { try client.data.request($0).httpRequest() }
        XCTAssertEqual(requests.map(\.method), [.get, .post, .delete])
        XCTAssertEqual(requests.map(\.path), ["/v1/users?page=1", "/v1/users", "/v1/users/1"])
    }

    func testSharingAndStubs() async throws {
        let server = try shopServer()
        let sharing = APIClient(baseURL: server.url) { $0.sharing = .safeMethods }
        let feed = sharing.codable.get("v1/users/1", as: User.self)
        async let one = feed.sender().value
        async let two = feed.sender().value
        print(try await one.name, try await two.name)
        let stubbed = APIClient()
        let sample: User = try await stubbed.request(Preview.user(1)).sender().value
        let missing = stubbed.data.request(Preview.user(2)).stub(.status(.notFound))
        let lost = stubbed.data.request(Preview.user(3))
            .stub(.failure(.cannotConnect), mode: .delayed(.milliseconds(10)))
        let live = APIClient { $0.stubMode = .never }
        print(live)
        let failures = await [missing.sender().response.failure?.code, lost.sender().response.failure?.code]
        XCTAssertEqual(failures, [.unacceptableStatus, .cannotConnect])
        XCTAssertEqual(sample.name, "Ada")
    }
}

import Foundation
import Sluice
import SluiceTesting
import XCTest

/// The guide for users of Alamofire.
final class MovingFromAlamofireTests: XCTestCase {
    struct Incomplete: Error {}

    enum Router: Target {
        case user(Int)
        case create(User)

        var baseURL: String { "https://shop.example" }
        var path: String {
            switch self {
            case .user(let id): "users/\(id)"
            case .create: "users"
            }
        }
        var method: HTTPMethod {
            if case .create = self { .post } else { .get }
        }
        var task: RequestTask {
            if case .create(let user) = self { .json(user) } else { .plain }
        }
    }

    struct Tenant: RequestAdapter {
        let id: String

        func adapt(_ request: inout HTTPRequest, context: RequestContext) {
            request.headers["X-Tenant"] = id
        }
    }

    struct Monitor: RequestObserver {
        var interests: RequestEvent.Kinds { [.sending, .retrying, .finished] }

        func observe(_ event: RequestEvent, of request: ObservedRequest) {
            switch event {
            case .sending(let sent): print(request.id, sent.method, sent.redactedURL)
            case .retrying(let pause, let outcome): print(request.id, outcome.status ?? 0, "again in \(pause)")
            case .finished(.success(let response)): print(request.id, response.head.status, response.body.count)
            case .finished(.failure(let error)): print(request.id, error)
            default: break
            }
        }
    }

    private func shopServer() throws -> LoopbackServer {
        let server = try LoopbackServer()
        server.on(.get, "/users", .json(#"[{"id":1,"name":"Ada"}]"#))
        server.on(.get, "/users/1", .json(#"{"id":1,"name":"Ada"}"#))
        server.on(.get, "/users/9", .json(#"{"message":"There is no user 9."}"#, status: .notFound))
        server.on(.post, "/users") { .data($0.body, contentType: "application/json") }
        server.on(.post, "/login") { .data($0.body) }
        server.on(.post, "/orders") { .text($0.headers["X-Tenant"] ?? "") }
        server.on(.get, "/search") { .text($0.query ?? "") }
        server.on("/motto", .text("Let it flow."))
        server.on("/old", .redirect(to: "/motto"))
        server.on("/slow", .hang)
        return server
    }

    func testRequests() async throws {
        let server = try shopServer()
        let shop = APIClient(baseURL: server.url)
        let user: User = try await shop.codable.get("users/1").sender().value
        let response = await shop.codable.get("users/1", as: User.self).sender().response
        print(response.status ?? 0, response.result, response.metrics?.total ?? .zero)
        XCTAssertEqual(try response.result.get(), user)
        let search = shop.codable.get("users", as: [User].self).query(["q": "ada", "page": 1])
        let create = shop.codable.post("users", as: User.self).json(User(id: 2, name: "Grace"))
        let login = shop.string.post("login").form(["user": "ada", "remember": true])
        let either = shop.data.request("search").parameters(["q": "ada"])
        let found = try await search.sender().value
        let created = try await create.sender().value
        let form = try await login.sender().value
        let query = try await either.sender().value
        XCTAssertEqual([found.first?.name, created.name], ["Ada", "Grace"])
        XCTAssertEqual(form, "remember=1&user=ada")
        XCTAssertEqual(query, Data("q=ada".utf8))
    }

    func testRouter() async throws {
        let server = try shopServer()
        let client = APIClient { $0.endpointMapping = { _, draft in draft.host(server.url) } }
        let ada: User = try await client.request(Router.user(1)).sender().value
        let grace: User = try await client.request(Router.create(User(id: 2, name: "Grace"))).sender().value
        XCTAssertEqual([ada.name, grace.name], ["Ada", "Grace"])
    }

    func testHeadersAndValidation() async throws {
        let server = try shopServer()
        let shop = APIClient(baseURL: server.url)
        let polite = APIClient(baseURL: server.url) { $0.headers["Accept-Language"] = "en" }
        let motto = polite.string.get("motto").header("Accept", "text/plain").basicAuthorization("ada", "s3cret")
        _ = try await motto.sender().value
        let headers = server.requests(to: "/motto").first?.headers
        XCTAssertEqual(headers?["Accept-Language"], "en")
        XCTAssertEqual(headers?["Authorization"], "Basic YWRhOnMzY3JldA==")
        let anything = shop.data.get("users/9").validate(.none)
        let strict = shop.data.get("users/1").validate(statuses: 200..<300).validate(contentTypes: "application/json")
        let whole = shop.data.get("users/1").validate { head, _ in
            if head.headers.contains("X-Partial") { throw Incomplete() }
        }
        for request in [anything, strict, whole] { _ = try await request.sender().value }
    }

    func testErrors() async throws {
        let server = try shopServer()
        let shop = APIClient(baseURL: server.url)
        do {
            let user: User = try await shop.codable.get("users/9").sender().value
            print(user.name)
        } catch {
            // No cast: this is an APIError.
            switch error.code {
            case .cancelled: break
            case .unacceptableStatus: print(error.status ?? 0, error.body.count)
            case .decodingFailed: print(error.underlyingError ?? error.error)
            default: print(error)
            }
        }
        let slow = shop.data.get("slow").sender()
        slow.cancel()
        let code = await slow.response.failure?.code
        XCTAssertEqual(code, .cancelled)
    }

    func testInterceptorsAndAuthentication() async throws {
        let server = try shopServer()
        server.on("/token", .json(#"{"access_token":"t1","token_type":"Bearer","expires_in":3600}"#))
        let adapted = APIClient(baseURL: server.url) {
            $0.requestInterceptors = [Tenant(id: "t1"), BearerToken("t0k3n"), CompressBody()]
            $0.retry = RetryPolicy(maximumAttempts: 3)
        }
        let order = adapted.data.post("orders").json(["item": 17]).idempotent()
        let tenant = try await order.sender().value
        XCTAssertEqual(tenant, Data("t1".utf8))
        let oauth = OAuth2(.clientCredentials(id: "app", secret: "s3cret"), tokenURL: "\(server.url)/token")
        let api = APIClient(baseURL: server.url) { $0.gates = [oauth] }
        _ = try await api.string.get("motto").sender().value
        XCTAssertEqual(server.requests(to: "/motto").first?.headers["Authorization"], "Bearer t1")
    }

    func testTransfers() async throws {
        let fixture = try DownloadFixture(bytes: 0)
        let shop = fixture.client
        let picture = fixture.folder.appending(path: "picture.png")
        let target = fixture.folder.appending(path: "archive.tar.gz")
        try Data("png".utf8).write(to: picture)
        fixture.server.on("/albums", .text("thanks"))
        fixture.server.on("/archive.tar.gz", .resource(LoopbackResource(Data("hello".utf8), eTag: "\"1\"")))
        fixture.server.on("/log", .text("a\nb\n"))
        let form: MultipartForm = [.text("Holidays", name: "title"), .file(picture, name: "picture")]
        let sender = shop.data.upload("albums", .multipart(form)).sender()
        async let receipt = sender.value
        for await progress in sender.uploadProgress { print(progress.fractionCompleted ?? 0) }
        print(try await receipt.count)
        let destination = DownloadDestination.file(target, ifExists: .overwrite)
        let file = try await shop.download("archive.tar.gz", to: destination).sender().responseURL
        XCTAssertEqual(try Data(contentsOf: file), Data("hello".utf8))
        for try await line in shop.stream("log").lines {
            print(line)
        }
        XCTAssertEqual(fixture.server.requests.count, 3)
    }

    func testCachingRedirectsAndLogs() async throws {
        let server = try shopServer()
        let folder = FileManager.default.temporaryDirectory.appending(path: "sluice-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        let cached = APIClient(baseURL: server.url) {
            $0.cache = CacheStore(directory: folder)
            $0.redirects.limit = 3
        }
        let fresh = cached.string.get("motto").cachePolicy(.reload)
        let moved = cached.string.get("old").redirects(.none)
        _ = try await fresh.sender().value
        let status = await moved.sender().response.status
        XCTAssertEqual(status, .found)
        let watched = APIClient(baseURL: server.url) { $0.observers = [RequestLog(.summary), RequestMetrics()] }
        let command = try watched.data.get("users/1").httpRequest().curlCommand()
        XCTAssertTrue(command.contains("/users/1"))
        let monitored = watched.string.get("motto").observer(Monitor())
        let motto = try await monitored.sender().value
        XCTAssertEqual(motto, "Let it flow.")
    }

    func testStubs() async throws {
        let stubs = StubTransport()
        stubs.on(.get("/users/{id}"), .json(#"{"id":1,"name":"Ada"}"#))
        let offline = APIClient(baseURL: "https://shop.example") { $0.transport = stubs }
        let someone: User = try await offline.codable.get("users/1").sender().value
        XCTAssertEqual(someone.name, "Ada")
    }
}

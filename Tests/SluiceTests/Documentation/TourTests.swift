import Sluice
import SluiceTesting
import XCTest

/// The code of the README and of the article Tour.
final class TourTests: XCTestCase {
    struct User: Codable, Sendable {
        let id: Int
        let name: String
    }

    struct ShopError: ErrorSerializable {
        let message: String

        init(_ failure: RequestFailure) {
            struct Body: Decodable { let message: String }
            message = (try? failure.decoded(as: Body.self))?.message ?? failure.error.description
        }
    }

    struct Signature: RequestAdapter {
        let key: String

        func adapt(_ request: inout HTTPRequest, context: RequestContext) {
            request.headers["X-Signature"] = "\(key)-\(request.path.count)"
        }
    }

    private func shopServer() throws -> LoopbackServer {
        let server = try LoopbackServer()
        server.on(.get, "/users", .json(#"[{"id":1,"name":"Ada"}]"#))
        server.on(.get, "/users/1", .json(#"{"id":1,"name":"Ada"}"#))
        server.on(.get, "/users/2", .json(#"{"message":"There is no user 2."}"#, status: .notFound))
        server.on(.post, "/users") { .data($0.body, contentType: "application/json") }
        server.on(.put, "/pictures/1") { .data($0.body) }
        server.on(.get, "/echo", .echo)
        return server
    }

    func github() async throws {
        let github = APIClient(baseURL: "https://api.github.com") {
            $0.headers["Accept"] = "application/vnd.github+json"
        }

        let user: User = try await github.get("users/apple").sender().value
        _ = user
    }

    func testErrors() async throws {
        let server = try shopServer()
        let shop = APIClient(baseURL: server.url)
        let request: APIRequest<User, ShopError> = shop.get("users/2")
        do {
            let user = try await request.sender().value
            print(user.name)
        } catch {
            // No cast: this is a ShopError.
            print(error.message)
        }
        let error = await request.sender().result.failure
        XCTAssertEqual(error?.message, "There is no user 2.")
    }

    func testModifiers() async throws {
        let server = try shopServer()
        let shop = APIClient(baseURL: server.url)
        let users = try await shop.get("users", as: [User].self).query("name", "ada").sender().value
        let grace: User = try await shop.post("users").json(User(id: 3, name: "Grace")).sender().value
        do {
            _ = try await shop.empty.delete("users/7").timeout(total: .seconds(5)).sender().value
        } catch {
            print(error.status == .notFound ? "There is no user 7." : "\(error)")
        }
        XCTAssertEqual(users.count, 1)
        XCTAssertEqual(grace.name, "Grace")
        XCTAssertEqual(server.requests.map(\.method), [.get, .post, .delete])
    }

    func testResponse() async throws {
        let server = try shopServer()
        let shop = APIClient(baseURL: server.url)
        let response = await shop.get("users/1", as: User.self).sender().response
        if let head = response.head { print(head.status, head.headers["Content-Type"] ?? "no type") }
        let ada = try response.result.get()
        XCTAssertEqual(response.head?.headers["Content-Type"], "application/json")
        XCTAssertEqual(ada.name, "Ada")
    }

    func testRequestsAndOutcomes() async throws {
        let server = try shopServer()
        let shop = APIClient(baseURL: server.url)
        let search = shop.get("users", as: [User].self)
            .query("name", "ada")
            .query("limit", 10)
            .header("Accept-Language", "en")
            .timeout(total: .seconds(5))
        let create = shop.post("users", as: User.self)
            .json(User(id: 3, name: "Grace"))
        let sender = search.sender()
        let users = try await sender.value
        let result = await sender.result
        let response = await sender.response
        print(response.status ?? 0, response.body.count, response.metrics?.total ?? .zero, users.count, result)
        XCTAssertEqual(server.requests.first?.query, "name=ada&limit=10")
        let created = try await create.sender().value
        XCTAssertEqual(created.name, "Grace")
    }

    /// A list of the user interface.
    @MainActor private final class List {
        let shown: XCTestExpectation

        init(_ shown: XCTestExpectation) { self.shown = shown }

        func show(_ result: Result<[User], APIError>) {
            XCTAssertEqual((try? result.get())?.map(\.name), ["Ada"])
            shown.fulfill()
        }
    }

    func testHandlers() async throws {
        let server = try shopServer()
        let search = APIClient(baseURL: server.url).codable.request("users", as: [User].self)
        let shown = expectation(description: "shown")
        let list = await List(shown)
        search.send(on: .main) { response in list.show(response.result) }
        await fulfillment(of: [shown], timeout: 60)
    }

    func testUploadsAndValidation() async throws {
        let server = try shopServer()
        let shop = APIClient(baseURL: server.url)
        let picture = FileManager.default.temporaryDirectory.appending(path: "sluice-\(UUID().uuidString).png")
        try Data([1, 2, 3]).write(to: picture)
        defer { try? FileManager.default.removeItem(at: picture) }
        let upload = shop.data.request("pictures/1")
            .put()
            .body(.file(picture, contentType: "image/png"))
        let lenient = shop.data.request("users/2")
            .validate(statuses: 200..<300, 404..<405)
        let strict = shop.data.request("users/1")
            .validate(Validation(contentTypes: ["application/json"]))
        let uploaded = try await upload.sender().value
        XCTAssertEqual(Array(uploaded), [1, 2, 3])
        _ = try await lenient.sender().value
        _ = try await strict.sender().value
    }

    func testProduction() async throws {
        let server = try shopServer()
        server.on(.post, "/token", .json(#"{"access_token":"t1","token_type":"Bearer","expires_in":3600}"#))
        let metrics = RequestMetrics()
        let orders = APIClient(baseURL: server.url) {
            $0.gates = [
                OAuth2(.clientCredentials(id: "reports", secret: "s3cret"), tokenURL: "\(server.url)/token"),
                RateLimit(10, every: .seconds(1)),
                CircuitBreaker(),
            ]
            $0.requestInterceptors = [UserAgent(product: "acme", version: "1.0"), TraceParent(), IdempotencyKey()]
            $0.retry = .standard
            $0.observers = [RequestLog(), metrics]
        }
        let echo: LoopbackEcho = try await orders.codable.request("echo").sender().value
        XCTAssertEqual(echo.values(for: "Authorization"), ["Bearer t1"])
        XCTAssertEqual(echo.values(for: "User-Agent").first?.hasPrefix("acme/1.0 "), true)
        await orders.observersCaughtUp()
        XCTAssertEqual(metrics.snapshot().routes.first?.requests, 1)
    }

    func testTokens() async throws {
        let server = try shopServer()
        let reports = APIClient(baseURL: server.url) {
            $0.requestInterceptors = [BearerToken("t-123"), CustomToken("k-456", header: "X-API-Key")]
        }
        let echo: LoopbackEcho = try await reports.codable.request("echo").sender().value
        XCTAssertEqual(echo.values(for: "Authorization"), ["Bearer t-123"])
        XCTAssertEqual(echo.values(for: "X-API-Key"), ["k-456"])
    }

    func testCustomInterceptorAndLimits() async throws {
        let server = try shopServer()
        let signed = APIClient(baseURL: server.url) {
            $0.requestInterceptors = [Signature(key: "k1")]
            $0.timeouts.total = .seconds(30)
            $0.redirects.limit = 3
            $0.limits.body = 1 << 20
        }
        let echo: LoopbackEcho = try await signed.codable.request("echo").sender().value
        XCTAssertEqual(echo.values(for: "X-Signature"), ["k1-5"])
    }

    func testTruncatedBodyFails() async throws {
        let server = try LoopbackServer()
        server.on(.get, "/users/1", .truncated(Data("{".utf8), announced: 100))
        let request: APIRequest<User, APIError> = APIClient(baseURL: server.url).get("users/1")
        let response = await request.sender().response
        XCTAssertThrowsError(try response.result.get()) { error in
            XCTAssertEqual((error as? APIError)?.code, .truncatedBody)
        }
        XCTAssertEqual(server.requests(to: "/users/1").count, 1)
    }
}

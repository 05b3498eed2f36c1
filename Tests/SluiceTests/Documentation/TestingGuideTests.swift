import Sluice
import SluiceTesting
import XCTest

/// The article on testing.
final class TestingGuideTests: XCTestCase {
    enum QuotaError: ErrorSerializable, Equatable {
        case exceeded(retryAfter: Int)
        case other

        init(_ failure: RequestFailure) {
            let seconds = failure.response?.headers[.retryAfter].flatMap { Int($0) } ?? 60
            self = failure.status == .tooManyRequests ? .exceeded(retryAfter: seconds) : .other
        }
    }

    func testStubs() async throws {
        let shop = APIClient(baseURL: "https://shop.example")
        let request = shop.codable.get("users/1", as: User.self)
            .stub(.json(#"{"id":1,"name":"Ada"}"#))
        let user = try await request.sender().value
        XCTAssertEqual(user.name, "Ada")
        let film = Data(count: 1 << 17)
        let flaky = Stub.sequence([.failure(.connectionLost), .status(.serviceUnavailable), .json("[]")], then: .fail)
        let echo = Stub.answering { request in .text("\(request.method) \(request.path)") }
        let slow = Stub.data(film).delayed(by: .seconds(1)).streamed(by: 1 << 16, every: .milliseconds(20))
        let lost = await shop.data.get("x").stub(flaky).sender().result
        XCTAssertEqual(lost.failure?.code, .connectionLost)
        let text = try await shop.string.get("x").stub(echo).sender().value
        XCTAssertEqual(text, "GET /x")
        let clock = TestClock()
        let client = APIClient(baseURL: "https://shop.example") { $0.clock = clock }
        async let length = client.data.get("x").stub(slow).sender().value.count
        for _ in 0..<2 {
            await clock.waitForSleepers(1)
            clock.advance(by: .seconds(1))
        }
        let count = try await length
        XCTAssertEqual(count, film.count)
        let preview = APIClient(baseURL: "https://shop.example") {
            $0.stubMode = .delayed(.milliseconds(300)).skippingGates()
            $0.stub = .status(.notFound)
        }
        let live = APIClient(baseURL: "https://shop.example") { $0.stubMode = .never }
        print(live)
        let missing = await preview.statusWithoutOwnStub()
        XCTAssertEqual(missing, .notFound)
    }

    func testCreatedResponses() {
        let ada = APIResponse<User, ShopError>(result: .success(User(id: 1, name: "Ada")), body: Data("Ada".utf8))
        let tooLate = ShopError(RequestFailure(error: SluiceError(.timedOut, "The request took too long.")))
        let late = APIResponse<User, ShopError>(result: .failure(tooLate))
        XCTAssertEqual([ada.isSuccess, late.isSuccess], [true, false])
    }

    func testRules() async throws {
        try await withStubTransport { stubs in
            stubs.on(.get("/users/{id}")) { request in
                .json(#"{"id":\#(request.pathParameters["id"] ?? "0"),"name":"Ada"}"#)
            }
            stubs.on(.post("/users").body(json: #"{"id":2,"name":"Grace"}"#), .status(.created), times: 1)
            let shop = APIClient(baseURL: "https://shop.example") { $0.transport = stubs }
            let user: User = try await shop.get("users/1").sender().value
            _ = try await shop.data.post("users").json(User(id: 2, name: "Grace")).sender().value
            XCTAssertEqual(user.id, 1)
            XCTAssertEqual(stubs.count(of: .post("/users")), 1)
        }
    }

    func testRecordings() async throws {
        let folder = try DownloadFolder()
        let fixtures = folder.url
        let server = try LoopbackServer()
        server.on("/users", .json(#"[{"id":1,"name":"Ada"}]"#))
        let transport = APIClient.Configuration().transport
        for _ in 0..<2 {
            let cassette = CassetteTransport(recording: transport, to: fixtures.appending(path: "users.json"))
            let recorded = APIClient(baseURL: server.url) { $0.transport = cassette }
            let users: [User] = try await recorded.codable.get("users").sender().value
            XCTAssertEqual(users, [User(id: 1, name: "Ada")])
        }
        XCTAssertEqual(server.requests.count, 1)
        var redaction = CassetteRedaction.standard
        redaction.headers.append("X-Tenant")
        redaction.members.append("email")
        let replayed = CassetteTransport(
            replaying: fixtures.appending(path: "users.json"),
            matching: [.method, .path, .query],
            redaction: redaction
        )
        let offline = APIClient(baseURL: "https://shop.example") { $0.transport = replayed }
        let played: [User] = try await offline.codable.get("users").sender().value
        XCTAssertEqual(played, [User(id: 1, name: "Ada")])
    }

    func testRoutes() async throws {
        let server = try LoopbackServer()
        server.on(.get, "/users/1", .json(encoding: User(id: 1, name: "Ada")))
        server.on(.get, "/report", .drop, .status(.serviceUnavailable), .text("ok").delayed(by: .milliseconds(20)))
        server.on(.post, "/users") { request in
            let user = try JSONDecoder().decode(User.self, from: request.body)
            return user.name.isEmpty ? .status(.badRequest) : .json(encoding: user, status: .created)
        }
        let shop = APIClient(baseURL: server.url)
        let ada: User = try await shop.get("users/1").sender().value
        XCTAssertEqual(ada.name, "Ada")
        var texts: [String?] = []
        for _ in 0..<3 { texts.append(try? await shop.string.get("report").sender().value) }
        // The transport itself repeats a request whose connection closed while it was idle.
        XCTAssertEqual([texts.first, texts.last], [.some(nil), "ok"])
        let created = await shop.post("users", as: User.self).json(ada).sender().response
        XCTAssertEqual(created.status, .created)
        let nameless = await shop.data.post("users").json(User(id: 2, name: "")).sender().response.status
        let malformed = await shop.data.post("users").json([1]).sender().response.status
        XCTAssertEqual([nameless, malformed], [.badRequest, .internalServerError])
    }

    func testServersAndLeaks() async throws {
        try await withLoopbackServer { server in
            server.on("/slow", .hang)
            let client = APIClient(baseURL: server.url) { $0.timeouts.total = .milliseconds(50) }
            try await expectError(.timedOut) { try await client.data.get("slow").sender().value }
        }
        let shop = APIClient(baseURL: "https://shop.example")
        try await expectNoLeaks(descriptors: false) { leaks in
            let sender = leaks.track(shop.string.get("motto").stub(.text("Onwards")).sender())
            _ = try await sender.value
        }
    }

    func testErrorsOfOnesOwn() async throws {
        let shop = APIClient(baseURL: "https://shop.example")
        let forecast = shop.get("forecast", as: User.self, error: QuotaError.self)
            .stub(.status(.tooManyRequests, headers: ["Retry-After": "60"]))
        try await expectError(QuotaError.exceeded(retryAfter: 60)) { try await forecast.sender().value }
        let error = try await expectError(QuotaError.self) { try await forecast.sender().value }
        XCTAssertEqual(error, .exceeded(retryAfter: 60))
        do {
            try await expectError(QuotaError.other) { try await forecast.sender().value }
            XCTFail("Another error was thrown.")
        } catch let failure as ExpectationFailure {
            XCTAssertTrue(failure.description.contains("exceeded(retryAfter: 60)"))
        }
    }

    func testStubTransport() async throws {
        let stubs = StubTransport()
        stubs.on(.get("/users/{id}"), .json(#"{"id":1,"name":"Ada"}"#))
        let shop = APIClient(baseURL: "https://shop.example") { $0.transport = stubs }
        let user: User = try await shop.get("users/1").sender().value
        XCTAssertEqual(stubs.count(of: .get("/users/1")), 1)
        XCTAssertEqual(user.name, "Ada")
    }
}

extension APIClient {
    /// Returns the status of a request without a stub of its own.
    fileprivate func statusWithoutOwnStub() async -> HTTPStatus? {
        await data.get("nowhere").sender().response.status
    }
}

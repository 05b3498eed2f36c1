import Foundation
import SluiceTesting
import XCTest

@testable import Sluice

/// An API as an enum with a case for each request.
final class TargetTests: XCTestCase {
    enum Shop: Target {
        case user(Int), search(String), create(User), rename(Int, String), remove(Int), picture(Data)

        var baseURL: String { "http://shop.test/v1" }
        var path: String {
            switch self {
            case .create: "users"
            case .user(let id), .rename(let id, _), .remove(let id): "users/\(id)"
            case .search: "search"
            case .picture: "picture"
            }
        }
        var method: HTTPMethod {
            switch self {
            case .user, .search: .get
            case .create: .post
            case .rename: .patch
            case .remove: .delete
            case .picture: .put
            }
        }
        var task: RequestTask {
            switch self {
            case .user, .remove: .plain
            case .search(let words): .parameters(["q": words, "page": 2])
            case .create(let user): .json(user, root: "user").query(["notify": true])
            case .rename(_, let name): .parameters(["name": name])
            case .picture(let data): .data(data, contentType: "image/png")
            }
        }
        var headers: HTTPHeaders { ["X-Shop": "1"] }
        var stub: Stub? {
            switch self {
            case .user(let id): .json(#"{"id":\#(id),"name":"Sample"}"#)
            case .remove: .status(.forbidden)
            default: nil
            }
        }
        var validation: Validation {
            if case .user = self { Validation(statuses: [200..<300, 404..<405]) } else { .client }
        }
    }

    struct Weather: Target {
        let city: String
        let baseURL: String
        var path: String { "weather/\(city)" }
        var timeouts: Timeouts? { Timeouts(total: .seconds(5)) }
        var tags: Set<String> { ["slow"] }
        var networkAccess: NetworkAccess { .expensive }
    }

    /// Sends the requests to the loopback server, although the enum has its own host and stubs.
    private func client(_ server: LoopbackServer) -> APIClient {
        APIClient {
            $0.stubMode = .never
            $0.endpointMapping = { endpoint, draft in endpoint is Shop ? draft.host(server.authority) : draft }
        }
    }

    private func echo(of target: Shop) async throws -> LoopbackEcho {
        let server = try LoopbackServer()
        server.on("/v1/*", .echo)
        return try await client(server).request(target).sender().value
    }

    func testTargetWithPlainTaskIsSentAsGET() async throws {
        let server = try LoopbackServer()
        server.on(.get, "/v1/users/1", .json(#"{"id":1,"name":"Ada"}"#))
        let user: User = try await client(server).request(Shop.user(1)).sender().value
        XCTAssertEqual(user, User(id: 1, name: "Ada"))
    }

    func testParametersAreSentInTheQueryOfBodilessMethods() async throws {
        let echo = try await echo(of: .search("a b"))
        XCTAssertEqual(echo.method, "GET")
        XCTAssertEqual(echo.target, "/v1/search?page=2&q=a%20b")
        XCTAssertEqual(echo.text, "")
        XCTAssertEqual(echo.values(for: "X-Shop"), ["1"])
    }

    func testParametersAreSentAsFormOfMethodsWithBody() async throws {
        let echo = try await echo(of: .rename(3, "Ada & Co"))
        XCTAssertEqual(echo.method, "PATCH")
        XCTAssertEqual(echo.target, "/v1/users/3")
        XCTAssertEqual(echo.values(for: .contentType), ["application/x-www-form-urlencoded"])
        XCTAssertEqual(echo.text, "name=Ada%20%26%20Co")
    }

    func testBodyAndQueryParametersAreCombined() async throws {
        let echo = try await echo(of: .create(User(id: 1, name: "Ada")))
        XCTAssertEqual(echo.method, "POST")
        XCTAssertEqual(echo.target, "/v1/users?notify=1")
        let sent = try JSONDecoder().decode([String: User].self, from: Data((echo.text ?? "").utf8))
        XCTAssertEqual(sent, ["user": User(id: 1, name: "Ada")])
    }

    func testDataIsSentWithItsContentType() async throws {
        let echo = try await echo(of: .picture(Data([1, 2, 3])))
        XCTAssertEqual(echo.method, "PUT")
        XCTAssertEqual(echo.values(for: .contentType), ["image/png"])
        XCTAssertEqual(echo.base64, Data([1, 2, 3]).base64EncodedString())
    }

    func testTargetDeterminesAcceptableStatusCodes() async throws {
        let server = try LoopbackServer()
        server.on("/v1/*", .json(#"{"id":0,"name":"nobody"}"#, status: .notFound))
        let nobody: User = try await client(server).request(Shop.user(9)).sender().value
        XCTAssertEqual(nobody.name, "nobody")
        let refused = await client(server).empty.request(Shop.remove(9)).sender().result.failure
        XCTAssertEqual(refused?.code, .unacceptableStatus)
    }

    func testOneClientSendsTargetsAndModelsOfSeveralTypes() async throws {
        let server = try LoopbackServer()
        server.on("/v1/users/1", .json(#"{"id":1,"name":"Ada"}"#))
        server.on("/weather/rome", .text("sunny"))
        let client = client(server)
        let user: User = try await client.request(Shop.user(1)).sender().value
        let weather = try await client.string.request(Weather(city: "rome", baseURL: server.url)).sender().value
        let name = try await client.json.request(Shop.user(1), as: JSON.self).sender().value.name.string
        XCTAssertEqual([user.name, weather, name], ["Ada", "sunny", "Ada"])
    }

    func testModifiersApplyToTargetRequests() async throws {
        let server = try LoopbackServer()
        server.on("/v1/*", .echo)
        let request: APIRequest<LoopbackEcho, ShopError> = client(server).request(Shop.search("x"))
            .query("size", 10)
            .header("X-Shop", "2")
        let echo = try await request.sender().value
        XCTAssertEqual(echo.target, "/v1/search?size=10&page=2&q=x")
        XCTAssertEqual(echo.values(for: "X-Shop"), ["2"])
    }

    func testEndpointAndRequestMappingsChangeTheRequest() async throws {
        let server = try LoopbackServer()
        server.on("/*", .echo)
        let client = APIClient {
            $0.endpointMapping = { endpoint, draft in
                guard case Shop.search(let words)? = endpoint as? Shop else { return draft }
                var draft = draft.baseURL(server.url).header("X-Words", "\(words.count)").timeout(total: .seconds(3))
                draft.method = .post
                return draft
            }
            $0.requestMapping = { request in
                var request = request
                request.headers["X-Target"] = request.path
                return request
            }
        }
        let echo: LoopbackEcho = try await client.request(Shop.search("ab")).sender().value
        XCTAssertEqual(echo.method, "POST")
        XCTAssertEqual(echo.text, "page=2&q=ab")
        XCTAssertEqual(echo.values(for: "X-Words"), ["2"])
        XCTAssertEqual(echo.values(for: "X-Target"), ["/search"])
    }

    func testErrorOfAMappingIsTheUnderlyingError() async throws {
        struct Closed: Error {}
        let server = try LoopbackServer()
        let closedTargets = APIClient(baseURL: server.url) { $0.endpointMapping = { _, _ in throw Closed() } }
        let closedRequests = APIClient(baseURL: server.url) { $0.requestMapping = { _ in throw Closed() } }
        for client in [closedTargets, closedRequests] {
            let error = await client.data.request("x").sender().result.failure
            XCTAssertEqual(error?.code, .buildingFailed)
            XCTAssertTrue(error?.underlyingError is Closed)
        }
        XCTAssertEqual(server.connections, 0)
    }

    func testStubsOfTargetsAnswerUnlessTheClientNeverUsesStubs() async throws {
        let client = APIClient()
        let user: User = try await client.request(Shop.user(7)).sender().value
        XCTAssertEqual(user, User(id: 7, name: "Sample"))
        let error = await client.empty.request(Shop.remove(7)).sender().result.failure
        XCTAssertEqual(error?.status, .forbidden)
        let server = try LoopbackServer()
        server.on("/v1/users/7", .json(#"{"id":7,"name":"Real"}"#))
        let real: User = try await self.client(server).request(Shop.user(7)).sender().value
        XCTAssertEqual(real.name, "Real")
    }

    func testTaskSaysTheMethod() async throws {
        enum Users: Target {
            case find(String), create(User), rename(Int, String), replace(User), remove(Int), lock(Int)
            var baseURL: String { "http://shop.test" }
            var path: String { "users" }
            var stub: Stub { .answering { .text("\($0.method) \($0.path) \($0.headers[.contentType] ?? "")") } }
            var task: MethodTask {
                switch self {
                case .find(let name): .get(.parameters(["name": name]))
                case .create(let user): .post(.json(user))
                case .rename(let id, let name): .patch(.form(["name": name]).query(["id": id]))
                case .replace(let user): .put(.json(user))
                case .remove(let id): .delete(.parameters(["id": id]))
                case .lock: .init("LOCK")
                }
            }
        }
        let ada = User(id: 1, name: "Ada")
        let client = APIClient()
        var sent: [String] = []
        for target: Users in [.find("Ada"), .create(ada), .rename(1, "Bea"), .replace(ada), .remove(1), .lock(1)] {
            sent.append(try await client.string.request(target).sender().value)
        }
        XCTAssertEqual(
            sent,
            [
                "GET /users?name=Ada ", "POST /users application/json",
                "PATCH /users?id=1 application/x-www-form-urlencoded", "PUT /users application/json",
                "DELETE /users?id=1 ", "LOCK /users ",
            ]
        )
    }

    func testBodyOfACaseWhoseMethodIsGETFailsBeforeItIsSent() async throws {
        enum Users: Target {
            case all, create(User), add(User)
            var baseURL: String { "http://shop.test" }
            var path: String { "users" }
            // The author forgot a case.
            var method: HTTPMethod { if case .add = self { .post } else { .get } }
            var task: RequestTask {
                switch self {
                case .all: .parameters(["page": 1])
                case .create(let user), .add(let user): .json(user)
                }
            }
            var stub: Stub { .status(.noContent) }
        }
        let ada = User(id: 1, name: "Ada")
        let client = APIClient()
        let error = await client.empty.request(Users.create(ada)).sender().result.failure
        XCTAssertEqual(error?.code, .invalidMethod)
        XCTAssertEqual(error?.error.step, .building)
        XCTAssertEqual(error?.error.reason.contains("a GET request takes none"), true)
        for target: Users in [.all, .add(ada)] { _ = try await client.empty.request(target).sender().value }
        // The client's mapping may correct the method.
        let mapped = APIClient {
            $0.endpointMapping = { _, draft in
                var draft = draft
                draft.method = .post
                return draft
            }
        }
        _ = try await mapped.empty.request(Users.create(ada)).sender().value
    }

    func testPropertiesNeedNotBeOptional() async throws {
        struct Report: Target {
            var baseURL: String { "http://reports.invalid" }
            var path: String { "report" }
            var timeouts: Timeouts { Timeouts(total: .seconds(7)) }
            var host: String { "cdn.test" }
            var stub: Stub { .answering { .text($0.authority) } }
        }
        let host = try await APIClient().string.request(Report()).sender().value
        XCTAssertEqual(host, "cdn.test")
        XCTAssertEqual(Report().draft().options.timeouts.applied(to: Timeouts()).total, .seconds(7))
    }

    func testPropertiesOfOtherTypesAreConverted() throws {
        struct Feed: Target {
            var baseURL: String { "http://shop.test" }
            var path: String { "feed" }
            var headers: [String: String] { ["X-B": "2", "X-A": "1"] }
            var networkAccess: NetworkAccess? { .expensive }
            var cachePolicy: CachePolicy? { .reload }
            var dataSource: DataSource { .cacheElseServer }
            var cacheExpiration: CacheExpiration { .seconds(60) }
            var tags: [String] { ["slow", "slow", "home"] }
        }
        let request = try APIClient().string.request(Feed()).httpRequest()
        XCTAssertEqual(request.headers["X-A"], "1")
        XCTAssertEqual(request.headers["X-B"], "2")
        let draft = Feed().draft()
        XCTAssertEqual(draft.tags, ["slow", "home"])
        XCTAssertEqual(draft.options.networkAccess, .expensive)
        // Functions that take any target get the converted values.
        let target: any Target = Feed()
        XCTAssertEqual(target.headers["X-A"], "1")
        XCTAssertEqual(target.tags, ["slow", "home"])
        XCTAssertEqual(target.cachePolicy, .reload)
        XCTAssertNotNil(target.dataSource)
        XCTAssertEqual(target.cacheExpiration, .seconds(60))
    }

    func testOptionalPropertiesAreConverted() throws {
        struct Create: Target {
            var baseURL: String { "http://shop.test" }
            var path: String { "users" }
            var task: MethodTask?
            var headers: [String: String]?
            var tags: Set<String>?
        }
        struct Rename: Target {
            var baseURL: String { "http://shop.test" }
            var path: String { "users/1" }
            var method: HTTPMethod { .patch }
            var task: RequestTask?
            var headers: HTTPHeaders?
            var tags: [String]?
        }
        XCTAssertEqual(Create().draft().method, .get)
        XCTAssertNil(Create().draft().body)
        XCTAssertTrue(Create().draft().headers.isEmpty)
        let create = Create(task: .post(.json(["name": "Ada"])), headers: ["X-A": "1"], tags: ["slow"]).draft()
        XCTAssertEqual(create.method, .post)
        XCTAssertNotNil(create.body)
        XCTAssertEqual(create.headers["X-A"], "1")
        XCTAssertEqual(create.tags, ["slow"])
        XCTAssertEqual(Rename().draft().method, .patch)
        XCTAssertNil(Rename().draft().body)
        XCTAssertTrue(Rename().draft().headers.isEmpty)
        XCTAssertTrue(Rename().draft().tags.isEmpty)
        let rename = Rename(task: .json(["name": "Bea"]), headers: ["X-A": "1"], tags: ["slow"]).draft()
        XCTAssertNotNil(rename.body)
        XCTAssertEqual(rename.headers["X-A"], "1")
        XCTAssertEqual(rename.tags, ["slow"])
    }

    func testATargetCanWrapAnother() throws {
        struct Versioned<Base: Target>: Target {
            let base: Base
            var baseURL: String { base.baseURL }
            var path: String { "v2/" + base.path }
            var method: HTTPMethod { base.method }
            var task: RequestTask { base.task }
            var headers: HTTPHeaders { base.headers }
            var stub: Stub? { base.stub }
        }
        struct Create: Target {
            var baseURL: String { "http://shop.test" }
            var path: String { "users" }
            var task: MethodTask { .put(.json(["name": "Ada"])) }
            var headers: [String: String] { ["X-A": "1"] }
            var stub: Stub { .status(.noContent) }
        }
        let draft = Versioned(base: Create()).draft()
        XCTAssertEqual(draft.method, .put)
        XCTAssertEqual(draft.path, "v2/users")
        XCTAssertNotNil(draft.body)
        XCTAssertEqual(draft.headers["X-A"], "1")
        XCTAssertNotNil(draft.options.stub)
    }

    func testNoValidationOfATargetAcceptsEveryResponse() async throws {
        struct Probe: Target {
            var baseURL: String { "http://shop.test" }
            var path: String { "probe" }
            var validation: Validation { .none }
            var stub: Stub { .text("closed", status: .serviceUnavailable) }
        }
        let strict = APIClient { $0.validation = Validation(statuses: [200..<201]) }
        let text = try await strict.string.request(Probe()).sender().value
        XCTAssertEqual(text, "closed")
        let clients = await strict.string.request(Probe()).validate(.client).sender().result.failure
        XCTAssertEqual(clients?.code, .unacceptableStatus)
    }

    func testTargetSetsTagsAndNetworkAccess() throws {
        let draft = Weather(city: "rome", baseURL: "http://a.b").draft()
        XCTAssertEqual(draft.tags, ["slow"])
        XCTAssertEqual(draft.options.networkAccess, .expensive)
    }

    func testTimeOutOfTheTargetFailsTheRequest() async throws {
        struct Slow: Target {
            let baseURL: String
            var path: String { "slow" }
            var timeouts: Timeouts? { Timeouts(total: .milliseconds(50)) }
        }
        let server = try LoopbackServer()
        server.on("/slow", .hang)
        let result = await APIClient().data.request(Slow(baseURL: server.url)).sender().result
        XCTAssertEqual(result.failure?.code, .timedOut)
    }
}

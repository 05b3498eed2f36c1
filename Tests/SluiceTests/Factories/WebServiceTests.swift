import Foundation
import Sluice
import SluiceTesting
import XCTest

/// An API as a type whose functions return requests.
final class WebServiceTests: XCTestCase {
    struct ShopService: WebService {
        let client: APIClient

        func user(_ id: Int) -> APIRequest<User, ShopError> { server.get("users/\(id)") }
        func search(_ words: String) -> APIRequest<[User], ShopError> { server.get("users").query("q", words) }
        func create(_ user: User) -> APIRequest<User, ShopError> { server.post("users").json(user) }
        func replace(_ user: User) -> APIRequest<User, ShopError> {
            server.put("users/\(user.id)").header("If-Match", "*").json(user).timeout(total: .seconds(5))
        }
        func follow(_ id: Int) -> APIRequest<LoopbackEcho, ShopError> { server.post("users/\(id)/follow") }
        func signIn(_ name: String, _ password: String) -> APIRequest<LoopbackEcho, ShopError> {
            server.post("session").form(["user": name, "remember": true]).basicAuthorization(name, password)
        }
        func note(_ text: String) -> APIRequest<LoopbackEcho, ShopError> {
            server.post("notes").data(Data(text.utf8), contentType: "text/markdown").tags("notes")
        }
        func remove(_ id: Int) -> APIRequest<Empty, ShopError> { server.empty.delete("users/\(id)") }
        func motto() -> APIRequest<String, ShopError> { server.string.get("motto") }
    }

    /// A namespace of static functions works as well.
    enum Users {
        static func all(of client: APIClient) -> APIRequest<[User], ShopError> { client.get("users") }
        static func create(_ user: User, at client: APIClient) -> APIRequest<User, ShopError> {
            client.post("users").json(user)
        }
        static func read(_ id: Int, of client: APIClient) -> APIRequest<User, ShopError> { client.get("users/\(id)") }
        static func update(_ user: User, at client: APIClient) -> APIRequest<User, ShopError> {
            client.put("users/\(user.id)").json(user)
        }
        static func delete(_ id: Int, of client: APIClient) -> APIRequest<Empty, ShopError> {
            client.empty.delete("users/\(id)")
        }
    }

    /// A service with one client for the whole program.
    enum Members {
        static let server = APIClient(baseURL: "https://shop.test/v1") {
            $0.stubMode = .immediate
            $0.stub = .json(#"{"id":1,"name":"Ada"}"#)
        }

        static func read(_ id: Int) -> APIRequest<User, ShopError> { server.get("members/\(id)") }
        static func rename(_ user: User) -> APIRequest<User, ShopError> { server.put("members/\(user.id)").json(user) }
        static func remove(_ id: Int) -> APIRequest<Empty, ShopError> { server.empty.delete("members/\(id)") }
    }

    /// The servers of the test. A server stops when it is deallocated.
    private var servers: [LoopbackServer] = []

    override func tearDown() {
        servers = []
    }

    private func shop() throws -> (ShopService, LoopbackServer) {
        let server = try LoopbackServer()
        servers.append(server)
        server.on(.get, "/users", .json(#"[{"id":1,"name":"Ada"}]"#))
        server.on(.get, "/users/1", .json(#"{"id":1,"name":"Ada"}"#))
        server.on(.post, "/users") { .data($0.body, contentType: "application/json", status: .created) }
        server.on(.put, "/users/*") { .data($0.body, contentType: "application/json") }
        server.on(.delete, "/users/*", .data(Data(), status: .noContent))
        server.on(.get, "/motto", .text("Buy less."))
        server.on(.post, "/users/1/follow", .echo)
        server.on(.post, "/session", .echo)
        server.on(.post, "/notes", .echo)
        return (ShopService(client: APIClient(baseURL: server.url)), server)
    }

    func testFunctionsReturnTypedRequests() async throws {
        let (shop, server) = try shop()
        let user = try await shop.user(1).sender().value
        let found = try await shop.search("ada").sender().value
        let created = try await shop.create(User(id: 2, name: "Grace")).sender().value
        let replaced = try await shop.replace(User(id: 2, name: "Hopper")).sender().value
        let motto = try await shop.motto().sender().value
        XCTAssertEqual([user, created, replaced].map(\.name), ["Ada", "Grace", "Hopper"])
        XCTAssertEqual(found, [User(id: 1, name: "Ada")])
        XCTAssertEqual(motto, "Buy less.")
        XCTAssertEqual(server.requests[1].query, "q=ada")
        XCTAssertEqual(server.requests[3].headers["If-Match"], "*")
        _ = try await shop.remove(2).sender().value
        XCTAssertEqual(server.requests.last?.method, .delete)
    }

    func testPOSTWithoutBodyIsSent() async throws {
        let (shop, _) = try shop()
        let echo = try await shop.follow(1).sender().value
        XCTAssertEqual(echo.method, "POST")
        XCTAssertEqual(echo.text, "")
    }

    func testFormAndBasicAuthorizationAreSent() async throws {
        let (shop, _) = try shop()
        let echo = try await shop.signIn("ada", "pässword:1").sender().value
        XCTAssertEqual(echo.text, "remember=1&user=ada")
        let token = Data("ada:pässword:1".utf8).base64EncodedString()
        XCTAssertEqual(echo.values(for: .authorization), ["Basic \(token)"])
        let error = await shop.signIn("a:b", "c").sender().result.failure
        XCTAssertEqual(error?.message.contains("colon"), true)
    }

    func testDataIsSentWithItsContentType() async throws {
        let (shop, _) = try shop()
        let echo = try await shop.note("# Title").sender().value
        XCTAssertEqual(echo.values(for: .contentType), ["text/markdown"])
        XCTAssertEqual(echo.text, "# Title")
        let other = try await shop.note("x").contentType("text/plain").sender().value
        XCTAssertEqual(other.values(for: .contentType), ["text/plain"])
    }

    func testStaticServiceHasItsOwnClient() async throws {
        let user = try await Members.read(1).sender().value
        XCTAssertEqual(user.name, "Ada")
        let rename = try Members.rename(user).httpRequest()
        XCTAssertEqual("\(rename)", "PUT https://shop.test/v1/members/1")
        _ = try await Members.remove(1).sender().value
    }

    func testStaticFunctionsReturnTypedRequests() async throws {
        let client = try shop().0.client
        let users = try await Users.all(of: client).sender().value
        let read = try await Users.read(1, of: client).sender().value
        let created = try await Users.create(User(id: 3, name: "Edsger"), at: client).sender().value
        let updated = try await Users.update(User(id: 3, name: "Dijkstra"), at: client).sender().value
        XCTAssertEqual(
            users + [read, created, updated],
            [
                User(id: 1, name: "Ada"), User(id: 1, name: "Ada"), User(id: 3, name: "Edsger"),
                User(id: 3, name: "Dijkstra"),
            ]
        )
        _ = try await Users.delete(3, of: client).sender().value
    }

    func testFailuresHaveTheErrorTypeOfTheService() async throws {
        let (shop, server) = try shop()
        server.on(.get, "/users/1", .json(#"{"message":"Gone for lunch."}"#, status: .serviceUnavailable))
        do {
            _ = try await shop.user(1).sender().value
            XCTFail("There is no user.")
        } catch {
            XCTAssertEqual(error.message, "Gone for lunch.")
        }
    }

    func testTagsArePassedToInterceptors() async throws {
        struct TagHeader: RequestInterceptor {
            func intercept(_ request: HTTPRequest, context: RequestContext) async throws -> HTTPRequest {
                var request = request
                request.headers["X-Tags"] = context.tags.sorted().joined(separator: " ")
                return request
            }
        }
        let server = try LoopbackServer()
        server.on(.post, "/notes", .echo)
        let client = APIClient(baseURL: server.url) { $0.requestInterceptors = [TagHeader()] }
        let echo = try await ShopService(client: client).note("x").tags("draft").sender().value
        XCTAssertEqual(echo.values(for: "X-Tags"), ["draft notes"])
    }
}

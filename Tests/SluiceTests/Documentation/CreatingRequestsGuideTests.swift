import Sluice
import SluiceTesting
import XCTest

/// The article on the ways to create a request.
final class CreatingRequestsGuideTests: XCTestCase {
    struct User: Codable, Sendable {
        let id: Int
        let name: String
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
    }

    enum Mottos {
        static let server = APIClient(baseURL: "https://mottos.example")

        static func today() -> APIRequest<String, ShopError> {
            server.string.get("today")
        }
    }

    struct ShopService: WebService {
        let client: APIClient

        func user(_ id: Int) -> APIRequest<User, ShopError> {
            server.get("users/\(id)")
        }
        func create(_ user: User) -> APIRequest<User, ShopError> {
            server.post("users").json(user)
        }
        func motto() -> APIRequest<String, ShopError> {
            server.string.get("motto")
        }
    }

    struct Removals: WebService {
        let client: APIClient

        func delete(_ id: Int) -> APIRequest<Empty, ShopError> {
            server.empty.delete("users/\(id)")
        }
    }

    private func shopServer() throws -> LoopbackServer {
        let server = try LoopbackServer()
        for prefix in ["", "/v1"] {
            server.on(.get, "\(prefix)/users", .json(#"[{"id":1,"name":"Ada"}]"#))
            server.on(.get, "\(prefix)/users/1", .json(#"{"id":1,"name":"Ada"}"#))
            server.on(.post, "\(prefix)/users") { .data($0.body, contentType: "application/json") }
            server.on(.delete, "\(prefix)/users/3", .data(Data(), status: .noContent))
        }
        server.on(.get, "/motto", .text("Buy less."))
        return server
    }

    func testAnyMethodAndBody() async throws {
        let server = try shopServer()
        let shop = APIClient(baseURL: server.url)
        func fetch<Model: Decodable & Sendable>(
            _ path: String,
            as model: Model.Type = Model.self,
            method: HTTPMethod = .get,
            body: (any Encodable & Sendable)? = nil
        ) async throws(APIError) -> Model {
            try await shop.request(path, as: model).method(method).body(body.map { .json($0) }).sender().value
        }
        let user: User = try await fetch("users/1")
        XCTAssertEqual(user.name, "Ada")
        let created = try await fetch("users", as: User.self, method: .post, body: User(id: 3, name: "Grace"))
        XCTAssertEqual(created.name, "Grace")
        XCTAssertEqual(server.requests.map(\.method), [.get, .post])
        XCTAssertEqual(server.requests.first?.body.isEmpty, true)
    }

    func testAtTheCall() async throws {
        let server = try shopServer()
        let shop = APIClient(baseURL: server.url)
        let user: User = try await shop.get("users/1").sender().value
        let motto = try await shop.string.get("motto").sender().value
        let name = try await shop.json.get("users/1").sender().value.name.stringValue
        XCTAssertEqual([user.name, motto, name], ["Ada", "Buy less.", "Ada"])
        let created: User = try await shop.codable.post("users").json(User(id: 3, name: "Grace")).sender().value
        _ = try await shop.empty.delete("users/3").sender().value
        XCTAssertEqual(created.name, "Grace")
    }

    func testAnEnum() async throws {
        let server = try shopServer()
        let client = APIClient { $0.endpointMapping = { _, draft in draft.host(server.url) } }
        let ada: User = try await client.request(Shop.user(1)).sender().value
        let text = try await client.string.request(Shop.search("ada")).sender().value
        XCTAssertEqual(ada.name, "Ada")
        XCTAssertEqual(text, #"[{"id":1,"name":"Ada"}]"#)
        let milk = client.string.request(Shop.search("tea")).withoutQuery("q").query("q", "milk")
        XCTAssertEqual(try milk.httpRequest().path, "/v1/users?q=milk&page=1")
        let tracing = APIClient {
            $0.endpointMapping = { endpoint, draft in
                endpoint is Shop ? draft.header("X-Shop", "1").timeout(total: .seconds(5)) : draft
            }
            $0.requestMapping = { request in
                var request = request
                if request.method == .patch { request.method = .put }
                request.headers["X-Path"] = request.path
                return request
            }
        }
        let request = try tracing.data.request(Shop.user(1)).httpRequest()
        XCTAssertEqual([request.headers["X-Shop"], request.headers["X-Path"]], ["1", "/v1/users/1"])
        let change = tracing.codable.request(Shop.user(1), as: User.self).patch().json(["name": "Ada"])
        XCTAssertEqual(try change.httpRequest().method, .put)
    }

    func testAService() async throws {
        let server = try shopServer()
        let shop = APIClient(baseURL: server.url)
        let grace = try await ShopService(client: shop).create(User(id: 2, name: "Grace")).sender().value
        XCTAssertEqual(grace.name, "Grace")
        let motto = try await ShopService(client: shop).motto().sender().value
        XCTAssertEqual(motto, "Buy less.")
        _ = try await Removals(client: shop).delete(3).sender().value
        XCTAssertEqual(server.requests.last?.method, .delete)
        XCTAssertEqual("\(try Mottos.today().httpRequest())", "GET https://mottos.example/today")
        func name(of request: some TypedRequest<User, ShopError>) async throws -> String {
            try await request.sender().value.name
        }
        let name = try await name(of: shop.get("users/1"))
        XCTAssertEqual(name, "Ada")
    }
}

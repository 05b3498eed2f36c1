import Foundation
import Sluice
import SluiceTesting
import XCTest

/// The guide for users of TRON.
final class MovingFromTRONTests: XCTestCase {
    struct Badge: JSONDecodable {
        let owner: String
        let points: Int

        init(json: JSON) throws {
            owner = try json.value(at: "user.name")
            points = json["points"].intValue
        }
    }

    struct CartError: ErrorSerializable {
        let fields: [String: [String]]
        let status: Int?

        init(_ failure: RequestFailure) {
            struct Body: Decodable { let errors: [String: [String]] }
            fields = (try? failure.decoded(as: Body.self))?.errors ?? [:]
            status = failure.response?.status.rawValue
        }
    }

    enum Users {
        static let client = APIClient(baseURL: "https://shop.example")

        static func create(_ user: User) -> APIRequest<User, ShopError> { client.codable.post("users").json(user) }
        static func read(_ id: Int) -> APIRequest<User, ShopError> { client.codable.get("users/\(id)") }
        static func update(_ user: User) -> APIRequest<User, ShopError> {
            client.codable.put("users/\(user.id)").json(user)
        }
        static func delete(_ id: Int) -> APIRequest<Empty, ShopError> { client.empty.delete("users/\(id)") }
    }

    private let ada = #"{"id":1,"name":"Ada"}"#

    func testRequestsAndURLs() async throws {
        let server = try LoopbackServer()
        server.on("/me", .json(ada))
        let shop = APIClient(baseURL: server.url)
        let request: APIRequest<User, APIError> = shop.codable.request("me")
        let user = try await request.sender().value
        let sender = request.sender()
        let result = await sender.result
        let response = await sender.response
        print(result, response.status ?? 0, response.body.count, response.metrics?.total ?? .zero)
        XCTAssertEqual(try result.get(), user)
        XCTAssertEqual(server.requests.count, 2)
        let relative = APIClient(baseURL: "https://shop.example/v1/") { $0.urlBuilder = .relative }
        let legacy = shop.data.get("users").urlBuilder(URLBuilder { base, path in "\(base)/index.php?route=\(path)" })
        let whole = shop.data.get("https://other.example/users")
        let urls = try [relative.data.get("../v2/users"), legacy, whole].map { try $0.httpRequest().url }
        let expected = [
            "https://shop.example/v2/users", "\(server.url)/index.php?route=users", "https://other.example/users",
        ]
        XCTAssertEqual(urls, expected)
    }

    func testParametersAndDecoders() async throws {
        let server = try LoopbackServer()
        server.on(.post, "/echo") { .data($0.body) }
        server.on(.get, "/echo") { .text($0.query ?? "") }
        server.on("/me", .json(ada))
        let shop = APIClient(baseURL: server.url)
        let city: String? = nil
        let create = shop.string.post("echo")
            .header("X-Tenant", "t1")
            .json(Parameters(["name": "Ada", "nick": nil], nilValues: .null), root: "user")
            .validate(statuses: 200..<300)
        let search = shop.string.get("echo").parameters(["q": "ada", "city": city])
        let body = try await create.sender().value
        let query = try await search.sender().value
        XCTAssertEqual(try JSON(parsing: body), ["user": ["name": "Ada", "nick": nil]])
        XCTAssertEqual(query, "q=ada")
        let snake = JSONDecoder()
        snake.keyDecodingStrategy = .convertFromSnakeCase
        let careful = shop.codable(modelDecoder: snake, errorDecoder: JSONDecoder())
        let mine: APIRequest<User, APIError> = careful.request("me")
        let user = try await mine.sender().value
        XCTAssertEqual(user.name, "Ada")
    }

    func testJSON() async throws {
        let server = try LoopbackServer()
        let badge = #"{"user":{"name":"Ada"},"points":3}"#
        server.on("/badges", .json("[\(badge)]"))
        server.on("/badges/by-name", .json(#"{"ada":\#(badge)}"#))
        server.on("/badges/count", .json("1"))
        server.on(.delete, "/badges/1", .status(.noContent))
        server.on("/page", .json(#"{"data":{"items":[\#(ada)]}}"#))
        let shop = APIClient(baseURL: server.url)
        let badges: [Badge] = try await shop.json.request("badges").sender().value
        let byName: [String: Badge] = try await shop.json.request("badges/by-name").sender().value
        let count: Int = try await shop.json.request("badges/count").sender().value
        let nothing = try await shop.empty.delete("badges/1").sender().value
        let wrapped: [User] = try await shop.get("page").keyPath("data.items").sender().value
        XCTAssertEqual([badges.first?.points, byName["ada"]?.points, count], [3, 3, 1])
        XCTAssertEqual(wrapped.first?.name, "Ada")
        _ = nothing
    }

    func testErrors() async throws {
        let server = try LoopbackServer()
        server.on("/orders", .json(#"{"errors":{"item":["is sold out"]}}"#, status: .unprocessableContent))
        let shop = APIClient(baseURL: server.url)
        let order: APIRequest<User, CartError> = shop.codable.post("orders").json(["item": 17])
        do {
            _ = try await order.sender().value
        } catch {
            // No cast: this is a CartError.
            print(error.fields["item"] ?? [], error.status ?? 0)
        }
        guard case .failure(let error) = await order.sender().result else { return XCTFail("The request succeeded.") }
        XCTAssertEqual(error.fields, ["item": ["is sold out"]])
    }

    func testTransfers() async throws {
        let fixture = try DownloadFixture(bytes: 0)
        let picture = fixture.folder.appending(path: "picture.jpg")
        let target = fixture.folder.appending(path: "file.txt")
        let cat = Data("cat".utf8)
        try cat.write(to: picture)
        for path in ["/photo", "/form", "/me"] { fixture.server.on(path, .json(ada)) }
        fixture.server.on("/file", .resource(LoopbackResource(Data("hello".utf8), eTag: "\"1\"")))
        let shop = fixture.client
        let frames = AsyncStream { continuation in
            for frame in ["c", "a", "t"] { continuation.yield(Data(frame.utf8)) }
            continuation.finish()
        }
        let bytes: APIRequest<User, APIError> = shop.upload("photo", .data(cat, contentType: "image/jpeg"))
        let file: APIRequest<User, APIError> = shop.upload("photo", .file(picture))
        let stream: APIRequest<User, APIError> = shop.upload("photo", .stream(frames, length: 3))
        let cats: MultipartForm = [.data(cat, name: "cat", contentType: "image/jpeg")]
        let form: APIRequest<User, APIError> = shop.upload("form", .multipart(cats))
        for request in [bytes, stream, form] { _ = try await request.sender().value }
        XCTAssertEqual(fixture.server.requests.prefix(2).map(\.body), [cat, cat])
        let url = try await shop.download("file", to: .file(target)).sender().responseURL
        let report: DownloadAPIRequest<User, APIError> = shop.get("me", as: User.self)
            .download(to: .temporary).decoded()
        XCTAssertEqual(try Data(contentsOf: url), Data("hello".utf8))
        let parsed = await report.sender().response
        XCTAssertEqual(try parsed.result.get().name, "Ada")
        if let temporary = parsed.file?.url { try FileManager.default.removeItem(at: temporary) }
        let upload = file.sender()
        async let answer = upload.value
        for await progress in upload.uploadProgress { print(progress.fractionCompleted ?? 0) }
        print(try await answer.name)
    }

    struct Parsed: Plugin {
        func didFinish(_ result: Result<any Sendable, any Error>, context: RequestContext) {
            switch result {
            case .success(let user as User): print("\(user.name) from \(context.route)")
            case .success(let model): print(type(of: model))
            case .failure(let error as ShopError): print(error.message)
            case .failure(let error): print(error)
            }
        }
    }

    func testPluginsAndCRUD() async throws {
        let server = try LoopbackServer()
        server.on("/motto", .text("Let it flow."))
        let activity = ActivityCounter { isActive, request in
            print("\(request.route) \(isActive ? "begins" : "ends")")
        }
        let watched = APIClient(baseURL: server.url) { $0.observers = [RequestLog(), activity] }
        let traced = watched.string.get("motto").observer(RequestLog(.full))
        let motto = try await traced.plugin(Parsed()).sender().value
        XCTAssertEqual(motto, "Let it flow.")
        let user = User(id: 1, name: "Ada")
        let requests = try [
            Users.create(user).httpRequest(), Users.read(1).httpRequest(), Users.update(user).httpRequest(),
            Users.delete(1).httpRequest(),
        ]
        XCTAssertEqual(requests.map(\.method), [.post, .get, .put, .delete])
    }

    func testStubs() async throws {
        let server = try LoopbackServer()
        server.on("/me", .json(ada))
        let folder = try DownloadFixture(bytes: 0)
        let fixture = folder.file
        try Data(#"{"id":3,"name":"Alan"}"#.utf8).write(to: fixture)
        let shop = APIClient(baseURL: server.url)
        let me = shop.codable.get("me", as: User.self)
        let ada = me.stub(.json(#"{"id":1,"name":"Ada"}"#))
        let grace = me.stub(.json(encoding: User(id: 2, name: "Grace")))
        let kept = me.stub(.file(fixture), mode: .delayed(.milliseconds(10)))
        let missing = me.stub(.json(#"{"message":"Nobody."}"#, status: .notFound))
        let lost = me.stub(.failure(.connectionLost))
        let real = ada.stubMode(.never)
        let preview = APIClient(baseURL: "https://shop.example") { $0.stub = .status(.serviceUnavailable) }
        var names: [String] = []
        for request in [ada, grace, kept, real] { names.append(try await request.sender().value.name) }
        XCTAssertEqual(names, ["Ada", "Grace", "Alan", "Ada"])
        let failures = await [missing.sender().response.failure?.code, lost.sender().response.failure?.code]
        XCTAssertEqual(failures, [.unacceptableStatus, .connectionLost])
        let status = await preview.data.get("me").sender().response.status
        XCTAssertEqual(status, .serviceUnavailable)
        XCTAssertEqual(server.requests.count, 1)
    }
}

import Foundation
import Sluice
import SluiceTesting
import XCTest

/// The guide for users of SYMoyaNetwork.
final class MovingFromSYMoyaNetworkTests: XCTestCase {
    enum Shop: Target {
        case user(Int)
        case picture(Int)

        var baseURL: String { "https://shop.example" }
        var path: String {
            switch self {
            case .user(let id): "users/\(id)"
            case .picture(let id): "pictures/\(id)"
            }
        }
        var host: String? {
            if case .picture = self { "cdn.shop.example" } else { nil }
        }
        var timeouts: Timeouts? { Timeouts(idle: .seconds(5)) }
        var networkAccess: NetworkAccess { [.expensive, .constrained] }
        var cachePolicy: CachePolicy { .reload }
        var dataSource: DataSource? {
            if case .picture = self { .cacheElseServer } else { nil }
        }
        var cacheExpiration: CacheExpiration? { .days(30) }
        var usesCookies: Bool { false }
    }

    struct Account: Decodable, Sendable {
        let id: Int
        let isActive: Bool
    }

    /// A GIF of one pixel.
    private let gif = Data(base64Encoded: "R0lGODlhAQABAAAAACwAAAAAAQABAAACAkQBADs=") ?? Data()

    private func shopServer() throws -> LoopbackServer {
        let server = try LoopbackServer()
        server.on("/users/1", .json(#"{"id":1,"name":"Ada"}"#))
        server.on("/pictures/1", .data(gif, contentType: "image/gif"))
        server.on("/motto", .text("Let it flow."))
        return server
    }

    func testModels() async throws {
        let server = try shopServer()
        let client = APIClient { $0.endpointMapping = { _, draft in draft.host(server.url) } }
        let user: User = try await client.request(Shop.user(1)).sender().value
        let json: JSON = try await client.json.request(Shop.user(1)).sender().value
        let text = try await client.string.request(Shop.user(1)).sender().value
        let picture = try await client.image.request(Shop.picture(1)).sender().value
        print(user.name, json.name.stringValue, text.count, picture.width)
        XCTAssertEqual([user.name, json.name.stringValue], ["Ada", "Ada"])
        XCTAssertEqual([picture.width, picture.height], [1, 1])
        let urls = try [Shop.user(1), .picture(1)].map { try APIClient().data.request($0).httpRequest().url }
        XCTAssertEqual(urls, ["https://shop.example/users/1", "https://cdn.shop.example/pictures/1"])
    }

    func testCache() async throws {
        let server = try shopServer()
        let folder = FileManager.default.temporaryDirectory.appending(path: "sluice-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        let store = CacheStore(directory: folder, name: "shop") {
            $0.memory = CacheLimits(bytes: 8 << 20, count: 500)
            $0.disk = CacheLimits(bytes: 64 << 20)
            $0.expiration = .days(7).extendedOnAccess
        }
        let shop = APIClient(baseURL: server.url) { $0.cache = store }
        let feed = shop.codable.get("users/1", as: User.self)
        let kept = try await feed.dataSource(.cacheElseServer, expiration: .days(1)).sender().value
        for try await user in feed.dataSource(.cacheThenServer).sender().values {
            print(user.name)
        }
        XCTAssertEqual(kept.name, "Ada")
        XCTAssertEqual(server.requests(to: "/users/1").count, 2)
        let book = feed.dataSource(
            .custom(storing: { $0.head.headers["X-Preview"] == nil }) { _, stored in
                guard let stored, case .cache(let info) = stored.source else { return .send }
                return info.age < .seconds(60) ? .useStored : .useStoredThenSend
            }
        )
        _ = try await book.sender().value
        XCTAssertEqual(server.requests(to: "/users/1").count, 2)
        try await store.removeExpired()
        print(try await store.size.disk.bytes)
        try await store.removeAll()
        let code = await feed.dataSource(.cache).sender().response.failure?.code
        XCTAssertEqual(code, .cacheMiss)
    }

    func testSeveralRequests() async throws {
        let server = try shopServer()
        let shop = APIClient(baseURL: server.url)
        async let ada = shop.codable.get("users/1", as: User.self).sender().value
        async let motto = shop.string.get("motto").sender().value
        print(try await ada.name, try await motto)
        let logged = APIClient(baseURL: server.url) { $0.observers = [RequestLog(.summary)] }
        let again = try await logged.string.get("motto").sender().value
        XCTAssertEqual(again, "Let it flow.")
    }

    func testBatchesChainsAndGraphs() async throws {
        let server = try shopServer()
        server.on("/users/2", .json(#"{"id":2,"name":"Grace"}"#))
        server.on("/accounts", .json(#"{"id":1,"isActive":false}"#))
        server.on("/accounts/1", .json(#"{"id":1,"isActive":true}"#))
        server.on("/login", .text("t1"))
        let shop = APIClient(baseURL: server.url)
        let (user, slogan) = try await shop.batch(shop.codable.get("users/1", as: User.self), shop.string.get("motto"))
        let sender = shop.batchSender([1, 2].map { shop.codable.get("users/\($0)", as: User.self) })
        async let users = sender.value
        for await progress in sender.progress { print("\(progress.completed) of \(progress.total)") }
        print(user.name, slogan, try await users.map(\.name))
        let statuses = await sender.responses.map(\.status)
        XCTAssertEqual(statuses, [.ok, .ok])
        let register: APIRequest<Account, APIError> = shop.codable.post("accounts")
        let chain = shop.chain(register) { response in
            guard let account = try? response.result.get(), !account.isActive else { return nil }
            return shop.codable.get("accounts/\(account.id)")
        }
        let bar = Task { for await progress in chain.progress { print(progress.request, progress.download.completed) } }
        for try await response in chain { print(response.status ?? 0) }
        await bar.value
        var graph = RequestGraph()
        let token = graph.add("login", shop.string.post("login").form(["user": "ada"]))
        let profile = graph.add("profile", after: token) { token in
            shop.codable.get("users/1", as: User.self).header("X-Token", token)
        }
        print(try await graph.run().value(of: profile).name)
        XCTAssertEqual(server.requests(to: "/accounts/1").count, 1)
        XCTAssertEqual(server.requests(to: "/users/1").last?.headers["X-Token"], "t1")
    }
}

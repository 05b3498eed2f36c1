import Sluice
import SluiceTesting
import XCTest

/// The article on caching.
final class CachingGuideTests: XCTestCase {
    struct Feed: Target {
        var baseURL: String { "https://shop.example" }
        var path: String { "feed" }
        var dataSource: DataSource? { .cacheElseServer }
        var cacheExpiration: CacheExpiration? { .days(1) }
        var cacheTags: Set<String> { ["feed"] }
    }

    private let server = try? LoopbackServer()
    private let directory = try? DownloadFolder()

    override func tearDown() { server?.stop() }

    func testHTTPCaching() async throws {
        let server = try XCTUnwrap(server)
        let folder = try XCTUnwrap(directory).url
        server.on("/prices", .text("1", headers: ["Cache-Control": "max-age=60"]))
        let store = CacheStore(directory: folder)
        let shop = APIClient(baseURL: server.url) { $0.cache = store }
        let small = CacheStore(directory: folder, name: "small") {
            $0.memory.bytes = 16 << 20
            $0.disk = CacheLimits(bytes: 1 << 30, count: 100_000, entryBytes: 8 << 20)
            $0.expiration = .hours(6)
        }
        XCTAssertEqual(small.configuration.memory.entryBytes, 4 << 20)
        let prices = shop.data.get("prices")
        _ = try await prices.sender().value
        let again = await prices.sender().response
        print(again.source.isCache)
        let forced = await prices.cachePolicy(.reload).sender().response
        XCTAssertTrue(again.source.isCache)
        XCTAssertFalse(forced.source.isCache)
        let patient = APIClient(baseURL: server.url) {
            $0.cache = store
            $0.caching.http = HTTPCaching(staleIfError: .seconds(86_400), staleWhileRevalidate: .seconds(60))
        }
        _ = try await patient.data.get("prices").sender().value
        XCTAssertEqual(server.requests.count, 2)
    }

    func testSharedCache() async throws {
        let server = try XCTUnwrap(server)
        server.on("/feed", .text("1", headers: ["Cache-Control": "s-maxage=60", "CDN-Cache-Control": "no-store"]))
        let store = CacheStore(storage: nil)
        let feeds = APIClient(baseURL: server.url) {
            $0.cache = store
            $0.caching.mode = .shared
        }
        let edge = APIClient(baseURL: server.url) {
            $0.cache = store
            $0.caching.mode = .shared(targetedFields: ["Shop-CDN-Cache-Control", "CDN-Cache-Control"])
        }
        for client in [feeds, feeds, edge, edge] { _ = try await client.data.get("feed").sender().value }
        XCTAssertEqual(server.requests.count, 3)
    }

    func testTagsOfAClient() async throws {
        let server = try XCTUnwrap(server)
        server.on("/prices", .text("1", headers: ["Cache-Control": "max-age=60"]))
        let store = CacheStore(directory: try XCTUnwrap(directory).url)
        let catalogue = APIClient(baseURL: server.url) {
            $0.cache = store
            $0.caching.tags = ["catalogue"]
        }
        let prices = catalogue.data.get("prices")
        let partitions = [prices, prices.cachePartition("user-17"), prices.cachePartition("user-18")]
        func areCached() async -> [Bool] {
            var found: [Bool] = []
            for request in partitions { found.append(await request.sender().response.source.isCache) }
            return found
        }
        var found = await areCached()
        XCTAssertEqual(found, [false, false, false])
        await store.flush()
        try await store.partition("user-17").remove(tag: "catalogue")
        found = await areCached()
        XCTAssertEqual(found, [true, false, true])
        try await store.remove(tag: "catalogue")
        found = await areCached()
        XCTAssertEqual(found, [false, false, false])
    }

    func testDataSources() async throws {
        let server = try XCTUnwrap(server)
        server.on("/users/1", .json(#"{"id":1,"name":"Ada"}"#))
        let store = CacheStore(storage: nil)
        let shop = APIClient(baseURL: server.url) { $0.cache = store }
        let feed = shop.codable.get("users/1", as: User.self)
        let user = try await feed.dataSource(.cacheElseServer, expiration: .days(1)).sender().value
        XCTAssertEqual(user.name, "Ada")
        for try await user in feed.dataSource(.cacheThenServer).sender().values {
            print(user.name)
        }
        let refreshed = try await feed.dataSource(.refresh).sender().value
        let secret = feed.dataSource(.cacheElseServer, inMemoryOnly: true)
        let brief = feed.dataSource(.cacheElseServer, expiration: .days(7).inMemory(.seconds(300)))
        XCTAssertEqual(refreshed.name, "Ada")
        for request in [secret, brief] { _ = try await request.sender().value }
        let response = await feed.sender().response
        try await store.set(response, for: "last")
        let last = try await store.response(for: "last")?.decoded(as: User.self)
        XCTAssertEqual(last?.name, "Ada")
        let cautious = feed.dataSource(
            .custom(storing: { $0.head.headers["X-Preview"] == nil }) { _, stored in
                guard let stored, case .cache(let info) = stored.source else { return .send }
                return info.age < .seconds(60) ? .useStored : .useStoredThenSend
            }
        )
        let kept = await cautious.sender().response
        XCTAssertTrue(kept.source.isCache)
        let mine = feed.cachePartition("user-17")
        _ = try await mine.dataSource(.cacheElseServer).sender().value
        try await store.partition("user-17").removeAll()
        let gone = await mine.dataSource(.cache).sender().response
        XCTAssertEqual(gone.failure?.code, .cacheMiss)
        try await store.removeAll()
        let tagged = feed.dataSource(.cacheElseServer, tags: ["profile"])
        _ = try await tagged.sender().value
        try await store.remove(tag: "profile")
        let asked = await tagged.sender().response
        XCTAssertFalse(asked.source.isCache)
    }

    func testValues() async throws {
        let store = CacheStore(storage: nil)
        try await store.set(User(id: 1, name: "Ada"), for: "me", expiration: .days(7), tags: ["profile"])
        let me = try await store.value(for: "me", as: User.self)
        try await store.remove(tag: "profile")
        let gone = try await store.value(for: "me", as: User.self)
        XCTAssertEqual(me?.name, "Ada")
        XCTAssertNil(gone)
        try await store.memory.set(["draft"], for: "titles")
        let titles: [String]? = try await store.memory.value(for: "titles")
        XCTAssertEqual(titles, ["draft"])
    }
}

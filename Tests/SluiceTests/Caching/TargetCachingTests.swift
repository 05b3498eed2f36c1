import Sluice
import SluiceTesting
import XCTest

/// Caching that a target declares.
final class TargetCachingTests: XCTestCase {
    private enum Shop: Target {
        case feed, cart, order

        var baseURL: String { "http://shop.test" }
        var path: String { "\(self)" }
        var method: HTTPMethod {
            if case .order = self { .post } else { .get }
        }
        var dataSource: DataSource? {
            if case .cart = self { nil } else { .cacheElseServer }
        }
        var cacheExpiration: CacheExpiration? { .seconds(60) }
    }

    func testTargetSaysWhereItsResponseComesFromAndHowLongItIsKept() async throws {
        let server = try LoopbackServer()
        addTeardownBlock { server.stop() }
        server.on("/*") { .text("\($0.target)") }
        let clock = TestClock()
        let client = APIClient {
            $0.cache = CacheStore(storage: nil) { $0.clock = clock }
            $0.caching.http = nil
            $0.caching.partition = "ada"
            $0.clock = clock
            $0.endpointMapping = { _, draft in draft.host(server.authority) }
        }
        func source(of target: Shop) async -> ResponseSource {
            await client.string.request(target).sender().response.source
        }
        let feed = await [source(of: .feed), source(of: .feed)]
        XCTAssertEqual(feed, [.server, .cache(CachedResponseInfo(age: .zero))])
        let cart = await [source(of: .cart), source(of: .cart)]
        XCTAssertEqual(cart, [.server, .server])
        let order = await [source(of: .order), source(of: .order)]
        XCTAssertEqual(order, [.server, .server])
        clock.advance(by: .seconds(61))
        let expired = await source(of: .feed)
        XCTAssertEqual(expired, .server)
        // A request can still say something else, and the client's partition applies.
        let fresh = await client.string.request(Shop.feed).dataSource(.server).sender().response.source
        XCTAssertEqual(fresh, .server)
        let other = await client.string.request(Shop.feed).cachePartition("grace").sender().response.source
        XCTAssertEqual(other, .server)
        let own = await source(of: .feed)
        XCTAssertEqual(own, .cache(CachedResponseInfo(age: .zero)))
    }

    private struct ArrayTagged: Target {
        let path: String
        let cacheTags: [String]
        let dataSource: DataSource?

        var baseURL: String { "http://shop.test" }
    }

    private struct SetTagged: Target {
        let path: String
        let cacheTags: Set<String>
        let dataSource: DataSource?

        var baseURL: String { "http://shop.test" }
    }

    /// A set and an array; a data source and the HTTP cache.
    func testResponsesOfTargetAreRemovedByItsCacheTags() async throws {
        let server = try LoopbackServer()
        addTeardownBlock { server.stop() }
        server.on("/*", .text("ok", headers: ["Cache-Control": "max-age=600"]))
        let store = CacheStore(storage: nil)
        let client = APIClient {
            $0.cache = store
            $0.caching.tags = ["shop"]
            $0.endpointMapping = { _, draft in draft.host(server.authority) }
        }
        func isCached(_ target: some Target) async -> Bool {
            await client.string.request(target).sender().response.source.isCache
        }
        for source in [nil, DataSource.cacheElseServer] {
            let prefix = source == nil ? "http" : "source"
            let feed = ArrayTagged(path: "\(prefix)/feed", cacheTags: ["feed", "prices"], dataSource: source)
            let stock = SetTagged(path: "\(prefix)/stock", cacheTags: ["prices"], dataSource: source)
            let plain = SetTagged(path: "\(prefix)/plain", cacheTags: [], dataSource: source)
            for (tag, remaining) in [
                ("other", [true, true, true]), ("feed", [false, true, true]), ("prices", [false, false, true]),
                ("shop", [false, false, false]),
            ] {
                _ = await (isCached(feed), isCached(stock), isCached(plain))
                try await store.remove(tag: tag)
                let cached = await [isCached(feed), isCached(stock), isCached(plain)]
                XCTAssertEqual(cached, remaining, "\(prefix), \(tag)")
            }
        }
    }
}

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
}

import SluiceTesting
import XCTest

@testable import Sluice
@testable import SluiceCache

/// Responses that are asked for again, or kept in memory only.
final class RefreshedResponseTests: XCTestCase {
    private let server = try? LoopbackServer()
    private let storage = ScriptedStorage()
    private let clock = TestClock()

    override func tearDown() { server?.stop() }

    private func store() -> CacheStore {
        CacheStore(storage: storage) { [clock] in $0.clock = clock }
    }

    private func client(
        _ store: CacheStore,
        _ configure: (inout APIClient.Configuration) -> Void = { _ in }
    ) throws -> APIClient {
        let server = try XCTUnwrap(server)
        return APIClient(baseURL: server.url) {
            $0.cache = store
            $0.caching.http = nil
            $0.clock = clock
            configure(&$0)
        }
    }

    private func answer(_ name: String, maxAge: Int? = nil) {
        let headers: HTTPHeaders = maxAge.map { ["Cache-Control": "max-age=\($0)"] } ?? [:]
        server?.on("/user", .json(#"{"id":1,"name":"\#(name)"}"#, headers: headers))
    }

    func testRefreshAsksTheServerAndReplacesTheStoredResponse() async throws {
        let client = try client(store())
        let user = client.get("user", as: User.self)
        answer("Ada")
        let first = try await user.dataSource(.cacheElseServer).sender().value
        answer("Grace")
        let kept = try await user.dataSource(.cacheElseServer).sender().value
        let refreshed = try await user.dataSource(.refresh).sender().value
        let stored = try await user.dataSource(.cache).sender().value
        XCTAssertEqual([first, kept, refreshed, stored].map(\.name), ["Ada", "Ada", "Grace", "Grace"])
        XCTAssertEqual(server?.requests.count, 2)
        answer("Edith")
        var names: [String] = []
        for try await user in user.dataSource(.refresh).sender().values { names.append(user.name) }
        XCTAssertEqual(names, ["Edith"])
    }

    func testFailedRefreshLeavesTheStoredResponse() async throws {
        let client = try client(store()) { $0.caching.source = .refresh }
        let user = client.get("user", as: User.self)
        answer("Ada")
        _ = try await user.sender().value
        server?.on("/user", .status(.internalServerError))
        let failure = await user.sender().result.failure
        XCTAssertEqual(failure?.code, .unacceptableStatus)
        let stored = try await user.dataSource(.cache).sender().value
        XCTAssertEqual(stored.name, "Ada")
        // A client's source is for safe methods only.
        _ = await client.empty.post("user").sender().response
        XCTAssertNil(server?.requests.last?.headers["Cache-Control"])
    }

    func testRefreshPassesTheHTTPCache() async throws {
        let client = try client(store()) { $0.caching.http = HTTPCaching() }
        let user = client.get("user", as: User.self)
        answer("Ada", maxAge: 600)
        let fresh = [try await user.sender().value, try await user.sender().value]
        answer("Grace", maxAge: 600)
        let refreshed = try await user.dataSource(.refresh).sender().value
        let next = try await user.sender().value
        XCTAssertEqual((fresh + [refreshed, next]).map(\.name), ["Ada", "Ada", "Grace", "Grace"])
        XCTAssertEqual(server?.requests.map { $0.headers["Cache-Control"] }, [nil, "no-cache"])
    }

    func testResponseIsKeptInMemoryOnlyForOneRequest() async throws {
        let store = store()
        let client = try client(store)
        let user = client.get("user", as: User.self)
        answer("Ada")
        _ = try await user.dataSource(.cacheElseServer).sender().value
        await store.flush()
        XCTAssertEqual(storage.names.count, 1)
        answer("Grace")
        _ = try await user.dataSource(.refresh, inMemoryOnly: true).sender().value
        await store.flush()
        XCTAssertEqual(storage.names, [])
        let kept = try await user.dataSource(.cache).sender().value
        XCTAssertEqual(kept.name, "Grace")
        let restarted = try self.client(self.store()).get("user", as: User.self).dataSource(.cache)
        let failure = await restarted.sender().result.failure
        XCTAssertEqual(failure?.code, .cacheMiss)
    }

    func testHTTPCacheIsInMemoryOnlyWhereTheRequestSaysSo() async throws {
        let store = store()
        let client = try client(store) { $0.caching.http = HTTPCaching() }
        answer("Ada", maxAge: 600)
        let secret = client.get("user", as: User.self).caching { $0.storesInMemoryOnly = true }
        _ = try await secret.sender().value
        for try await _ in client.stream("user").caching({ $0.storesInMemoryOnly = true }).bytes {}
        await store.flush()
        XCTAssertEqual(storage.names, [])
        let second = await secret.sender().response
        XCTAssertTrue(second.source.isCache)
        XCTAssertEqual(server?.requests.count, 1)
    }

    func testChangesOfOtherProcessesLeaveWhatIsInMemoryOnly() async throws {
        let store = store()
        let (kept, dropped) = (CacheKey("kept", in: .responses), CacheKey("dropped"))
        try await store.set(1, for: "dropped")
        store.insert(
            CacheEntry(
                key: kept,
                response: nil,
                body: Data(),
                stored: clock.date,
                expiration: .never,
                tags: [],
                isMemoryOnly: true
            )
        )
        await store.flush()
        _ = await store.entries(for: dropped)
        storage.state.change { $0.isChangedByOthers = true }
        await eventually { [clock] in
            clock.advance(by: .seconds(1))
            return store.entriesInMemory(for: dropped).isEmpty
        }
        XCTAssertEqual(store.entriesInMemory(for: kept).count, 1)
    }
}

import Sluice
import SluiceTesting
import XCTest

@testable import SluiceCache

/// Results of requests by data source, over real sockets.
final class DataSourceTests: XCTestCase {
    private let server = try? LoopbackServer()
    private let clock = TestClock()
    private lazy var store = CacheStore(storage: nil) { $0.clock = clock }

    override func tearDown() { server?.stop() }

    private func client(_ configure: (inout APIClient.Configuration) -> Void = { _ in }) throws -> APIClient {
        let server = try XCTUnwrap(server)
        return APIClient(baseURL: server.url) {
            $0.cache = store
            $0.caching.http = nil
            $0.clock = clock
            configure(&$0)
        }
    }

    private func answer(_ name: String) { server?.on("/user", .json(#"{"id":1,"name":"\#(name)"}"#)) }

    func testDefaultSourceIsTheServerWithoutStoring() async throws {
        let client = try client()
        answer("Ada")
        let request: APIRequest<User, APIError> = client.codable.request("user")
        let response = await request.sender().response
        XCTAssertEqual(response.source, .server)
        let cached = await request.dataSource(.cache).sender().response
        XCTAssertEqual(cached.failure?.code, .cacheMiss)
        XCTAssertEqual(cached.failure?.step, .cache)
        XCTAssertEqual(server?.requests.count, 1)
    }

    func testCacheSourceOfAClientWithoutCacheSendsNoRequest() async throws {
        answer("Ada")
        let client = try client { $0.cache = nil }
        let request: APIRequest<User, APIError> = client.codable.request("user")
        let failure = await request.dataSource(.cache).sender().result.failure
        XCTAssertEqual(failure?.code, .cacheMiss)
        let own = try self.client {
            $0.cache = nil
            $0.caching.source = .cache
        }
        let other = await own.data.get("user").sender().result.failure
        XCTAssertEqual(other?.code, .cacheMiss)
        XCTAssertEqual(server?.requests.count, 0)
        _ = try await own.data.post("user").sender().value
        _ = try await request.dataSource(.cacheElseServer).sender().value
        XCTAssertEqual(server?.requests.count, 2)
    }

    // Another machine may have removed the entry since the request was sent.
    func testStoredResponseHasTheTimeOfItsRequest() async throws {
        let signal = LoopbackSignal()
        server?.on("/user", .after(signal, .json(#"{"id":1,"name":"Ada"}"#)))
        let client = try client { $0.caching.source = .cacheElseServer }
        let request: APIRequest<User, APIError> = client.codable.request("user")
        let began = clock.date
        let value = Task { try await request.sender().value }
        await server?.waitForRequests(1)
        clock.advance(by: .seconds(5))
        signal.fire()
        _ = try await value.value
        let entry = store.state.withLock { $0.memory.entries.compactMap(\.self).first }
        let response = try XCTUnwrap(entry?.response)
        XCTAssertEqual(response.requested, began)
        XCTAssertEqual(response.received, began + 5)
    }

    func testClientHasSourceExpirationAndTagsInOneLine() async throws {
        let store = CacheStore(storage: nil) { $0.clock = clock }
        let client = try client {
            $0.cache = store
            $0.caching = Caching(source: .cacheElseServer, expiration: .seconds(60), tags: ["users"])
        }
        answer("Ada")
        let request: APIRequest<User, APIError> = client.codable.request("user")
        for isCached in [false, true] {
            let response = await request.sender().response
            XCTAssertEqual(response.source.isCache, isCached)
        }
        try await store.remove(tag: "users")
        let removed = await request.sender().response
        XCTAssertEqual(removed.source, .server)
        clock.advance(by: .seconds(61))
        let expired = await request.sender().response
        XCTAssertEqual(expired.source, .server)
        XCTAssertEqual(server?.requests.count, 3)
    }

    func testCacheElseServerReturnsTheStoredResponse() async throws {
        let client = try client { $0.caching.source = .cacheElseServer }
        answer("Ada")
        let request: APIRequest<User, APIError> = client.codable.request("user")
        let first = await request.sender().response
        XCTAssertEqual(first.source, .server)
        answer("Grace")
        clock.advance(by: .seconds(90))
        let second = await request.sender().response
        XCTAssertEqual(try second.result.get().name, "Ada")
        XCTAssertEqual(second.source, .cache(CachedResponseInfo(age: .seconds(90))))
        XCTAssertEqual(server?.requests.count, 1)
    }

    func testCacheSourceSendsNoRequest() async throws {
        let client = try client()
        answer("Ada")
        let request: APIRequest<User, APIError> = client.codable.request("user")
        _ = try await request.dataSource(.cacheElseServer).sender().value
        server?.stop()
        let user = try await request.dataSource(.cache).sender().value
        XCTAssertEqual(user.name, "Ada")
    }

    func testCacheThenServerYieldsBothAndValueIsTheLast() async throws {
        let client = try client { $0.caching.source = .cacheThenServer }
        answer("Ada")
        let request: APIRequest<User, APIError> = client.codable.request("user")
        var names: [String] = []
        for try await user in request.sender().values { names.append(user.name) }
        XCTAssertEqual(names, ["Ada"])
        answer("Grace")
        let sender = request.sender()
        names = []
        var sources: [Bool] = []
        for await response in sender.responses {
            names.append(try response.result.get().name)
            sources.append(response.source.isCache)
        }
        XCTAssertEqual(names, ["Ada", "Grace"])
        XCTAssertEqual(sources, [true, false])
        let last = try await sender.value
        XCTAssertEqual(last.name, "Grace")
        XCTAssertEqual(server?.requests.count, 2)
    }

    func testCacheThenServerYieldsTheCachedValueIfTheServerFails() async throws {
        let client = try client { $0.caching.source = .cacheThenServer }
        answer("Ada")
        let request: APIRequest<User, APIError> = client.codable.request("user")
        _ = try await request.sender().value
        server?.on("/user", .status(.internalServerError))
        var names: [String] = []
        do {
            for try await user in request.sender().values { names.append(user.name) }
            XCTFail("The last one is an error.")
        } catch {
            XCTAssertEqual(error.code, .unacceptableStatus)
        }
        XCTAssertEqual(names, ["Ada"])
        // A failed response is not stored.
        let kept = try await request.dataSource(.cache).sender().value
        XCTAssertEqual(kept.name, "Ada")
    }

    func testBreakOutOfValuesCancelsTheRequest() async throws {
        let client = try client { $0.caching.source = .cacheThenServer }
        answer("Ada")
        let request: APIRequest<User, APIError> = client.codable.request("user")
        _ = try await request.sender().value
        server?.on("/user", .hang)
        let sender = request.sender()
        for try await user in sender.values {
            XCTAssertEqual(user.name, "Ada")
            break
        }
        let result = await sender.result
        XCTAssertThrowsError(try result.get()) { XCTAssertEqual(($0 as? APIError)?.isCancellation, true) }
    }

    /// Returns a data source that never decides, and a signal that it was asked.
    private func endlessSource() -> (DataSource, AsyncSignal) {
        let isAsked = AsyncSignal()
        let source = DataSource.custom { _, _ in
            isAsked.open()
            await withUnsafeContinuation { (_: UnsafeContinuation<Void, Never>) in }
            return .send
        }
        return (source, isAsked)
    }

    func testValuesEndWithTheTotalTimeoutWhileStorageIsRead() async throws {
        struct Hanging: CacheStorage {
            let isRead = AsyncSignal()

            func entries(for key: CacheKey, at now: Date) async throws(SluiceError) -> [CacheEntry] {
                isRead.open()
                await withUnsafeContinuation { (_: UnsafeContinuation<Void, Never>) in }
                return []
            }
            func size() async throws(SluiceError) -> CacheSize { CacheSize() }
            func evict(to limits: CacheLimits, at now: Date) async throws(SluiceError) -> Int { 0 }
            func apply(_ changes: [CacheChange]) async throws(SluiceError) {}
            func writer(for entry: CacheEntry) async throws(SluiceError) -> any CacheWriter {
                throw SluiceError(.cacheFailed, "The storage takes no bodies.")
            }
        }
        let storage = Hanging()
        let client = try client { $0.cache = CacheStore(storage: storage) }
        let request: APIRequest<User, APIError> = client.codable.get("user").timeout(total: .seconds(5))
        let loop = Task { await failure(ofValuesOf: request.dataSource(.cacheThenServer)) }
        await storage.isRead.wait()
        await clock.waitForSleepers(1)
        clock.advance(by: .seconds(5))
        let code = await loop.value
        XCTAssertEqual(code, .timedOut)
    }

    func testDrainEndsValuesThatWaitForADecision() async throws {
        let client = try client()
        let (source, isAsked) = endlessSource()
        let request: APIRequest<User, APIError> = client.codable.get("user").dataSource(source)
        let loop = Task { await failure(ofValuesOf: request) }
        await isAsked.wait()
        _ = await client.drain(within: .zero)
        let code = await loop.value
        XCTAssertEqual(code, .cancelled)
    }

    func testTotalTimeoutOfARequestMappingEndsTheDecision() async throws {
        let client = try client {
            $0.requestMapping = { request in
                var request = request
                request.setTimeouts(total: .seconds(5))
                return request
            }
        }
        let (source, isAsked) = endlessSource()
        let request: APIRequest<User, APIError> = client.codable.get("user").dataSource(source)
        let result = Task { await request.sender().result.failure?.code }
        await isAsked.wait()
        await clock.waitForSleepers(1)
        clock.advance(by: .seconds(5))
        let code = await result.value
        XCTAssertEqual(code, .timedOut)
    }

    func testFirstLaunchYieldsTheCachedValueOnce() async throws {
        answer("Ada")
        let request: APIRequest<User, APIError> = try client().codable.request("user")
        _ = try await request.dataSource(.cacheElseServer).sender().value
        let launched = request.dataSource(.firstLaunch)
        var counts: [Int] = []
        for _ in 0..<3 {
            var count = 0
            for try await _ in launched.sender().values { count += 1 }
            counts.append(count)
        }
        XCTAssertEqual(counts, [2, 1, 1])
    }

    func testCustomSourceDecidesByTheStoredResponse() async throws {
        let client = try client()
        answer("Ada")
        let request: APIRequest<User, APIError> = client.codable.request("user").dataSource(
            .custom(storing: { $0.head.headers["X-Draft"] == nil }) { request, stored in
                guard let stored, case .cache(let info) = stored.source else { return .send }
                return info.age < .seconds(60) ? .useStored : .useStoredThenSend
            }
        )
        _ = try await request.sender().value
        answer("Grace")
        var names: [String] = []
        for try await user in request.sender().values { names.append(user.name) }
        clock.advance(by: .seconds(61))
        server?.on("/user", .json(#"{"id":1,"name":"Draft"}"#, headers: ["X-Draft": "1"]))
        for try await user in request.sender().values { names.append(user.name) }
        XCTAssertEqual(names, ["Ada", "Ada", "Draft"])
        let kept = try await request.dataSource(.cache).sender().value
        XCTAssertEqual(kept.name, "Ada")
    }

    func testUndecodableStoredResponseIsFetchedAgain() async throws {
        struct Renamed: Decodable, Sendable { let title: String }
        let client = try client { $0.caching.source = .cacheElseServer }
        answer("Ada")
        let old: APIRequest<User, APIError> = client.codable.request("user")
        _ = try await old.sender().value
        server?.on("/user", .json(#"{"title":"New"}"#))
        let new: APIRequest<Renamed, APIError> = client.codable.request("user")
        let model = try await new.sender().value
        XCTAssertEqual(model.title, "New")
        let error = await old.dataSource(.cache).sender().response.failure
        XCTAssertEqual(error?.code, .decodingFailed)
    }

    func testStoredResponseExpires() async throws {
        let client = try client()
        answer("Ada")
        let request: APIRequest<User, APIError> = client.codable.request("user")
            .dataSource(.cacheElseServer, expiration: .seconds(60))
        _ = try await request.sender().value
        answer("Grace")
        for (seconds, name) in [(59, "Ada"), (2, "Grace")] {
            clock.advance(by: .seconds(seconds))
            let user = try await request.sender().value
            XCTAssertEqual(user.name, name)
        }
    }

    /// The store has the clock of the system, by which it judges its entries.
    func testClockOfTheStoreDecides() async throws {
        let client = try client { $0.cache = CacheStore(storage: nil) }
        answer("Ada")
        let request: APIRequest<User, APIError> = client.codable.request("user")
            .dataSource(.cacheElseServer, expiration: .seconds(900))
        for isCached in [false, true] {
            let response = await request.sender().response
            XCTAssertEqual(response.source.isCache, isCached)
            clock.advance(by: .seconds(3600))
        }
    }

    /// The clock was a year ahead when the entry was stored.
    func testAgeOfAnEntryFromTheFutureIsTooOldForAnySource() async throws {
        let client = try client()
        let request: APIRequest<User, APIError> = client.codable.request("user").dataSource(
            .custom { _, stored in
                guard let stored, case .cache(let info) = stored.source else { return .send }
                return info.age < .seconds(60) ? .useStored : .send
            }
        )
        answer("Ada")
        _ = try await request.sender().value
        clock.advance(by: .seconds(-365 * 86_400))
        answer("Grace")
        for _ in 0..<2 {
            let user = try await request.sender().value
            XCTAssertEqual(user.name, "Grace")
        }
        XCTAssertEqual(server?.requests.count, 2)
    }

    func testObserversReceiveCachedEvents() async throws {
        let events = Shared<[String]>([])
        let client = try client {
            $0.caching.source = .cacheElseServer
            $0.observers = [EventNames(events)]
        }
        answer("Ada")
        let request: APIRequest<User, APIError> = client.codable.request("user")
        _ = try await request.sender().value
        _ = try await request.sender().value
        await client.observersCaughtUp()
        XCTAssertEqual(
            events.read,
            ["began", "sending", "received", "finished", "began", "cached", "finished"]
        )
    }
}

/// Records the names of events.
struct EventNames: RequestObserver {
    private let names: Shared<[String]>

    init(_ names: Shared<[String]>) {
        self.names = names
    }

    func observe(_ event: RequestEvent, of request: ObservedRequest) {
        let name = String(String(describing: event).prefix { $0 != "(" })
        names.change { $0.append(name) }
    }
}

/// Returns the code of the error that ends a loop over the values of a request; nil if it ends without one.
private func failure(ofValuesOf request: APIRequest<User, APIError>) async -> SluiceError.Code? {
    do throws(APIError) {
        for try await _ in request.sender().values {}
        return nil
    } catch {
        return error.code
    }
}

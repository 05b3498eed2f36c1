import SluiceTesting
import XCTest

@testable import Sluice

/// Equal requests with a cache miss at the same time.
final class SharedMissTests: XCTestCase {
    func testConcurrentMissesShareOneFetch() async throws {
        let server = try LoopbackServer()
        let signal = LoopbackSignal()
        server.on("/page", .after(signal, .text("one", headers: ["Cache-Control": "max-age=60"])))
        let client = APIClient(baseURL: server.url) { $0.cache = CacheStore(storage: nil) }
        let responses = await withTaskGroup(of: APIResponse<String, APIError>.self) { group in
            for _ in 0..<50 { group.addTask { await client.string.get("page").sender().response } }
            await server.waitForRequests(1)
            signal.fire()
            return await group.reduce(into: []) { $0.append($1) }
        }
        for response in responses { XCTAssertEqual(try response.result.get(), "one") }
        XCTAssertEqual(server.requests.count, 1)
        XCTAssertEqual(responses.filter { $0.source == .server }.count, 1)
    }

    func testLostFetchCountsOnceForGates() async throws {
        let server = try LoopbackServer()
        let signal = LoopbackSignal()
        server.on("/page", .after(signal, .drop))
        let client = APIClient(baseURL: server.url) {
            $0.cache = CacheStore(storage: nil)
            $0.gates = [RateLimit(11, every: .seconds(3600), maximumWaiting: 0)]
            $0.clock = TestClock()
        }
        let requests = (0..<10).map { _ in Task { await client.string.get("page").sender().response } }
        await eventually { client.pipeline.coalescer.waiting == 10 }
        signal.fire()
        for request in requests {
            let failure = await request.value.failure
            XCTAssertEqual(failure?.code, .connectionLost)
        }
        // One of the requests was sent. Its connection was new, so that it was not sent again.
        server.on("/page", .text("ok"))
        for _ in 0..<10 { _ = try await client.string.get("page").sender().value }
    }

    /// The second request still waits for the fetch when the attempt of the first is over.
    func testRetryDoesNotWaitForTheFetchThatItsAttemptWaitedFor() async throws {
        let server = try LoopbackServer()
        server.on("/page", .hang, .text("ok", headers: ["Cache-Control": "max-age=60"]))
        let clock = TestClock()
        let client = APIClient(baseURL: server.url) {
            $0.cache = CacheStore(storage: nil)
            $0.clock = clock
            $0.retry = RetryPolicy(backoff: .constant(.zero), attemptTimeout: .seconds(10))
        }
        let first = Task { try await client.string.get("page").sender().value }
        await server.waitForRequests(1)
        await clock.waitForSleepers(1, within: .seconds(10))
        clock.advance(by: .seconds(5))
        let second = Task { try await client.string.get("page").sender().value }
        await eventually { client.pipeline.coalescer.waiting == 2 }
        await clock.waitForSleepers(2, within: .seconds(10))
        clock.advance(by: .seconds(5))
        let value = try await first.value
        XCTAssertEqual(value, "ok")
        clock.advance(by: .seconds(5))
        let other = try await second.value
        XCTAssertEqual(other, "ok")
        XCTAssertEqual(server.requests.count, 2)
    }

    func testStaleResponsesForAFailedServerLeaveFetchesShared() async throws {
        let server = try LoopbackServer()
        let signals = [LoopbackSignal(), LoopbackSignal()]
        // A request on a new connection is not sent again.
        let headers: HTTPHeaders = ["Cache-Control": "max-age=60, stale-if-error=600", "Connection": "close"]
        server.on("/page", .text("old", headers: headers), .after(signals[0], .drop), .after(signals[1], .drop))
        let clock = TestClock()
        let client = APIClient(baseURL: server.url) {
            $0.cache = CacheStore(storage: nil)
            $0.clock = clock
        }
        _ = try await client.string.get("page").sender().value
        clock.advance(by: .seconds(61))
        for (number, signal) in signals.enumerated() {
            let requests = (0..<5).map { _ in Task { await client.string.get("page").sender().response } }
            await eventually { client.pipeline.coalescer.waiting == 5 }
            await server.waitForRequests(number + 2)
            signal.fire()
            for request in requests {
                let response = await request.value
                XCTAssertEqual(try response.result.get(), "old")
            }
        }
        XCTAssertEqual(server.requests.count, 3)
    }

    func testWaitersForAnOutdatedFetchShareTheNext() async throws {
        let server = try LoopbackServer()
        let signals = (0..<3).map { _ in LoopbackSignal() }
        let headers: HTTPHeaders = ["Cache-Control": "max-age=60"]
        server.on(
            "/page",
            .after(signals[0], .text("1", headers: headers)),
            .after(signals[1], .text("2", headers: headers)),
            .after(signals[2], .text("3", headers: headers))
        )
        let store = CacheStore(storage: nil)
        let client = APIClient(baseURL: server.url) { $0.cache = store }
        func begin() async -> [Task<Result<String, APIError>, Never>] {
            let requests = (0..<20).map { _ in Task { await client.string.get("page").sender().result } }
            await eventually { client.pipeline.coalescer.waiting == 20 }
            return requests
        }
        let requests = await begin()
        await server.waitForRequests(1)
        try await store.removeAll()
        signals[0].fire()
        await server.waitForRequests(2)
        await eventually { client.pipeline.coalescer.waiting == 19 }
        signals[1].fire()
        var received: [String] = []
        for request in requests { received.append(try await request.value.get()) }
        XCTAssertEqual(received.sorted(), ["1"] + Array(repeating: "2", count: 19))
        XCTAssertEqual(server.requestCount, 2)
        // The removal does not show that responses cannot be shared.
        try await store.removeAll()
        let later = await begin()
        await server.waitForRequests(3)
        signals[2].fire()
        for request in later {
            let text = try await request.value.get()
            XCTAssertEqual(text, "3")
        }
        XCTAssertEqual(server.requestCount, 3)
    }

    func testUnstorableResponseIsNotShared() async throws {
        let server = try LoopbackServer()
        server.on("/page", .text("one", headers: ["Cache-Control": "no-store"]))
        let client = APIClient(baseURL: server.url) { $0.cache = CacheStore(storage: nil) }
        let responses = await withTaskGroup(of: APIResponse<String, APIError>.self) { group in
            for _ in 0..<20 { group.addTask { await client.string.get("page").sender().response } }
            return await group.reduce(into: []) { $0.append($1) }
        }
        for response in responses { XCTAssertEqual(response.source, .server) }
        XCTAssertEqual(server.requests.count, 20)
    }

    func testTimeoutOfFirstCallerDoesNotEndTheFetchOfTheOthers() async throws {
        let server = try LoopbackServer()
        let signal = LoopbackSignal()
        server.on(
            "/page",
            .text("old", headers: ["Cache-Control": "max-age=60, stale-if-error=600", "ETag": "\"1\""]),
            .after(signal, .text("new", headers: ["Cache-Control": "max-age=60"]))
        )
        let clock = TestClock()
        let client = APIClient(baseURL: server.url) {
            $0.cache = CacheStore(storage: nil)
            $0.clock = clock
        }
        _ = try await client.string.get("page").sender().value
        clock.advance(by: .seconds(61))
        let first = Task { await client.string.get("page").timeout(total: .seconds(1)).sender().response }
        await server.waitForRequests(2)
        let others = (0..<10).map { _ in Task { await client.string.get("page").sender().response } }
        await eventually { client.pipeline.coalescer.waiting == 11 }
        // Those of the whole request, and of its wait for the fetch.
        await clock.waitForSleepers(2)
        clock.advance(by: .seconds(1))
        _ = await first.value
        signal.fire()
        for other in others {
            let response = await other.value
            XCTAssertEqual(try response.result.get(), "new")
        }
        XCTAssertEqual(server.requests.count, 2)
    }

    func testFetchIsCancelledWithItsLastWaiter() async throws {
        let fetches = RequestCoalescer()
        let key = Self.key
        let isStopped = AsyncSignal()
        let hasBegun = AsyncSignal()
        let work: @Sendable () async -> RequestCoalescer.Fetched = {
            hasBegun.open()
            await withTaskCancellationHandler {
                await isStopped.wait()
            } onCancel: {
                isStopped.open()
            }
            return RequestCoalescer.Fetched(outcome: .failure(.cancelled), entry: nil)
        }
        let first = try XCTUnwrap(fetches.flight(key, work))
        let second = try XCTUnwrap(fetches.flight(key, work))
        XCTAssertTrue(first.isFirst)
        XCTAssertFalse(second.isFirst)
        guard #available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *) else {
            throw XCTSkip("No immediate tasks.")
        }
        // Both callers wait before one is cancelled.
        let tasks = [first, second].map { joined in Task.immediate { await joined.flight.value() } }
        await hasBegun.wait()
        tasks[0].cancel()
        let left = await tasks[0].value
        XCTAssertNil(left)
        let third = try XCTUnwrap(fetches.flight(key, work))
        XCTAssertFalse(third.isFirst, "The fetch continues.")
        tasks[1].cancel()
        _ = await tasks[1].value
        await isStopped.wait()
        let fourth = try XCTUnwrap(fetches.flight(key, work))
        XCTAssertTrue(fourth.isFirst, "A later request starts a new fetch.")
    }

    func testFinishedUnsharedFetchIsNotJoinedAgain() async throws {
        let fetches = RequestCoalescer()
        let response = ServerResponse(
            request: HTTPRequest(scheme: "http", authority: "a", path: "/"),
            head: HTTPResponse(status: .ok),
            body: Data()
        )
        let alone = try XCTUnwrap(
            fetches.flight(Self.key) { RequestCoalescer.Fetched(outcome: .success(response), entry: nil) }
        )
        _ = await alone.flight.value()
        XCTAssertNil(fetches.flight(Self.key) { RequestCoalescer.Fetched(outcome: .success(response), entry: nil) })
    }

    func testBackgroundRevalidationsAreBounded() {
        let fetches = RequestCoalescer()
        func key(_ number: Int) -> RequestCoalescer.Key {
            let request = HTTPRequest(scheme: "http", authority: "a", path: "/\(number)")
            return RequestCoalescer.Key(request, CacheKey("\(number)", in: .http), nil)
        }
        let begun = (0..<1000).filter { fetches.beginRevalidation(key($0)) }
        XCTAssertEqual(begun, Array(0..<RequestCoalescer.revalidationLimit))
        XCTAssertFalse(fetches.beginRevalidation(key(0)))
        fetches.endRevalidation(key(0))
        XCTAssertTrue(fetches.beginRevalidation(key(0)))
    }

    private static let key = RequestCoalescer.Key(
        HTTPRequest(scheme: "http", authority: "a", path: "/"),
        CacheKey("a", in: .http),
        nil
    )
}

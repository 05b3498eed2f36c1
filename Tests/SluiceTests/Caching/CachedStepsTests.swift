import Sluice
import SluiceTesting
import XCTest

/// Gates, retries and data sources with responses from the cache.
final class CachedStepsTests: XCTestCase {
    private let store = CacheStore(storage: nil)

    func testCacheHitTakesNoTokenOfTheRateLimit() async throws {
        let server = try LoopbackServer()
        server.on("/page", .text("one", headers: ["Cache-Control": "max-age=60"]))
        let clock = TestClock()
        let client = APIClient(baseURL: server.url) {
            $0.cache = store
            $0.clock = clock
            $0.gates = [RateLimit(2, every: .seconds(3600))]
        }
        // The time does not advance. A third request that took a token would wait forever.
        for _ in 0..<10 { _ = try await client.string.get("page").sender().value }
        XCTAssertEqual(server.requests.count, 1)
    }

    func testStaleIfErrorResponseIsReportedToGatesAsFailure() async throws {
        let server = try LoopbackServer()
        server.on("/page", .text("one", headers: ["Cache-Control": "max-age=0, stale-if-error=600", "ETag": "\"1\""]))
        let seen = Shared<[String]>([])
        let client = APIClient(baseURL: server.url) {
            $0.cache = store
            $0.gates = [OutcomeGate(seen)]
        }
        _ = try await client.string.get("page").sender().value
        server.on("/page", .status(.serviceUnavailable))
        let text = try await client.string.get("page").sender().value
        XCTAssertEqual(text, "one")
        XCTAssertEqual(seen.read, ["200", "unacceptableStatus"])
    }

    func testOnlyIfCachedMissIsNotRetried() async throws {
        let server = try LoopbackServer()
        let client = APIClient(baseURL: server.url) {
            $0.cache = store
            $0.clock = TestClock()
            $0.retry = .standard
        }
        let response = await client.string.get("page").cachePolicy(.onlyIfCached).sender().response
        XCTAssertEqual(response.status, .gatewayTimeout)
        XCTAssertEqual(server.requests.count, 0)
    }

    func testStoredErrorAnswersNoRetry() async throws {
        let server = try LoopbackServer()
        let caching: HTTPHeaders = ["Cache-Control": "max-age=60, stale-if-error=600"]
        let failure = LoopbackResponse.status(.serviceUnavailable, headers: caching)
        server.on("/page", failure, failure, .text("one"))
        let client = APIClient(baseURL: server.url) {
            $0.cache = store
            $0.retry = RetryPolicy(backoff: .constant(.zero))
        }
        let text = try await client.string.get("page").sender().value
        XCTAssertEqual(text, "one")
        XCTAssertEqual(server.requests.count, 3)
    }

    func testStoredRefusalDoesNotAnswerTheReplayWithANewToken() async throws {
        let server = try LoopbackServer()
        server.on(
            "/token",
            .json(#"{"access_token":"t1","token_type":"bearer"}"#),
            .json(#"{"access_token":"t2","token_type":"bearer"}"#)
        )
        let refusal = LoopbackResponse.status(.unauthorized, headers: ["Cache-Control": "max-age=60"])
        server.on("/page", refusal, .text("one"))
        let client = APIClient(baseURL: server.url) {
            $0.cache = store
            $0.caching.partition = "ada"
            $0.gates = [OAuth2(.clientCredentials(id: "i", secret: "s"), tokenURL: "\(server.url)/token")]
        }
        let text = try await client.string.get("page").sender().value
        XCTAssertEqual(text, "one")
        XCTAssertEqual(server.requests.filter { $0.path == "/page" }.count, 2)
    }

    func testPOSTIsAlwaysSent() async throws {
        let server = try LoopbackServer()
        server.on("/orders", .text("done"))
        let client = APIClient(baseURL: server.url) {
            $0.cache = store
            $0.caching.source = .cacheElseServer
        }
        for _ in 0..<2 { _ = try await client.string.post("orders").data(Data("1".utf8)).sender().value }
        XCTAssertEqual(server.requests.count, 2)
    }

    func testPartialContentIsNotStoredAsCompleteResponse() async throws {
        let server = try LoopbackServer()
        server.on("/file", .resource(LoopbackResource(Data("0123456789".utf8), eTag: "\"1\"")))
        let client = APIClient(baseURL: server.url) {
            $0.cache = store
            $0.caching.source = .cacheElseServer
            $0.caching.http = nil
        }
        let part = try await client.string.get("file").header("Range", "bytes=0-3").sender().value
        let whole = try await client.string.get("file").sender().value
        XCTAssertEqual(part, "0123")
        XCTAssertEqual(whole, "0123456789")
    }

    func testTotalTimeOutAppliesWhileWaitingForASharedFetch() async throws {
        let server = try LoopbackServer()
        let never = LoopbackSignal()
        server.on("/page", .after(never, .text("one", headers: ["Cache-Control": "max-age=60"])))
        let clock = TestClock()
        let client = APIClient(baseURL: server.url) {
            $0.cache = store
            $0.clock = clock
        }
        let first = Task { await client.string.get("page").sender().response.failure }
        await server.waitForRequests(1)
        let second = Task {
            await client.string.get("page").timeout(total: .seconds(5)).sender().response.failure
        }
        await clock.waitForSleepers(1)
        clock.advance(by: .seconds(6))
        let failure = await second.value
        XCTAssertEqual(failure?.code, .timedOut)
        XCTAssertEqual(server.requests.count, 1)
        first.cancel()
        _ = await first.value
    }

    func testGETAfterPOSTDoesNotJoinAnEarlierFetch() async throws {
        let server = try LoopbackServer()
        let late = LoopbackSignal()
        let old = LoopbackResponse.text("old", headers: ["Cache-Control": "max-age=60"])
        server.on(.get, "/cart", .after(late, old))
        server.on(.post, "/cart", .status(.noContent))
        let client = APIClient(baseURL: server.url) { $0.cache = store }
        let before = Task { try await client.string.get("cart").sender().value }
        await server.waitForRequests(1)
        _ = try await client.data.post("cart").data(Data("x".utf8)).sender().value
        server.on(.get, "/cart", .text("new", headers: ["Cache-Control": "max-age=60"]))
        let after = try await client.string.get("cart").sender().value
        XCTAssertEqual(after, "new")
        late.fire()
        let first = try await before.value
        XCTAssertEqual(first, "old")
        let kept = await client.string.get("cart").sender().response
        XCTAssertEqual(try kept.result.get(), "new")
        XCTAssertTrue(kept.source.isCache)
    }

    func testStreamStartedBeforeAPOSTIsNotStored() async throws {
        let server = try LoopbackServer()
        let late = LoopbackSignal()
        let chunks = ["a\n", "b"].map { Data($0.utf8) }
        let old = LoopbackResponse.chunked(chunks, headers: ["Cache-Control": "max-age=60"])
        // The first chunk with its framing, and the rest after the signal.
        server.on(.get, "/lines", old.paused(after: 7, until: late))
        server.on(.post, "/lines", .status(.noContent))
        let client = APIClient(baseURL: server.url) { $0.cache = store }
        var lines: [String] = []
        for try await line in client.stream("lines").lines() {
            lines.append(line)
            guard lines.count == 1 else { continue }
            _ = try await client.data.post("lines").data(Data("x".utf8)).sender().value
            late.fire()
        }
        XCTAssertEqual(lines, ["a", "b"])
        let again = await client.string.get("lines").sender().response
        XCTAssertEqual(again.source, .server)
    }
}

/// Records the outcomes that it receives.
private struct OutcomeGate: Gate {
    private let seen: Shared<[String]>

    init(_ seen: Shared<[String]>) {
        self.seen = seen
    }

    func admit(_ request: RequestContext) async throws(SluiceError) -> Permit {
        Permit(onOutcome: { outcome in
            switch outcome {
            case .success(let response): seen.change { $0.append("\(response.head.status.rawValue)") }
            case .failure(let error): seen.change { $0.append("\(error.code)") }
            }
            return .settled
        })
    }
}

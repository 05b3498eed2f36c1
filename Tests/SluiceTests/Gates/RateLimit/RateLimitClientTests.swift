import Sluice
import SluiceTesting
import XCTest

final class RateLimitClientTests: XCTestCase {
    func testWaitsForRetryAfterOf429() async throws {
        let server = try LoopbackServer()
        server.on("/", .status(.tooManyRequests, headers: ["Retry-After": "30"]), .text("ok"))
        let clock = TestClock()
        let client = APIClient(baseURL: server.url) {
            $0.gates = [RateLimit.fromServer(per: .host)]
            $0.clock = clock
        }
        let first = await client.string.request("").sender().result
        XCTAssertEqual(first.failure?.code, .unacceptableStatus)
        async let second = client.string.request("").sender().value
        await clock.waitForSleepers(1)
        XCTAssertEqual(clock.pendingSleeps, [.seconds(30)])
        XCTAssertEqual(server.requests(to: "/").count, 1)
        clock.advance(by: .seconds(30))
        let text = try await second
        XCTAssertEqual(text, "ok")
    }

    func testPauseBeyondTheTotalTimeoutFailsAtOnce() async throws {
        let server = try LoopbackServer()
        server.on("/", .status(.tooManyRequests, headers: ["Retry-After": "30"]), .text("ok"))
        let clock = TestClock()
        let client = APIClient(baseURL: server.url) {
            $0.gates = [RateLimit.fromServer(per: .host)]
            $0.clock = clock
        }
        _ = await client.string.request("").sender().result
        let failure = await client.string.request("").timeout(total: .seconds(20)).sender().result.failure
        XCTAssertEqual(failure?.code, .rateLimited)
        XCTAssertEqual(
            failure?.error.reason,
            "The request would wait 30.0 seconds at the RateLimit, beyond the deadline of the request."
        )
        XCTAssertEqual(server.requests(to: "/").count, 1)
    }

    func testConfirmedResponseAnnouncesNoQuotaAgain() async throws {
        let server = try LoopbackServer()
        let headers: HTTPHeaders = [
            "ETag": "\"1\"", "Cache-Control": "no-cache", "RateLimit-Remaining": "0", "RateLimit-Reset": "60",
        ]
        server.on("/", .text("ok", headers: headers), .status(.notModified))
        let clock = TestClock()
        let client = APIClient(baseURL: server.url) {
            $0.gates = [RateLimit.fromServer(per: .host, maximumWait: .zero)]
            $0.clock = clock
            $0.cache = CacheStore(storage: nil)
        }
        var codes: [SluiceError.Code?] = []
        for pause in [Duration.zero, .seconds(60), .zero] {
            codes.append(await client.string.request("").sender().result.failure?.code)
            clock.advance(by: pause)
        }
        codes.append(await client.string.request("").sender().result.failure?.code)
        XCTAssertEqual(codes, [nil, .rateLimited, nil, nil])
        XCTAssertEqual(server.requestCount, 3)
    }

    func testRefusedHostTakesNoToken() async throws {
        let server = try LoopbackServer()
        server.on("/", .text("ok"))
        let client = APIClient(baseURL: server.url) {
            $0.gates = [RateLimit(1, every: .seconds(60), per: .client, maximumWaiting: 0)]
            $0.connection.hosts = HostRules(allowing: ["127.0.0.1"])
            $0.clock = TestClock()
        }
        let refused = await client.string.get("http://other.example/").sender().result
        XCTAssertEqual(refused.failure?.code, .hostRefused)
        let text = try await client.string.request("").sender().value
        XCTAssertEqual(text, "ok")
    }

    func testEveryAttemptTakesAToken() async throws {
        let server = try LoopbackServer()
        server.on("/", .status(.serviceUnavailable), .text("ok"))
        let clock = TestClock()
        let gate = RateLimit(1, every: .seconds(60))
        let client = APIClient(baseURL: server.url) {
            $0.gates = [gate]
            $0.clock = clock
            $0.retry = RetryPolicy(
                maximumAttempts: 2,
                maximumElapsedTime: nil,
                backoff: Backoff(base: .seconds(1), hasJitter: false)
            )
        }
        async let value = client.string.request("").sender().value
        await clock.waitForSleepers(1)
        XCTAssertEqual(clock.pendingSleeps, [.seconds(1)])
        clock.advance(by: .seconds(1))
        await clock.waitForSleepers(1)
        XCTAssertEqual(clock.pendingSleeps, [.seconds(59)])
        XCTAssertEqual(gate.waiting, 1)
        clock.advance(by: .seconds(59))
        let text = try await value
        XCTAssertEqual(text, "ok")
        XCTAssertEqual(server.requests(to: "/").count, 2)
    }

    func testReturnsTokenIfLaterGateRefuses() async throws {
        let server = try LoopbackServer()
        server.on("/down", .status(.internalServerError))
        server.on("/", .text("ok"))
        let clock = TestClock()
        let client = APIClient(baseURL: server.url) {
            $0.gates = [RateLimit(2, every: .seconds(60), maximumWaiting: 0), CircuitBreaker(of: 1)]
            $0.clock = clock
        }
        _ = await client.string.request("down").sender().result
        for _ in 0..<5 {
            let refused = await client.string.request("").sender().result
            XCTAssertEqual(refused.failure?.code, .circuitOpen)
        }
        let other = client.string.request("").withoutGate(CircuitBreaker.self)
        let text = try await other.sender().value
        XCTAssertEqual(text, "ok")
        let none = await other.sender().result
        XCTAssertEqual(none.failure?.code, .queueFull)
        let free = try await other.withoutGates().sender().value
        XCTAssertEqual(free, "ok")
    }

    func testRedirectUsesUpTokenIfNextServerCannotBeReached() async throws {
        let closed = try LoopbackServer()
        let server = try LoopbackServer()
        server.on("/near", .redirect(to: "\(closed.url)/"))
        closed.stop()
        for interceptors: [any ResponseInterceptor] in [[], [Replacing { $0 }]] {
            let client = APIClient(baseURL: server.url) {
                $0.gates = [RateLimit(1, every: .seconds(3600), maximumWaiting: 0)]
                $0.responseInterceptors = interceptors
            }
            let redirected = await client.string.request("near").sender().result
            XCTAssertEqual(redirected.failure?.code, .cannotConnect)
            let refused = await client.string.request("near").sender().result
            XCTAssertEqual(refused.failure?.code, .queueFull)
            // A request that reaches no server uses up no token.
            let unsent = await client.string.request("\(closed.url)/").sender().result
            XCTAssertEqual(unsent.failure?.code, .cannotConnect)
            let again = await client.string.request("\(closed.url)/").sender().result
            XCTAssertEqual(again.failure?.code, .cannotConnect)
        }
    }

    func testCancelledWaiterIsNotSent() async throws {
        let server = try LoopbackServer()
        server.on("/", .text("ok"))
        let clock = TestClock()
        let gate = RateLimit(1, every: .seconds(60))
        let client = APIClient(baseURL: server.url) {
            $0.gates = [gate]
            $0.clock = clock
        }
        _ = try await client.string.request("").sender().value
        let sender = client.string.request("").sender()
        let task = Task { await sender.result }
        await clock.waitForSleepers(1)
        sender.cancel()
        let code = await task.value.failure?.code
        XCTAssertEqual(code, .cancelled)
        await eventually { gate.waiting == 0 && clock.pendingSleeps.isEmpty }
        XCTAssertEqual(server.requests(to: "/").count, 1)
    }
}

import Sluice
import SluiceTesting
import XCTest

private final class CountingGate: Gate {
    private let admitted = Shared(0)
    private let returned = Shared(0)

    var counts: [Int] { [admitted.read, returned.read] }

    func admit(_ request: RequestContext) async throws(SluiceError) -> Permit {
        admitted.change { $0 += 1 }
        return Permit { [self] _ in
            returned.change { $0 += 1 }
            return .settled
        }
    }
}

private struct Numbering: RequestAdapter {
    func adapt(_ request: inout HTTPRequest, context: RequestContext) {
        request.headers["X-Attempt"] = "\(context.attempt)"
        request.headers["X-Sending"] = context.value(forKey: "test.sending") { "\(context.attempt)-\(context.id)" }
    }
}

final class RetryTests: XCTestCase {
    private func client(
        _ server: LoopbackServer,
        _ clock: TestClock,
        _ configure: (inout APIClient.Configuration) -> Void = { _ in }
    ) -> APIClient {
        APIClient(baseURL: server.url) {
            $0.retry = .standard
            $0.clock = clock
            $0.randomness = { 1 << 63 }
            configure(&$0)
        }
    }

    /// Advances the clock past each wait until the task is done, and returns the waits.
    private func passing<Value: Sendable>(_ clock: TestClock, _ waits: Int, _ task: Task<Value, Never>) async
        -> [Duration]
    {
        var passed: [Duration] = []
        for _ in 0..<waits {
            await clock.waitForSleepers(1)
            passed += clock.pendingSleeps.prefix(1)
            clock.advance(by: clock.pendingSleeps.first ?? .zero)
        }
        _ = await task.value
        return passed
    }

    func testRetriesTransientFailuresUntilSuccess() async throws {
        let server = try LoopbackServer()
        let clock = TestClock()
        server.on("/", .drop, .status(.serviceUnavailable), .text("ok"))
        let gate = CountingGate()
        let client = client(server, clock) {
            $0.gates = [gate]
            $0.requestInterceptors = [Numbering()]
        }
        let request = Task { await client.string.request("").sender().result }
        let waits = await passing(clock, 2, request)
        let result = await request.value
        XCTAssertEqual(try result.get(), "ok")
        XCTAssertEqual(waits, [.milliseconds(250), .milliseconds(500)])
        XCTAssertEqual(gate.counts, [3, 3])
        let sent = server.requests(to: "/")
        XCTAssertEqual(sent.map { $0.headers["X-Attempt"] }, ["1", "2", "3"])
        XCTAssertEqual(Set(sent.map { $0.headers["X-Sending"] }).count, 1)
    }

    func testClosureOfPolicyIsAskedOnceForAnOutcome() async throws {
        let server = try LoopbackServer()
        server.on("/", .status(.serviceUnavailable), .text("ok"))
        let asked = Shared(0)
        let client = APIClient(baseURL: server.url) {
            $0.retry = RetryPolicy(maximumAttempts: 3, backoff: .constant(.zero))
            $0.retry.shouldRetry = { proposal in
                asked.change { $0 += 1 }
                return proposal.isRetried
            }
        }
        let text = try await client.string.request("").sender().value
        XCTAssertEqual(text, "ok")
        XCTAssertEqual(asked.read, 2)
    }

    func testPOSTIsRetriedWithoutAConnectionUnlessARedirectHasLedThere() async throws {
        let server = try LoopbackServer()
        let closed = try LoopbackServer()
        let url = closed.url
        closed.stop()
        server.on("/moved", .redirect(to: url, status: .temporaryRedirect))
        for (target, count) in [(url, 3), ("\(server.url)/moved", 2)] {
            let observer = NotingObserver([.sending])
            let client = APIClient {
                $0.retry = RetryPolicy(maximumAttempts: 3, backoff: .constant(.zero))
                $0.observers = [observer]
            }
            let error = await client.string.post(target).data(Data("x".utf8)).sender().result.failure
            XCTAssertEqual(error?.code, .cannotConnect)
            await client.observersCaughtUp()
            XCTAssertEqual(observer.events.count, count, "\(observer.events)")
        }
        XCTAssertEqual(server.requestCount, 1)
    }

    // The error of an interceptor, perhaps that of a request of its own, says nothing about the request.
    func testPOSTThatWasSentIsNotRetriedForTheErrorOfAnInterceptor() async throws {
        struct Offline: OutcomeAdapter {
            func adapt(_ outcome: inout TransportOutcome, context: RequestContext) {
                outcome = .failure(SluiceError(.cannotConnect, "The audit server is down."))
            }
        }
        let server = try LoopbackServer()
        server.on("/made", .text("made", status: .created))
        server.on("/lost", .drop)
        let client = client(server, TestClock()) { $0.responseInterceptors = [Offline()] }
        for path in ["made", "lost"] {
            let error = await client.string.post(path).sender().result.failure
            XCTAssertEqual(error?.code, .cannotConnect)
            XCTAssertEqual(server.requests(to: "/\(path)").count, 1)
        }
    }

    func testPOSTIsNotRetriedForTheErrorOfAnotherTransport() async throws {
        struct Unreliable: Transport {
            let count: Shared<Int>

            func send(_ request: HTTPRequest, context: TransferContext) async throws(SluiceError) -> TransportResponse {
                count.change { $0 += 1 }
                throw SluiceError(.cannotConnect, "The network went down.", request: request)
            }
        }
        let count = Shared(0)
        let client = APIClient(baseURL: "http://shop.test") {
            $0.transport = Unreliable(count: count)
            $0.retry = RetryPolicy(maximumAttempts: 3, backoff: .constant(.zero))
        }
        _ = await client.string.post("").sender().result
        XCTAssertEqual(count.read, 1)
        _ = await client.string.get("").sender().result
        XCTAssertEqual(count.read, 4)
    }

    func testRequestSentWithUnsafeMethodIsNotRetried() async throws {
        struct Posting: RequestAdapter {
            func adapt(_ request: inout HTTPRequest, context: RequestContext) { request.method = .post }
        }
        let server = try LoopbackServer()
        server.on("/", .status(.serviceUnavailable), .text("ok"))
        let client = client(server, TestClock()) { $0.requestInterceptors = [Posting()] }
        let error = await client.string.get("").sender().result.failure
        XCTAssertEqual(error?.response?.status, .serviceUnavailable)
        XCTAssertEqual(server.requests(to: "/").map(\.method), [.post])
    }

    func testPOSTThatHasLedToAResultIsNotSentAgain() async throws {
        struct Posting: RequestAdapter {
            func adapt(_ request: inout HTTPRequest, context: RequestContext) { request.method = .post }
        }
        let server = try LoopbackServer()
        server.on(.post, "/orders", .status(.seeOther, headers: ["Location": "/orders/7"]))
        let tokens = Shared(0)
        server.on("/token") { _ in
            let number = tokens.change { number in
                number += 1
                return number
            }
            return .json(#"{"access_token":"t\#(number)","token_type":"Bearer"}"#)
        }
        let oauth = OAuth2(.clientCredentials(id: "i", secret: "s"), tokenURL: "\(server.url)/token")
        let client = client(server, TestClock()) { $0.gates = [oauth] }
        // A server refuses the token with the request for the result.
        server.on("/orders/7", .status(.unauthorized), .status(.serviceUnavailable))
        let refused = await client.string.post("orders").sender().response
        XCTAssertEqual(refused.status, .unauthorized)
        // The server is not available for the result of a request that an interceptor has made a POST.
        let posting = self.client(server, TestClock()) { $0.requestInterceptors = [Posting()] }
        let unavailable = await posting.string.get("orders").sender().response
        XCTAssertEqual(unavailable.status, .serviceUnavailable)
        let orders = server.requests.filter { $0.path != "/token" }
        XCTAssertEqual(orders.map(\.method), [.post, .get, .post, .get])
        // Another request may be sent again, because it says so.
        server.on("/orders/7", .status(.unauthorized), .text("ok"))
        let text = try await client.string.post("orders").idempotent().sender().value
        XCTAssertEqual(text, "ok")
        XCTAssertEqual(server.requests(to: "/orders").count, 4)
    }

    func testRequestDeclaredUnsafeIsNotRetriedForItsKey() async throws {
        let server = try LoopbackServer()
        server.on("/pay", .status(.serviceUnavailable))
        let client = client(server, TestClock()) { $0.requestInterceptors = [IdempotencyKey()] }
        _ = await client.string.post("pay").idempotent(false).sender().response
        XCTAssertEqual(server.requestCount, 1)
    }

    func testUnsafeRequestIsNotRetriedForAnErrorOfAnInterceptor() async throws {
        struct AsPost: RequestInterceptor {
            func intercept(_ request: HTTPRequest, context: RequestContext) async throws -> HTTPRequest {
                var request = request
                request.method = .post
                return request
            }
        }
        struct Maintenance: ResponseInterceptor {
            func intercept(_ outcome: TransportOutcome, context: RequestContext) async -> TransportOutcome {
                .failure(SluiceError(SluiceError.Code("maintenance"), "Maintenance."))
            }
        }
        let server = try LoopbackServer()
        server.on("/", .text("maintenance"))
        let client = client(server, TestClock()) {
            $0.requestInterceptors = [AsPost()]
            $0.responseInterceptors = [Maintenance()]
            $0.retry.codes = [SluiceError.Code("maintenance")]
        }
        let failure = await client.string.request("").sender().response.failure
        XCTAssertEqual(failure?.code, SluiceError.Code("maintenance"))
        XCTAssertEqual(server.requestCount, 1)
    }

    func testStreamEndsWithItsTotalTimeAfterAGate() async throws {
        struct Slow: Gate {
            let clock: TestClock

            func admit(_ request: RequestContext) async throws(SluiceError) -> Permit {
                clock.advance(by: .seconds(4))
                return Permit()
            }
        }
        struct Noting: Transport {
            let totals: Shared<[Duration?]>

            func send(_ request: HTTPRequest, context: TransferContext) async throws(SluiceError) -> TransportResponse {
                totals.change { $0.append(context.timeouts.total) }
                return TransportResponse(head: HTTPResponse(status: .ok), body: ResponseBody())
            }
        }
        let totals = Shared<[Duration?]>([])
        let clock = TestClock()
        let client = APIClient(baseURL: "http://h") {
            $0.clock = clock
            $0.gates = [Slow(clock: clock)]
            $0.transport = Noting(totals: totals)
        }
        for try await _ in client.stream("log").timeout(total: .seconds(5)).lines {}
        XCTAssertEqual(totals.read, [.seconds(1)])
    }

    func testLastOutcomeIsOutcomeOfRequest() async throws {
        let server = try LoopbackServer()
        let clock = TestClock()
        server.on("/", .status(.serviceUnavailable))
        let client = client(server, clock)
        let request = Task { await client.string.request("").sender().response }
        _ = await passing(clock, 2, Task { _ = await request.value })
        let response = await request.value
        XCTAssertEqual(response.status, .serviceUnavailable)
        XCTAssertEqual(response.failure?.code, .unacceptableStatus)
        XCTAssertEqual(server.requests(to: "/").count, 3)
    }

    func testWaitsForRetryAfter() async throws {
        let server = try LoopbackServer()
        let clock = TestClock(date: Date(timeIntervalSince1970: 784_111_777))
        server.on(
            "/",
            .status(.tooManyRequests, headers: ["Retry-After": "7"]),
            .status(.serviceUnavailable, headers: ["Retry-After": "Sun, 06 Nov 1994 08:49:54 GMT"]),
            .text("ok")
        )
        // Without the random part of a wait, the second one is exact.
        let client = client(server, clock) { $0.randomness = { 0 } }
        let request = Task { await client.string.request("").sender().result }
        let waits = await passing(clock, 2, request)
        XCTAssertEqual(waits, [.seconds(7), .seconds(10)])
    }

    func testRetriesPOSTOnlyIfMarkedIdempotent() async throws {
        let server = try LoopbackServer()
        let clock = TestClock()
        server.on("/once", .status(.serviceUnavailable))
        server.on("/twice", .status(.serviceUnavailable), .text("ok"))
        let client = client(server, clock)
        _ = await client.string.post("once").json(["a": 1]).sender().result
        XCTAssertEqual(server.requests(to: "/once").count, 1)
        let request = Task { await client.string.post("twice").json(["a": 1]).idempotent().sender().result }
        _ = await passing(clock, 1, request)
        XCTAssertEqual(server.requests(to: "/twice").map(\.body), [Data(#"{"a":1}"#.utf8), Data(#"{"a":1}"#.utf8)])
        _ = await client.string.get("once").idempotent(false).sender().result
        XCTAssertEqual(server.requests(to: "/once").count, 2)
    }

    func testRequestThatIsNotIdempotentIsNotSentAgainAfterTheLossOfAConnection() async throws {
        let server = try LoopbackServer()
        server.on("/", .text("one"), .drop, .text("three"), .drop, .text("five"))
        // The client has no other steps.
        let client = APIClient(baseURL: server.url)
        var results: [String?] = []
        for isIdempotent in [true, false, true, true] {
            results.append(try? await client.string.get("").idempotent(isIdempotent).sender().value)
        }
        XCTAssertEqual(results, ["one", nil, "three", "five"])
        XCTAssertEqual(server.requestCount, 5)
    }

    func testRequestOverridesPolicyOfClient() async throws {
        let server = try LoopbackServer()
        let clock = TestClock()
        server.on("/", .status(.serviceUnavailable))
        let client = client(server, clock)
        _ = await client.data.request("").retry(.none).sender().result
        XCTAssertEqual(server.requests(to: "/").count, 1)
        let plain = APIClient(baseURL: server.url) { $0.clock = clock }
        let policy = RetryPolicy(maximumAttempts: 2, backoff: .constant(.seconds(3)))
        let request = Task { await plain.data.request("").retry(policy).sender().result }
        let waits = await passing(clock, 1, request)
        XCTAssertEqual(waits, [.seconds(3)])
        XCTAssertEqual(server.requests(to: "/").count, 3)
    }

    func testCancellationEndsRetryPause() async throws {
        let server = try LoopbackServer()
        let clock = TestClock()
        server.on("/", .status(.serviceUnavailable))
        let client = client(server, clock)
        let request = Task { await client.data.request("").sender().result.failure?.code }
        await clock.waitForSleepers(1)
        request.cancel()
        let code = await request.value
        XCTAssertEqual(code, .cancelled)
        await eventually { clock.pendingSleeps.isEmpty }
        XCTAssertEqual(server.requests(to: "/").count, 1)
    }

    func testLastOutcomeStandsIfAGateRefusesTheRetry() async throws {
        let server = try LoopbackServer()
        server.on("/x", .text("broken", status: 500))
        let lines = Shared<[String]>([])
        let client = APIClient(baseURL: server.url) {
            $0.gates = [CircuitBreaker(failureRatio: 0.5, of: 2)]
            $0.retry = RetryPolicy(maximumAttempts: 4, backoff: .constant(.zero))
            $0.observers = [RequestLog(.failures) { line in lines.change { $0.append(line) } }]
        }
        let response = await client.string.get("x").sender().response
        XCTAssertEqual(response.failure?.code, .unacceptableStatus)
        XCTAssertEqual(response.status, 500)
        XCTAssertEqual(response.body, Data("broken".utf8))
        XCTAssertEqual(server.requestCount, 2)
        await client.observersCaughtUp()
        XCTAssertEqual(lines.read.filter { $0.contains("(2 attempts") }.count, 1, "\(lines.read)")
        let refused = await client.string.get("x").sender().response
        XCTAssertEqual(refused.failure?.code, .circuitOpen)
    }

    func testRefusalOfAReplayIsTheOutcome() async throws {
        struct Once: Gate {
            func admit(_ request: RequestContext) async throws(SluiceError) -> Permit {
                if request.attempt > 1 { throw SluiceError(.rateLimited, "There is no permit.", step: .gate) }
                return Permit()
            }
        }
        let server = try LoopbackServer()
        server.on("/x", .status(.unauthorized))
        server.on("/token", .json(#"{"access_token":"2","token_type":"Bearer"}"#))
        let oauth = OAuth2(.refreshToken("r", id: "i"), tokenURL: "\(server.url)/token")
        try await oauth.signIn(with: OAuth2.Token(accessToken: "1", refreshToken: "r"))
        let client = APIClient(baseURL: server.url) { $0.gates = [oauth, Once()] }
        let failure = await client.string.get("x").sender().response.failure
        XCTAssertEqual(failure?.code, .rateLimited)
    }

    func testBudgetLimitsRetriesOfFailingService() async throws {
        let clock = TestClock()
        let sent = Shared(0)
        struct Failing: Transport {
            let sent: Shared<Int>
            func send(_ request: HTTPRequest, context: TransferContext) async throws(SluiceError) -> TransportResponse {
                sent.change { $0 += 1 }
                return TransportResponse(head: HTTPResponse(status: .badGateway), body: ResponseBody())
            }
        }
        let client = APIClient(baseURL: "http://localhost") {
            $0.transport = Failing(sent: sent)
            $0.retry = RetryPolicy(backoff: .constant(.zero))
            $0.retryBudget = RetryBudget(ratio: 0.1, reserve: 0)
            $0.clock = clock
        }
        for _ in 0..<100 { _ = await client.data.request("").sender().result }
        XCTAssertEqual(sent.read, 110)
    }

    func testTotalTimeoutCoversAttemptsPausesAndConstraints() async throws {
        let server = try LoopbackServer()
        let clock = TestClock()
        server.on("/", .status(.serviceUnavailable))
        let never = AsyncSignal()
        defer { never.open() }
        // Admits the first attempt, and lets the second one wait.
        let constraint = ScriptedConstraint { constraint, _ in
            if constraint.satisfactions > 1 { await never.wait() }
        }
        let client = client(server, clock) { $0.constraints = [constraint] }
        let request = Task { await client.data.request("").timeout(total: .seconds(5)).sender().result.failure }
        try await waitUntil("the first attempt has failed") { clock.pendingSleeps.contains(.milliseconds(250)) }
        constraint.set(false)
        clock.advance(by: .milliseconds(250))
        try await waitUntil("the second attempt waits") { constraint.satisfactions == 2 }
        await clock.waitForSleepers(1, within: .milliseconds(4750))
        clock.advance(by: .milliseconds(4740))
        let isEarly = await TaskRace.isDone(request)
        XCTAssertFalse(isEarly)
        clock.advance(by: .milliseconds(10))
        try await waitUntil("the request has ended") { await TaskRace.isDone(request) }
        let error = await request.value
        XCTAssertEqual(error?.code, .timedOut)
        XCTAssertEqual(error?.error.step, .gate)
        XCTAssertTrue("\(error?.error.reason ?? "")".contains("5.0 seconds"))
        XCTAssertEqual(server.requestCount, 1)
    }

    func testRetriesAfterAttemptTimeout() async throws {
        let server = try LoopbackServer()
        server.on("/", .hang, .text("ok"))
        let observer = NotingObserver(.received)
        let client = APIClient(baseURL: server.url) {
            // More attempts than a pause of the process uses up.
            $0.retry = RetryPolicy(maximumAttempts: 10, backoff: .constant(.zero), attemptTimeout: .milliseconds(500))
            $0.timeouts.idle = nil
            $0.observers = [observer]
        }
        let text = try await client.string.request("").sender().value
        XCTAssertEqual(text, "ok")
        await client.observersCaughtUp()
        XCTAssertEqual(observer.events.first?.hasSuffix("timedOut"), true, "\(observer.events)")
    }

    func testTimeoutNamesTheLimitThatWasExceeded() async throws {
        let server = try LoopbackServer()
        server.on("/", .hang)
        for (attempts, total, reason) in [
            (1, nil, "The attempt exceeded its time limit of 0.3 seconds."),
            (2, nil, "The attempt exceeded its time limit of 0.3 seconds."),
            (9, .milliseconds(500), "total time-out of 0.5 seconds"),
        ] as [(Int, Duration?, String)] {
            let client = APIClient(baseURL: server.url) {
                $0.retry = RetryPolicy(
                    maximumAttempts: attempts,
                    backoff: .constant(.zero),
                    attemptTimeout: .milliseconds(300)
                )
                $0.timeouts.total = total
            }
            let failure = await client.string.request("").sender().response.failure
            XCTAssertEqual(failure?.code, .timedOut)
            XCTAssertEqual(failure?.reason.contains(reason), true, "\(failure as Any)")
        }
    }

    /// Users write the greatest duration for "no limit".
    func testGreatestDurationsAreAsGoodAsNone() async throws {
        let server = try LoopbackServer()
        server.on("/", .text("ok"))
        for limit in [.seconds(Int64.max), .seconds(1e19), Duration(attoseconds: .max)] as [Duration] {
            let client = APIClient(baseURL: server.url) {
                $0.timeouts = Timeouts(connect: limit, idle: limit, total: limit)
                $0.retry = RetryPolicy(maximumAttempts: 3, backoff: .constant(limit), attemptTimeout: limit)
                $0.caching.http = HTTPCaching(staleIfError: limit)
                #if os(Linux)
                var configuration = SocketTransport.Configuration()
                configuration.idleConnectionTimeout = limit
                $0.transport = SocketTransport(configuration: configuration)
                #endif
            }
            // The second request uses the idle connection.
            for _ in 0..<2 {
                let text = try await client.string.get("").deadline(.after(limit)).sender().value
                XCTAssertEqual(text, "ok")
            }
            let stubbed = try await client.string.get("").stub(.text("stub")).sender().value
            XCTAssertEqual(stubbed, "stub")
            let hedged = try await client.string.get("").hedged(.after(limit)).sender().value
            XCTAssertEqual(hedged, "ok")
        }
    }
}

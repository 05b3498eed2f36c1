import SluiceTesting
import XCTest

@testable import Sluice

private final class DeadlineReader: RequestInterceptor {
    let deadlines = Shared<[ContinuousClock.Instant?]>([])

    func intercept(_ request: HTTPRequest, context: RequestContext) async throws -> HTTPRequest {
        deadlines.change { $0.append(context.deadline) }
        return request
    }
}

final class DeadlineClientTests: XCTestCase {
    /// Creates a client whose attempts use the test's clock.
    private func client(
        _ server: LoopbackServer,
        _ clock: TestClock,
        _ configure: (inout APIClient.Configuration) -> Void = { _ in }
    ) -> APIClient {
        addTeardownBlock { server.stop() }
        return APIClient(baseURL: server.url) {
            $0.retry = RetryPolicy(backoff: .constant(.seconds(10)))
            $0.clock = clock
            configure(&$0)
        }
    }

    func testStepsCanReadTheDeadline() async throws {
        let server = try LoopbackServer()
        server.on("/", .text("ok"))
        let clock = TestClock()
        let reader = DeadlineReader()
        let client = client(server, clock) {
            $0.requestInterceptors = [reader]
            $0.timeouts.total = .seconds(500)
        }
        let request = client.string.request("")
        _ = try await request.sender().value
        _ = try await request.timeout(total: .seconds(400)).sender().value
        try await Deadline.withDeadline(.seconds(300), on: clock) {
            _ = try await request.sender().value
            _ = try await request.deadline(.after(.seconds(200), on: clock)).sender().value
            _ = try await request.deadline(.after(.seconds(900), on: clock)).sender().value
        }
        let expected = [500, 400, 300, 200, 300].map { clock.now + .seconds($0) }
        XCTAssertEqual(reader.deadlines.read, expected)
    }

    func testSendsNothingAfterDeadline() async throws {
        let server = try LoopbackServer()
        server.on("/*", .text("ok"))
        addTeardownBlock { server.stop() }
        let bare = APIClient(baseURL: server.url)
        let others = [
            APIClient(baseURL: server.url) { $0.gates = [ConcurrencyLimit(1)] },
            APIClient(baseURL: server.url) { $0.retry = .standard },
            APIClient(baseURL: server.url) { $0.sharing = .safeMethods },
            APIClient(baseURL: server.url) { $0.cache = CacheStore(storage: nil) },
        ]
        await Deadline.withDeadline(.zero) {
            for client in [bare] + others {
                let failure = await client.string.get("late").sender().result.failure
                XCTAssertEqual(failure?.code, .timedOut)
            }
            do {
                for try await _ in bare.stream("late").lines { XCTFail("A line was received.") }
            } catch {
                XCTAssertEqual((error as? APIError)?.code, .timedOut)
            }
            do {
                _ = try await bare.batch(bare.string.get("a"), bare.string.get("b"))
                XCTFail("The batch did not fail.")
            } catch {
                XCTAssertEqual((error as? APIError)?.code, .timedOut)
            }
        }
        XCTAssertEqual(server.requestCount, 0)
        let after = try await bare.string.get("in-time").sender().value
        XCTAssertEqual(after, "ok")
    }

    /// The second attempt waits at a gate until the time is up. The gate before it does not see a failure of the server.
    func testTimeoutAtGateOfASecondAttemptIsReportedAsOne() async throws {
        final class Noting: Gate {
            let outcomes = Shared<[SluiceError?]>([])

            func admit(_ request: RequestContext) async throws(SluiceError) -> Permit {
                Permit { outcome in
                    var failure: SluiceError?
                    if case .failure(let error) = outcome { failure = error }
                    self.outcomes.change { [failure] in $0.append(failure) }
                    return .settled
                }
            }
        }
        struct Waiting: Gate {
            func admit(_ request: RequestContext) async throws(SluiceError) -> Permit {
                guard request.attempt > 1 else { return Permit() }
                do { try await Task.sleep(for: .seconds(60)) } catch {
                    throw SluiceError(.gateFailed, "The wait was ended.")
                }
                return Permit()
            }
        }
        let server = try LoopbackServer()
        server.on("/x", .status(.serviceUnavailable))
        let noting = Noting()
        let client = APIClient(baseURL: server.url) {
            $0.gates = [noting, Waiting()]
            $0.retry = RetryPolicy(backoff: .constant(.zero))
            $0.timeouts.total = .milliseconds(300)
        }
        let failure = await client.data.get("x").sender().result.failure
        XCTAssertEqual(failure?.code, .timedOut)
        await eventually { noting.outcomes.read.count == 2 }
        XCTAssertEqual(noting.outcomes.read.map { $0?.code }, [nil, .timedOut])
        XCTAssertEqual(noting.outcomes.read.last??.step, .gate)
    }

    /// The stream that the interceptor reads has the same deadline, and may fail first.
    func testDeadlineOfAnInterceptorsStreamIsThatOfTheRequest() async throws {
        struct Listener: RequestInterceptor {
            func intercept(_ request: HTTPRequest, context: RequestContext) async throws -> HTTPRequest {
                if request.path == "/hang" { return request }
                for try await _ in context.client.stream("hang").lines {}
                return request
            }
        }
        let server = try LoopbackServer()
        server.on("/hang", .headersThenHang())
        let client = APIClient(baseURL: server.url) { $0.requestInterceptors = [Listener()] }
        let codes = await Deadline.withDeadline(.milliseconds(200)) {
            await withTaskGroup(of: SluiceError.Code?.self) { group in
                for number in 0..<60 {
                    group.addTask { await client.data.get("\(number)").sender().result.failure?.code }
                }
                return await group.reduce(into: Set()) { $0.insert($1) }
            }
        }
        XCTAssertEqual(codes, [.timedOut])
    }

    /// Without other steps, the transport would measure the time by the system's clock.
    func testTotalTimeoutSleepsOnTheClockOfTheClient() async throws {
        let server = try LoopbackServer()
        server.on("/hang", .hang)
        let clock = TestClock()
        for retry in [RetryPolicy.none, .standard] {
            let client = APIClient(baseURL: server.url) {
                $0.clock = clock
                $0.timeouts.total = .seconds(80)
                $0.retry = retry
            }
            let task = Task { await client.string.get("hang").sender().result }
            await clock.waitForSleepers(1)
            clock.advance(by: .seconds(81))
            let result = await task.value
            XCTAssertEqual(result.failure?.code, .timedOut)
        }
    }

    private struct QuietPlugin: Plugin {}

    func testTimeoutAfterTheHeadHasTheHead() async throws {
        let server = try LoopbackServer()
        server.on("/body", .headersThenHang(status: .notFound))
        for hasPlugin in [false, true] {
            var failure: SluiceError?
            for total in risingLimits where failure?.status == nil {
                let client = APIClient(baseURL: server.url) {
                    $0.timeouts.total = total
                    if hasPlugin { $0.plugins = [QuietPlugin()] }
                }
                failure = await client.data.get("body").sender().response.failure
            }
            XCTAssertEqual(failure?.code, .timedOut)
            XCTAssertEqual(failure?.step, .transport)
            XCTAssertEqual(failure?.status, .notFound, "with a plugin: \(hasPlugin)")
        }
    }

    func testBodyOverTheLimitHasTheHead() async throws {
        let stubs = StubTransport()
        stubs.on(.get("/body"), .data(Data(count: 5000), status: .notFound))
        for hasPlugin in [false, true] {
            let client = APIClient(baseURL: "https://shop.example") {
                $0.transport = stubs
                $0.limits.body = 1000
                if hasPlugin { $0.plugins = [QuietPlugin()] }
            }
            let failure = await client.data.get("body").sender().response.failure
            XCTAssertEqual(failure?.code, .bodyTooLarge)
            XCTAssertEqual(failure?.status, .notFound, "with a plugin: \(hasPlugin)")
        }
    }

    func testTimeoutAtGateNamesGateAndLeavesQueue() async throws {
        let server = try LoopbackServer()
        server.on("/hang", .hang)
        let clock = TestClock()
        let gate = ConcurrencyLimit(1, named: "limit")
        let client = client(server, clock) { $0.gates = [gate] }
        let hanging = client.string.request("hang").sender()
        let task = Task { await hanging.result }
        await server.waitForRequests(1)
        let waiting = Task {
            await Deadline.withDeadline(.seconds(60), on: clock) { await client.string.request("").sender().result }
        }
        await clock.waitForSleepers(1)
        await eventually { gate.waiting == 1 }
        clock.advance(by: .seconds(60))
        let failure = await waiting.value.failure?.error
        XCTAssertEqual(failure?.code, .timedOut)
        XCTAssertEqual(failure?.step, .gate)
        XCTAssertTrue(failure?.reason.contains("limit") == true, "\(failure?.reason ?? "")")
        await eventually { gate.waiting == 0 }
        XCTAssertEqual(server.requestCount, 1)
        hanging.cancel()
        _ = await task.value
    }

    func testTimeoutKeepsFailureOfPreviousAttempt() async throws {
        let server = try LoopbackServer()
        server.on("/", .status(.serviceUnavailable), .hang)
        let clock = TestClock()
        let client = client(server, clock)
        let request = Task { await client.string.request("").timeout(total: .seconds(600)).sender().result }
        // Waits for the timers of the timeout and of the pause.
        await clock.waitForSleepers(2)
        clock.advance(by: .seconds(10))
        await server.waitForRequests(2)
        clock.advance(by: .seconds(590))
        let failure = await request.value.failure?.error
        XCTAssertEqual(failure?.code, .timedOut)
        XCTAssertEqual(failure?.step, .transport)
        let before = failure?.underlyingError as? SluiceError
        XCTAssertEqual(before?.response?.status, .serviceUnavailable)
        await server.waitForOpenConnections { $0 == 0 }
    }

    func testWaitsForRetryPauseBeforeDeadline() async throws {
        let server = try LoopbackServer()
        server.on("/", .status(.serviceUnavailable))
        let clock = TestClock()
        let client = client(server, clock) {
            $0.retry = RetryPolicy(
                maximumAttempts: 2,
                maximumElapsedTime: nil,
                backoff: .constant(.seconds(5000))
            )
        }
        let request = Task { await client.string.request("").timeout(total: .seconds(6000)).sender().result }
        await clock.waitForSleepers(2)
        clock.advance(by: .seconds(4999))
        XCTAssertEqual(server.requestCount, 1)
        clock.advance(by: .seconds(1))
        let failure = await request.value.failure
        XCTAssertEqual(failure?.status, .serviceUnavailable)
        XCTAssertEqual(server.requestCount, 2)
    }

    func testSkipsRetryPauseBeyondDeadline() async throws {
        let server = try LoopbackServer()
        server.on("/", .status(.serviceUnavailable), .text("ok"))
        let clock = TestClock()
        let client = client(server, clock)
        let result = await Deadline.withDeadline(.seconds(10), on: clock) {
            await client.string.request("").sender().result
        }
        // The clock has not been advanced.
        XCTAssertEqual(result.failure?.code, .unacceptableStatus)
        XCTAssertEqual(result.failure?.status, .serviceUnavailable)
        XCTAssertEqual(server.requestCount, 1)
        XCTAssertEqual(clock.elapsed, .zero)
    }

    func testDeadlineStopsAllHedges() async throws {
        let server = try LoopbackServer()
        server.on("/", .hang)
        let clock = TestClock()
        let client = client(server, clock) { $0.hedging = .after(.seconds(2)) }
        let request = Task {
            await Deadline.withDeadline(.seconds(60), on: clock) { await client.string.request("").sender().result }
        }
        await server.waitForRequests(1)
        await clock.waitForSleepers(2)
        clock.advance(by: .seconds(2))
        await server.waitForRequests(2)
        clock.advance(by: .seconds(58))
        let failure = await request.value.failure?.error
        XCTAssertEqual(failure?.code, .timedOut)
        XCTAssertEqual(failure?.step, .transport)
        await server.waitForOpenConnections { $0 == 0 }
    }

    func testTokenRequestContinuesForRequestsWithoutDeadline() async throws {
        let guarded = try GuardedServer()
        let signal = LoopbackSignal()
        guarded.server.on(.post, "/token", .after(signal, .token("t")))
        let clock = TestClock()
        let client = guarded.client(guarded.gate(), clock: clock)
        let limited = Task { await Deadline.withDeadline(.seconds(5), on: clock) { await client.get("x") } }
        await guarded.server.waitForRequests(1)
        let unlimited = Task { await client.get("x") }
        // The request waits at the gate, or will reach it before the token arrives.
        for _ in 0..<100 { await Task.yield() }
        await clock.waitForSleepers(1)
        clock.advance(by: .seconds(5))
        let late = await limited.value
        XCTAssertEqual(late.failure?.code, .timedOut)
        XCTAssertEqual(late.failure?.error.step, .gate)
        signal.fire()
        let carried = try await unlimited.value.get()
        XCTAssertEqual(carried, "Bearer t")
    }

    func testDeadlineEndsTheWaitForATokenOfTheCaller() async throws {
        let guarded = try GuardedServer()
        guarded.server.on(.post, "/token", .hang)
        let oauth = guarded.gate()
        do {
            _ = try await Deadline.withDeadline(.milliseconds(200)) { try await oauth.token() }
            XCTFail("There is no token.")
        } catch {
            XCTAssertEqual((error as? SluiceError)?.code, .timedOut)
        }
    }

    func testSharedTransferContinuesAfterEarlierDeadlines() async throws {
        let server = try LoopbackServer()
        let signal = LoopbackSignal()
        server.on("/", .after(signal, .text("ok")))
        let clock = TestClock()
        let client = client(server, clock) { $0.sharing = .safeMethods }
        let limited = Task {
            await Deadline.withDeadline(.seconds(60), on: clock) { await client.string.request("").sender().result }
        }
        await server.waitForRequests(1)
        let unlimited = client.string.request("").sender()
        async let value = unlimited.value
        let other = Task { await client.string.request("").deadline(.after(.seconds(90), on: clock)).sender().result }
        await clock.waitForSleepers(2)
        await eventually { client.pipeline.transfers.waiting == 3 }
        clock.advance(by: .seconds(60))
        let late = await limited.value
        XCTAssertEqual(late.failure?.code, .timedOut)
        clock.advance(by: .seconds(30))
        let later = await other.value
        XCTAssertEqual(later.failure?.code, .timedOut)
        signal.fire()
        let text = try await value
        XCTAssertEqual(text, "ok")
        XCTAssertEqual(server.requestCount, 1)
        XCTAssertEqual(clock.pendingSleeps, [])
    }

    func testSharedTransferStopsAfterAllDeadlines() async throws {
        let server = try LoopbackServer()
        server.on("/", .hang)
        let clock = TestClock()
        let client = client(server, clock) { $0.sharing = .safeMethods }
        let tasks = (1...3).map { number in
            Task {
                await Deadline.withDeadline(.seconds(number), on: clock) {
                    await client.string.request("").sender().result
                }
            }
        }
        await server.waitForRequests(1)
        await clock.waitForSleepers(3)
        clock.advance(by: .seconds(3))
        for task in tasks {
            let result = await task.value
            XCTAssertEqual(result.failure?.code, .timedOut)
        }
        await server.waitForOpenConnections { $0 == 0 }
    }

    func testDeadlineCoversAllPages() async throws {
        let server = try LoopbackServer()
        addTeardownBlock { server.stop() }
        server.on("/items") { request in
            request.query == nil ? .json("[1]", headers: ["Link": "</items?page=2>; rel=\"next\""]) : .hang
        }
        // Only the engine measures time here, so this is real time.
        let request: APIRequest<[Int], APIError> = APIClient(baseURL: server.url).codable.get("items")
        var items: [Int] = []
        for limit in risingLimits where items.isEmpty {
            let pages = request.deadline(.after(limit)).pages(by: .link)
            do {
                for try await page in pages.items(\.self) { items.append(page) }
                XCTFail("The second page did not fail.")
            } catch {
                XCTAssertEqual(error.code, .timedOut)
            }
        }
        XCTAssertEqual(items, [1])
    }

    func testDeadlineStopsTransferAndStream() async throws {
        let server = try LoopbackServer()
        server.on("/*", .hang)
        addTeardownBlock { server.stop() }
        // Only the engine measures time here, so this is real time.
        let client = APIClient(baseURL: server.url)
        var step: SluiceError.Step?
        for (index, limit) in risingLimits.enumerated() where step == nil {
            let failure = await Deadline.withDeadline(limit) {
                await client.string.get("\(index)").sender().result.failure?.error
            }
            XCTAssertEqual(failure?.code, .timedOut)
            // Otherwise the time was up before the request was sent.
            if !server.requests(to: "/\(index)").isEmpty { step = failure?.step }
        }
        XCTAssertEqual(step, .transport)
        await Deadline.withDeadline(.milliseconds(300)) {
            do {
                for try await _ in client.stream("hang").lines { XCTFail("A line was received.") }
            } catch {
                XCTAssertEqual((error as? APIError)?.code, .timedOut)
            }
        }
        await server.waitForOpenConnections { $0 == 0 }
    }

    func testDeadlineStopsRequestsOfBatch() async throws {
        let server = try LoopbackServer()
        addTeardownBlock { server.stop() }
        server.on("/*", .hang)
        // Real time again, since the engine measures a transfer's time.
        let client = APIClient(baseURL: server.url)
        let code = await Deadline.withDeadline(.seconds(1)) { () -> SluiceError.Code? in
            do {
                _ = try await client.batch(client.string.get("a"), client.string.get("b"))
                return nil
            } catch {
                return (error as? APIError)?.code
            }
        }
        XCTAssertEqual(code, .timedOut)
        await server.waitForOpenConnections { $0 == 0 }
    }
}

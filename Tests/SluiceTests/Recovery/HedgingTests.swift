import Sluice
import SluiceTesting
import XCTest

final class HedgingTests: XCTestCase {
    private func client(
        _ server: LoopbackServer,
        _ clock: TestClock,
        _ configure: (inout APIClient.Configuration) -> Void = { _ in }
    ) -> APIClient {
        APIClient(baseURL: server.url) {
            $0.hedging = .after(.seconds(2))
            $0.clock = clock
            configure(&$0)
        }
    }

    func testHedgesSlowReadAndCancelsLoser() async throws {
        let server = try LoopbackServer()
        let clock = TestClock()
        server.on("/", .hang, .text("ok"))
        let client = client(server, clock)
        let request = Task { try await client.string.request("").sender().value }
        await server.waitForRequests(1)
        await clock.waitForSleepers(1)
        clock.advance(by: .seconds(2))
        let text = try await request.value
        XCTAssertEqual(text, "ok")
        XCTAssertEqual(server.requests(to: "/").count, 2)
        // The connection that hangs was closed. The other is kept for the next request.
        await server.waitForOpenConnections { $0 <= 1 }
    }

    func testSendsAtMostTheMaximumOfExtraRequests() async throws {
        let server = try LoopbackServer()
        let clock = TestClock()
        let signal = LoopbackSignal()
        server.on("/", .hang, .hang, .after(signal, .text("ok")))
        let client = client(server, clock) { $0.hedging = .after(.seconds(2), maximumExtra: 2) }
        let request = Task { try await client.string.request("").sender().value }
        for count in 1...2 {
            await server.waitForRequests(count)
            await clock.waitForSleepers(1)
            clock.advance(by: .seconds(2))
        }
        await server.waitForRequests(3)
        XCTAssertEqual(clock.pendingSleeps, [])
        signal.fire()
        let text = try await request.value
        XCTAssertEqual(text, "ok")
        XCTAssertEqual(server.requests(to: "/").count, 3)
    }

    func testDelayStartsBehindTheGates() async throws {
        let server = try LoopbackServer()
        let clock = TestClock()
        let signal = LoopbackSignal()
        server.on("/held", .after(signal, .text("held")))
        server.on("/", .hang, .text("ok"))
        let client = client(server, clock) { $0.gates = [ConcurrencyLimit(2)] }
        let held = (0..<2).map { _ in Task { try await client.string.get("held").hedged(.none).sender().value } }
        await server.waitForRequests(2)
        let request = Task { try await client.string.get("").sender().value }
        await clock.waitForSleepers(1)
        clock.advance(by: .seconds(2))
        // The request waits at the gate, and the delay begins again.
        await clock.waitForSleepers(1)
        clock.advance(by: .seconds(1))
        signal.fire()
        for task in held { _ = try await task.value }
        await server.waitForRequests(3)
        clock.advance(by: .seconds(1))
        await clock.waitForSleepers(1)
        XCTAssertEqual(server.requests(to: "/").count, 1)
        clock.advance(by: .seconds(1))
        let text = try await request.value
        XCTAssertEqual(text, "ok")
        XCTAssertEqual(server.requests(to: "/").count, 2)
    }

    func testResponseDoesNotWaitForAHedgeThatIgnoresItsCancellation() async throws {
        let server = try LoopbackServer()
        let clock = TestClock()
        let signal = LoopbackSignal()
        server.on("/", .after(signal, .text("ok")))
        let (asked, ask) = AsyncStream<Void>.makeStream()
        let (allowed, allow) = AsyncStream<Void>.makeStream()
        let count = Shared(0)
        let token = SuppliedToken { _ in
            let number = count.change { number in
                number += 1
                return number
            }
            // The second attempt waits until the test is over.
            if number == 2 {
                ask.yield()
                await Task { for await _ in allowed { break } }.value
            }
            return "t"
        }
        let client = client(server, clock) { $0.requestInterceptors = [token] }
        let request = Task { try await client.string.get("").sender().value }
        await server.waitForRequests(1)
        await clock.waitForSleepers(1)
        clock.advance(by: .seconds(2))
        for await _ in asked { break }
        signal.fire()
        let text = try await request.value
        XCTAssertEqual(text, "ok")
        allow.finish()
    }

    func testFailureOfAHedgeDoesNotReplaceTheResponse() async throws {
        let server = try LoopbackServer()
        let clock = TestClock()
        let signals = (LoopbackSignal(), LoopbackSignal())
        server.on(
            "/",
            .after(signals.0, .status(.tooManyRequests)),
            .after(signals.1, .text("").interrupted(afterBytesOnWire: 0))
        )
        let observer = NotingObserver(.received)
        let client = client(server, clock) { $0.observers = [observer] }
        let request = Task { await client.string.request("").sender().response }
        await server.waitForRequests(1)
        await clock.waitForSleepers(1)
        clock.advance(by: .seconds(2))
        await server.waitForRequests(2)
        signals.0.fire()
        await eventually { observer.events.count == 1 }
        signals.1.fire()
        let response = await request.value
        XCTAssertEqual(response.status, .tooManyRequests)
    }

    func testRequestMarkedAsNotIdempotentIsNotHedged() async throws {
        let server = try LoopbackServer()
        let clock = TestClock()
        let signal = LoopbackSignal()
        server.on("/", .after(signal, .text("ok")))
        let client = client(server, clock)
        let request = Task { try await client.string.request("").idempotent(false).sender().value }
        await server.waitForRequests(1)
        XCTAssertTrue(clock.pendingSleeps.isEmpty)
        clock.advance(by: .seconds(2))
        signal.fire()
        let text = try await request.value
        XCTAssertEqual(text, "ok")
        XCTAssertEqual(server.requestCount, 1)
    }

    func testUnsafeMethodSetByInterceptorIsNotHedged() async throws {
        struct Override: RequestAdapter {
            func adapt(_ request: inout HTTPRequest, context: RequestContext) { request.method = .post }
        }
        let server = try LoopbackServer()
        let clock = TestClock()
        let signal = LoopbackSignal()
        server.on("/", .after(signal, .text("ok")))
        let client = client(server, clock) { $0.requestInterceptors = [Override()] }
        let request = Task { try await client.string.request("").sender().value }
        await server.waitForRequests(1)
        await clock.waitForSleepers(1)
        clock.advance(by: .seconds(2))
        await eventually { clock.pendingSleeps.isEmpty }
        signal.fire()
        let text = try await request.value
        XCTAssertEqual(text, "ok")
        XCTAssertEqual(server.requestCount, 1)
    }

    func testRefusedHedgeDoesNotEndRunningAttemptWithStaleResponse() async throws {
        let server = try LoopbackServer()
        let clock = TestClock()
        let signal = LoopbackSignal()
        server.on(
            "/",
            .text("old", headers: ["Cache-Control": "max-age=1, stale-if-error=600"]),
            .after(signal, .text("new"))
        )
        let gate = ConcurrencyLimit(1, maximumWaiting: 0)
        let observer = NotingObserver(.cached)
        let client = client(server, clock) {
            $0.cache = CacheStore(storage: nil)
            $0.gates = [gate]
            $0.observers = [observer]
        }
        _ = try await client.string.request("").sender().value
        await eventually { clock.pendingSleeps.isEmpty }
        clock.advance(by: .seconds(2))
        let request = Task { await client.string.request("").sender().result }
        await server.waitForRequests(2)
        await clock.waitForSleepers(1)
        clock.advance(by: .seconds(2))
        // The second attempt was refused, and got the stale response.
        try await waitUntil("the hedge has ended") { !observer.events.isEmpty }
        let isDone = await TaskRace.isDone(request)
        XCTAssertFalse(isDone)
        signal.fire()
        let result = await request.value
        XCTAssertEqual(try result.get(), "new")
    }

    func testSendsFastReadOnce() async throws {
        let server = try LoopbackServer()
        let clock = TestClock()
        server.on("/", .text("ok"))
        _ = try await client(server, clock).string.request("").sender().value
        XCTAssertEqual(server.requests(to: "/").count, 1)
        await eventually { clock.pendingSleeps.isEmpty }
    }

    func testFailedAttemptWaitsForHedge() async throws {
        let server = try LoopbackServer()
        let clock = TestClock()
        let first = LoopbackSignal()
        let second = LoopbackSignal()
        server.on("/", .after(first, .status(.badGateway)), .after(second, .text("ok")))
        let observer = NotingObserver(.received)
        let client = client(server, clock) { $0.observers = [observer] }
        let request = Task { await client.string.request("").sender().result }
        await server.waitForRequests(1)
        await clock.waitForSleepers(1)
        clock.advance(by: .seconds(2))
        await server.waitForRequests(2)
        first.fire()
        try await waitUntil("the first attempt has failed") { observer.events.contains("1 received 502") }
        let isDone = await TaskRace.isDone(request)
        XCTAssertFalse(isDone)
        second.fire()
        let text = try await request.value.get()
        XCTAssertEqual(text, "ok")
    }

    func testFailureOfASentAttemptIsReturnedInPlaceOfALaterRefusal() async throws {
        struct Closing: Gate {
            let arrived: Shared<Int>
            let signal: AsyncSignal

            func admit(_ request: RequestContext) async throws(SluiceError) -> Permit {
                let number = arrived.change { number in
                    number += 1
                    return number
                }
                if number == 1 { return Permit() }
                await signal.wait()
                throw SluiceError(.gateFailed, "The gate is closed.", step: .gate)
            }
        }
        let server = try LoopbackServer()
        let clock = TestClock()
        let (answer, refusal) = (LoopbackSignal(), AsyncSignal())
        let arrived = Shared(0)
        server.on("/", .after(answer, .drop))
        let observer = NotingObserver(.received)
        let client = client(server, clock) {
            $0.gates = [Closing(arrived: arrived, signal: refusal)]
            $0.observers = [observer]
        }
        let request = Task { await client.string.request("").sender().result }
        await server.waitForRequests(1)
        await clock.waitForSleepers(1)
        clock.advance(by: .seconds(2))
        try await waitUntil("the extra attempt waits at the gate") { arrived.read == 2 }
        answer.fire()
        try await waitUntil("the first attempt has failed") { observer.events == ["1 received connectionLost"] }
        refusal.open()
        let failure = await request.value.failure
        XCTAssertEqual(failure?.code, .connectionLost)
    }

    func testReplayOfAGateEndsOtherAttempts() async throws {
        struct Renewing: Gate {
            func admit(_ request: RequestContext) async throws(SluiceError) -> Permit {
                Permit { outcome in
                    guard case .success(let response) = outcome, response.head.status == .unauthorized else {
                        return .settled
                    }
                    // Only once for a request, as with OAuth 2.0.
                    let first = request.value(forKey: "first") { request.attempt }
                    return first == request.attempt ? .replay : .settled
                }
            }
        }
        for earlier in 0..<2 {
            let server = try LoopbackServer()
            let clock = TestClock()
            let signals = [LoopbackSignal(), LoopbackSignal()]
            server.on(
                "/",
                .after(signals[0], .status(.unauthorized)),
                .after(signals[1], .status(.unauthorized)),
                .text("ok")
            )
            let client = client(server, clock) { $0.gates = [Renewing()] }
            let request = Task { await client.string.request("").sender().result }
            await server.waitForRequests(1)
            await clock.waitForSleepers(1)
            clock.advance(by: .seconds(2))
            await server.waitForRequests(2)
            signals[earlier].fire()
            let text = try await request.value.get()
            XCTAssertEqual(text, "ok")
            XCTAssertEqual(server.requestCount, 3)
            for signal in signals { signal.fire() }
        }
    }

    func testDoesNotHedgeUnsafeRequest() async throws {
        let server = try LoopbackServer()
        let clock = TestClock()
        server.on("/", .text("ok"))
        _ = try await client(server, clock).string.request("").post().json(1).sender().value
        XCTAssertEqual(server.requests(to: "/").count, 1)
        XCTAssertEqual(clock.pendingSleeps, [])
    }

    func testDoesNotHedgeWithoutRetryBudget() async throws {
        let server = try LoopbackServer()
        let clock = TestClock()
        let answer = LoopbackSignal()
        server.on("/", .after(answer, .text("ok")))
        let observer = NotingObserver([.retrying, .finished])
        let client = client(server, clock) {
            $0.retryBudget = RetryBudget(ratio: 0, reserve: 0)
            $0.observers = [observer]
        }
        let request = Task { await client.string.request("").sender().result }
        await server.waitForRequests(1)
        await clock.waitForSleepers(1)
        clock.advance(by: .seconds(2))
        // A hedge would begin now.
        let isDone = await TaskRace.isDone(request)
        XCTAssertFalse(isDone)
        answer.fire()
        _ = try await request.value.get()
        await client.observersCaughtUp()
        XCTAssertEqual(observer.events, ["0 finished 200"])
        XCTAssertEqual(server.requests(to: "/").count, 1)
    }

    func testCancellationStopsAllAttempts() async throws {
        let server = try LoopbackServer()
        let clock = TestClock()
        server.on("/", .hang)
        let client = client(server, clock)
        let request = Task { await client.string.request("").sender().result.failure?.code }
        await server.waitForRequests(1)
        await clock.waitForSleepers(1)
        clock.advance(by: .seconds(2))
        await server.waitForRequests(2)
        request.cancel()
        let code = await request.value
        XCTAssertEqual(code, .cancelled)
        await server.waitForOpenConnections { $0 == 0 }
    }
}

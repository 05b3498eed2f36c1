import Sluice
import SluiceTesting
import XCTest

final class ConcurrencyLimitClientTests: XCTestCase {
    func testLimitsConcurrentRequestsAtServer() async throws {
        let server = try LoopbackServer()
        let signal = LoopbackSignal()
        server.on("/*", .after(signal, .text("ok")))
        let gate = ConcurrencyLimit(3)
        let client = APIClient(baseURL: server.url) { $0.gates = [gate] }
        let tasks = (0..<20).map { number in
            Task { try await client.string.request("\(number)").sender().value }
        }
        await server.waitForRequests(3)
        await eventually { gate.waiting == 17 }
        XCTAssertEqual(gate.running, 3)
        XCTAssertEqual(server.requestCount, 3)
        signal.fire()
        for task in tasks {
            let text = try await task.value
            XCTAssertEqual(text, "ok")
        }
        XCTAssertEqual(gate.running, 0)
        XCTAssertEqual(gate.waiting, 0)
    }

    func testRequestsOfInterceptorsUseTheSlotOfTheInterceptedRequest() async throws {
        struct Asking: RequestInterceptor, ResponseInterceptor {
            func intercept(_ request: HTTPRequest, context: RequestContext) async throws -> HTTPRequest {
                if context.tags.contains("inner") { return request }
                var request = request
                request.headers["X-Key"] = try await context.client.string.get("key").tags("inner").sender().value
                return request
            }

            func intercept(_ outcome: TransportOutcome, context: RequestContext) async -> TransportOutcome {
                if context.tags.contains("inner") { return outcome }
                _ = await context.client.string.get("audit").tags("inner").sender().result
                return outcome
            }
        }
        let server = try LoopbackServer()
        server.on("/*", .text("k"))
        let gate = ConcurrencyLimit(1)
        let client = APIClient(baseURL: server.url) {
            $0.gates = [gate]
            $0.requestInterceptors = [Asking()]
            $0.responseInterceptors = [Asking()]
        }
        let tasks = (0..<4).map { number in Task { try await client.string.get("\(number)").sender().value } }
        for task in tasks { _ = try await task.value }
        XCTAssertEqual(server.requestCount, 12)
        XCTAssertEqual(server.requests(to: "/2").map { $0.headers["X-Key"] }, ["k"])
        XCTAssertEqual([gate.running, gate.waiting], [0, 0])
    }

    func testRequestsOfAnInterceptorNeedSlotsIfTheInterceptedRequestHasNone() async throws {
        struct Paying: RequestInterceptor {
            let gate: ConcurrencyLimit
            let running: Shared<[Int]>

            func intercept(_ request: HTTPRequest, context: RequestContext) async throws -> HTTPRequest {
                if context.tags.contains("payment") {
                    running.change { $0.append(gate.running) }
                } else {
                    _ = try await context.client.string.get("pay").tags("payment").sender().value
                }
                return request
            }
        }
        let server = try LoopbackServer()
        server.on("/*", .text("k"))
        let gate = ConcurrencyLimit(each: 1, per: .key { $0.tags.contains("payment") ? "payment" : nil })
        let running = Shared<[Int]>([])
        let client = APIClient(baseURL: server.url) {
            $0.gates = [gate]
            $0.requestInterceptors = [Paying(gate: gate, running: running)]
        }
        _ = try await client.string.get("").sender().value
        XCTAssertEqual(running.read, [1])
    }

    func testTaskThatOutlivesItsInterceptorNeedsASlot() async throws {
        struct Auditing: ResponseInterceptor {
            let goesOn: AsyncSignal
            let audit: Shared<Task<String?, Never>?>

            func intercept(_ outcome: TransportOutcome, context: RequestContext) async -> TransportOutcome {
                if context.tags.contains("audit") { return outcome }
                let request = context.client.string.get("audit").tags("audit")
                let task = Task {
                    await goesOn.wait()
                    return try? await request.sender().value
                }
                audit.change { $0 = task }
                return outcome
            }
        }
        let server = try LoopbackServer()
        server.on("/*", .text("k"))
        let (goesOn, release) = (AsyncSignal(), LoopbackSignal())
        server.on("/held", .after(release, .text("held")))
        let gate = ConcurrencyLimit(1)
        let audit = Shared<Task<String?, Never>?>(nil)
        let client = APIClient(baseURL: server.url) {
            $0.gates = [gate]
            $0.responseInterceptors = [Auditing(goesOn: goesOn, audit: audit)]
        }
        _ = try await client.string.get("").sender().value
        let task = try XCTUnwrap(audit.read)
        let held = Task { try await client.string.get("held").tags("audit").sender().value }
        await server.waitForRequests(2)
        goesOn.open()
        await eventually { gate.waiting == 1 }
        XCTAssertEqual(server.requestCount, 2)
        release.fire()
        _ = try await held.value
        let text = await task.value
        XCTAssertEqual(text, "k")
    }

    // The request of the application waits for the slot, so the interceptor must not wait for its response.
    func testRequestOfAnInterceptorDoesNotJoinOneThatWaitsForItsSlot() async throws {
        struct Asking: RequestInterceptor {
            let isWaiting: @Sendable () async -> Void

            func intercept(_ request: HTTPRequest, context: RequestContext) async throws -> HTTPRequest {
                if request.path == "/key" { return request }
                await isWaiting()
                _ = try await context.client.string.get("key").sender().value
                return request
            }
        }
        let server = try LoopbackServer()
        server.on("/*", .text("k"))
        let gate = ConcurrencyLimit(1)
        let asked = AsyncSignal()
        let client = APIClient(baseURL: server.url) {
            $0.gates = [gate]
            $0.sharing = .safeMethods
            $0.requestInterceptors = [
                Asking {
                    asked.open()
                    await eventually { gate.waiting == 1 }
                }
            ]
        }
        let outer = Task { try await client.string.get("outer").sender().value }
        await asked.wait()
        let inner = Task { try await client.string.get("key").sender().value }
        let texts = try await [outer.value, inner.value]
        XCTAssertEqual(texts, ["k", "k"])
    }

    func testOverloadFailsExcessAtOnceAndRecovers() async throws {
        let server = try LoopbackServer()
        let signal = LoopbackSignal()
        server.on("/*", .after(signal, .text("ok")))
        let gate = ConcurrencyLimit(8, maximumWaiting: 20)
        let client = APIClient(baseURL: server.url) {
            $0.gates = [gate]
            // The standard policy does not retry after a full queue.
            $0.retry = .standard
        }
        let refused = Shared(0)
        let tasks = (0..<80).map { number in
            Task {
                let result = await client.string.request("\(number)").sender().result
                if result.failure?.code == .queueFull { refused.change { $0 += 1 } }
                return result
            }
        }
        await eventually { refused.read == 52 }
        await server.waitForRequests(8)
        XCTAssertEqual([gate.running, gate.waiting, server.requestCount], [8, 20, 8])
        signal.fire()
        var served = 0
        for task in tasks { if case .success("ok") = await task.value { served += 1 } }
        XCTAssertEqual([served, refused.read, server.requestCount], [28, 52, 28])
        XCTAssertEqual([gate.running, gate.waiting], [0, 0])
        let after = try await client.string.request("after").sender().value
        XCTAssertEqual(after, "ok")
    }

    func testCancelledRequestPassesSlotToNextWaiter() async throws {
        let server = try LoopbackServer()
        server.on("/hang", .hang)
        server.on("/", .text("ok"))
        let gate = ConcurrencyLimit(1)
        let client = APIClient(baseURL: server.url) { $0.gates = [gate] }
        let hanging = client.string.request("hang").sender()
        let task = Task { await hanging.result }
        await server.waitForRequests(1)
        async let value = client.string.request("").sender().value
        await eventually { gate.waiting == 1 }
        hanging.cancel()
        let text = try await value
        XCTAssertEqual(text, "ok")
        let code = await task.value.failure?.code
        XCTAssertEqual(code, .cancelled)
        await eventually { gate.running == 0 }
    }

    func testTotalTimeoutIncludesTimeInQueue() async throws {
        let server = try LoopbackServer()
        server.on("/hang", .hang)
        let clock = TestClock()
        let gate = ConcurrencyLimit(1)
        let client = APIClient(baseURL: server.url) {
            $0.gates = [gate]
            $0.clock = clock
        }
        let hanging = client.string.request("hang").sender()
        let task = Task { await hanging.result }
        await server.waitForRequests(1)
        async let result = client.string.request("").timeout(total: .seconds(5)).sender().result
        await clock.waitForSleepers(1)
        await eventually { gate.waiting == 1 }
        clock.advance(by: .seconds(5))
        let code = await result.failure?.code
        XCTAssertEqual(code, .timedOut)
        await eventually { gate.waiting == 0 }
        XCTAssertEqual(gate.running, 1)
        hanging.cancel()
        _ = await task.value
    }

    func testReleasesAllSlotsForEveryOutcome() async throws {
        let server = try LoopbackServer()
        server.on("/ok", .text("ok"))
        server.on("/bad", .status(.badRequest))
        server.on("/lost", .raw("HTTP/1.1 200 OK\r\nContent-Le", thenClose: true))
        server.on("/away", .redirect(to: "/ok"))
        let gate = ConcurrencyLimit(4)
        let client = APIClient(baseURL: server.url) { $0.gates = [gate] }
        await withTaskGroup { group in
            for number in 0..<400 {
                let path = ["ok", "bad", "lost", "away"][number % 4]
                let sender = client.string.request(path).sender()
                group.addTask { _ = await sender.result }
                if number % 5 == 0 { group.addTask { sender.cancel() } }
            }
        }
        await eventually { gate.running == 0 && gate.waiting == 0 }
    }
}

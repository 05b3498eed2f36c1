import Sluice
import SluiceTesting
import XCTest

/// A plugin that does nothing, as most do.
private struct Quiet: Plugin {}

/// Records the codes of the failures that it sees.
private struct Witness: Plugin, ResponseInterceptor, RequestObserver {
    let seen: Shared<[String]>

    private func note(_ name: String, _ outcome: TransportOutcome) {
        guard case .failure(let error) = outcome else { return }
        seen.change { $0.append("\(name) \(error.code)") }
    }

    func didReceive(_ outcome: TransportOutcome, context: RequestContext) { note("plugin", outcome) }

    func process(_ outcome: TransportOutcome, context: RequestContext) async -> TransportOutcome {
        note("process", outcome)
        return outcome
    }

    func intercept(_ outcome: TransportOutcome, context: RequestContext) async -> TransportOutcome {
        note("interceptor", outcome)
        return outcome
    }

    func observe(_ event: RequestEvent, of request: ObservedRequest) {
        switch event {
        case .received(let outcome): note("observer", outcome)
        case .finished(let outcome): note("observer", outcome)
        case .refused(_, let error): note("observer", .failure(error))
        default: break
        }
    }
}

/// Waits until its task is cancelled.
private func waitForCancellation() async {
    let (stream, continuation) = AsyncStream.makeStream(of: Void.self)
    for await _ in stream {}
    continuation.finish()
}

/// Answers no request.
private struct HangingTransport: Transport {
    let reached = Shared(false)

    func send(_ request: HTTPRequest, context: TransferContext) async throws(SluiceError) -> TransportResponse {
        reached.change { $0 = true }
        await waitForCancellation()
        throw SluiceError(.cancelled, "The request was cancelled.", request: request)
    }
}

/// Admits no request.
private struct ClosedGate: Gate {
    let reached = Shared(false)

    func admit(_ request: RequestContext) async throws(SluiceError) -> Permit {
        reached.change { $0 = true }
        await waitForCancellation()
        throw SluiceError(.cancelled, "The gate was cancelled.", step: .gate)
    }
}

final class CircuitBreakerTimeoutTests: XCTestCase {
    /// Sends sixty requests, one after the other, to a server that hangs. Returns the number that reached it.
    private func requestsOfAHungServer(
        _ configure: @escaping (inout APIClient.Configuration) -> Void,
        _ send: (APIClient) async -> SluiceError.Code?
    ) async throws -> Int {
        let server = try LoopbackServer()
        server.on("/", .hang)
        let breaker = CircuitBreaker(of: 3, openFor: .seconds(600))
        let client = APIClient(baseURL: server.url) {
            $0.gates = [breaker]
            configure(&$0)
        }
        var codes: Set<SluiceError.Code?> = []
        for _ in 0..<60 { codes.insert(await send(client)) }
        XCTAssertEqual(codes, [.timedOut, .circuitOpen])
        guard case .open = breaker.state(for: server.authority) else {
            XCTFail("The circuit is \(breaker.state(for: server.authority)).")
            return 60
        }
        return server.requests.count
    }

    private static let plugins: [[any Plugin]] = [[], [Quiet()]]

    func testOpensOnTotalTimeOutsWithAndWithoutPlugins() async throws {
        for plugins in Self.plugins {
            let count = try await requestsOfAHungServer {
                $0.plugins = plugins
                $0.timeouts.total = .milliseconds(50)
            } _: { client in
                await client.string.get("").sender().result.failure?.code
            }
            XCTAssertLessThan(count, 10)
        }
    }

    func testOpensOnDeadlinesWithAndWithoutPlugins() async throws {
        for plugins in Self.plugins {
            let count = try await requestsOfAHungServer {
                $0.plugins = plugins
            } _: { client in
                await Deadline.withDeadline(.milliseconds(50)) {
                    await client.string.get("").sender().result.failure?.code
                }
            }
            XCTAssertLessThan(count, 10)
        }
    }

    func testOpensOnTimeOutsOfUploadsThroughAnInterceptor() async throws {
        let count = try await requestsOfAHungServer {
            $0.responseInterceptors = [Witness(seen: Shared([]))]
            $0.timeouts.total = .milliseconds(50)
        } _: { client in
            await client.string.post("").data(Data(count: 100_000)).sender().result.failure?.code
        }
        XCTAssertLessThan(count, 10)
    }

    func testOpensOnTimeOutsOfAttemptsBehindACache() async throws {
        let count = try await requestsOfAHungServer {
            $0.cache = CacheStore(storage: nil)
            $0.retry = RetryPolicy(maximumAttempts: 1, attemptTimeout: .milliseconds(50))
        } _: { client in
            let failure = await client.string.get("").sender().result.failure
            if failure?.code == .timedOut { XCTAssertEqual(failure?.error.step, .transport) }
            return failure?.code
        }
        XCTAssertLessThan(count, 10)
    }

    func testOpensOnDeadlinesOfSharedTransfers() async throws {
        for plugins in Self.plugins {
            let count = try await requestsOfAHungServer {
                $0.plugins = plugins
                $0.sharing = .safeMethods
            } _: { client in
                await Deadline.withDeadline(.milliseconds(50)) {
                    await client.string.get("").sender().result.failure?.code
                }
            }
            XCTAssertLessThan(count, 10)
        }
    }

    func testPluginsInterceptorsAndObserversSeeTheTimeOut() async throws {
        let clock = TestClock()
        let transport = HangingTransport()
        let seen = Shared<[String]>([])
        let witness = Witness(seen: seen)
        let client = APIClient(baseURL: "http://shop.test") {
            $0.clock = clock
            $0.transport = transport
            $0.timeouts.total = .seconds(5)
            $0.plugins = [witness]
            $0.responseInterceptors = [witness]
            $0.observers = [witness]
        }
        async let result = client.string.get("x").sender().result
        await clock.waitForSleepers(1)
        await eventually { transport.reached.read }
        clock.advance(by: .seconds(5))
        let error = await result.failure
        XCTAssertEqual(error?.code, .timedOut)
        XCTAssertEqual(error?.error.step, .transport)
        await eventually { seen.read.contains { $0.hasPrefix("process") } }
        await client.observersCaughtUp()
        let notes = seen.read
        XCTAssertEqual(
            Set(notes),
            ["plugin timedOut", "interceptor timedOut", "process timedOut", "observer timedOut"]
        )
    }

    func testObserversSeeTheTimeOutOfAGate() async throws {
        let clock = TestClock()
        let seen = Shared<[String]>([])
        let witness = Witness(seen: seen)
        let gate = ClosedGate()
        let client = APIClient(baseURL: "http://shop.test") {
            $0.clock = clock
            $0.gates = [gate]
            $0.timeouts.total = .seconds(5)
            $0.responseInterceptors = [witness]
            $0.observers = [witness]
        }
        async let result = client.string.get("x").sender().result
        await clock.waitForSleepers(1)
        await eventually { gate.reached.read }
        clock.advance(by: .seconds(5))
        let error = await result.failure
        XCTAssertEqual(error?.error.step, .gate)
        await client.observersCaughtUp()
        XCTAssertEqual(Set(seen.read), ["observer timedOut"])
    }

    func testCancellationByTheCallerIsNoTimeOut() async throws {
        let clock = TestClock()
        let transport = HangingTransport()
        let seen = Shared<[String]>([])
        let client = APIClient(baseURL: "http://shop.test") {
            $0.clock = clock
            $0.transport = transport
            $0.timeouts.total = .seconds(5)
            $0.plugins = [Witness(seen: seen)]
        }
        let sender = client.string.get("x").sender()
        async let result = sender.result
        await clock.waitForSleepers(1)
        await eventually { transport.reached.read }
        sender.cancel()
        let code = await result.failure?.code
        XCTAssertEqual(code, .cancelled)
        await eventually { seen.read.count == 2 }
        XCTAssertEqual(seen.read, ["plugin cancelled", "process cancelled"])
    }

    func testFailuresBehindARedirectDoNotCountForTheHostThatRedirected() async throws {
        let other = try LoopbackServer()
        other.on("/broken", .status(.internalServerError))
        other.on("/hung", .hang)
        let server = try LoopbackServer()
        server.on("/broken", .redirect(to: "\(other.url)/broken"))
        server.on("/hung", .redirect(to: "\(other.url)/hung"))
        server.on("/own", .status(.internalServerError))
        for plugins in Self.plugins {
            let breaker = CircuitBreaker(of: 2, openFor: .seconds(600))
            let client = APIClient(baseURL: server.url) {
                $0.gates = [breaker]
                $0.plugins = plugins
            }
            for _ in 0..<4 {
                let error = await client.string.get("broken").sender().result.failure
                XCTAssertEqual(error?.status, .internalServerError)
            }
            for _ in 0..<2 {
                let error = await client.string.get("hung").timeout(total: .milliseconds(250)).sender().result.failure
                XCTAssertEqual(error?.code, .timedOut)
            }
            XCTAssertEqual(breaker.state(for: server.authority), .closed)
            // The redirects were successes, so more than half of the requests must fail.
            for _ in 0..<10 { _ = await client.string.get("own").sender().result }
            guard case .open = breaker.state(for: server.authority) else {
                return XCTFail("The circuit is \(breaker.state(for: server.authority)).")
            }
        }
    }

    func testTimeOutBehindARedirectNamesTheRequestThatHung() async throws {
        for plugins in Self.plugins {
            var hasFollowed = false
            for limit in risingLimits where !hasFollowed {
                let server = try LoopbackServer()
                server.on("/old", .redirect(to: "/new"))
                server.on("/new", .hang)
                let client = APIClient(baseURL: server.url) { $0.plugins = plugins }
                let error = await client.string.get("old").timeout(total: limit).sender().result.failure
                XCTAssertEqual(error?.code, .timedOut)
                // Otherwise the time was up before the redirect was followed.
                hasFollowed = !server.requests(to: "/new").isEmpty
                if hasFollowed { XCTAssertEqual(error?.error.request?.path, "/new") }
            }
            XCTAssertTrue(hasFollowed)
        }
    }
}

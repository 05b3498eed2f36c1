import Sluice
import SluiceTesting
import XCTest

final class StreamStoppingTests: XCTestCase {
    private let line = Data((String(repeating: "a", count: 1023) + "\n").utf8)

    private func endless() throws -> (LoopbackServer, APIClient) {
        let server = try LoopbackServer()
        server.on("/log", .endless(chunk: Data(repeatElement(line, count: 64).joined())))
        return (server, APIClient(baseURL: server.url))
    }

    func testLineOverTheLimitEndsTheBodyForOtherLoopsToo() async throws {
        let server = try LoopbackServer()
        let signal = LoopbackSignal()
        let (start, rest) = (String(repeating: "x", count: 64), String(repeating: "y", count: 64))
        server.on(
            "/",
            .script(
                .write("HTTP/1.1 200 OK\r\nContent-Length: 140\r\n\r\nshort\n\(start)"),
                .wait(for: signal),
                .write("\(rest)\nlast\n")
            )
        )
        let response = try await APIClient(baseURL: server.url).stream("").response()
        var codes: [SluiceError.Code?] = []
        do {
            for try await line in response.lines(limit: 100) where line == "short" { signal.fire() }
            codes.append(nil)
        } catch {
            codes.append(error.code)
        }
        do {
            for try await line in response.lines(limit: 1000) { XCTFail("read \(line)") }
            codes.append(nil)
        } catch {
            codes.append(error.code)
        }
        XCTAssertEqual(codes, [.elementTooLarge, .elementTooLarge])
    }

    func testLeavingLoopStopsTransfer() async throws {
        let (server, client) = try endless()
        var count = 0
        for try await _ in client.stream("log").lines {
            count += 1
            if count == 100 { break }
        }
        await server.waitForOpenConnections { $0 == 0 }
        XCTAssertEqual(server.openConnections, 0)
    }

    /// A gate that admits its first request only when it is told to.
    private struct StubbornGate: Gate {
        let hasBegun = AsyncSignal()
        let mayEnd = AsyncSignal()

        func admit(_ request: RequestContext) async throws(SluiceError) -> Permit {
            hasBegun.open()
            await mayEnd.wait()
            return Permit()
        }
    }

    func testCancellationDoesNotWaitForAGateThatIgnoresIt() async throws {
        let server = try LoopbackServer()
        server.on("/", .text("data: a\n\n", contentType: "text/event-stream"))
        let gate = StubbornGate()
        let client = APIClient(baseURL: server.url) { $0.gates = [gate] }
        let lines = failure(of: client.stream("/"))
        let events = Task { () -> APIError? in
            do throws(APIError) {
                for try await _ in client.stream("/").serverSentEvents() {}
                return nil
            } catch {
                return error
            }
        }
        await gate.hasBegun.wait()
        lines.cancel()
        events.cancel()
        let linesEnd = await lines.value
        let eventsEnd = await events.value
        XCTAssertEqual([linesEnd?.code, eventsEnd?.code], [.cancelled, .cancelled])
        XCTAssertEqual(server.requestCount, 0)
        gate.mayEnd.open()
    }

    /// A step that ends with the response only when it is told to.
    private struct StubbornInterceptor: ResponseInterceptor {
        let hasBegun = AsyncSignal()
        let mayEnd = AsyncSignal()

        func intercept(_ outcome: TransportOutcome, context: RequestContext) async -> TransportOutcome {
            hasBegun.open()
            await mayEnd.wait()
            return outcome
        }
    }

    func testResponseThatComesAfterTheCancellationIsDropped() async throws {
        let server = try LoopbackServer()
        server.on("/log", .endless(chunk: Data(repeatElement(line, count: 64).joined())))
        let interceptor = StubbornInterceptor()
        let client = APIClient(baseURL: server.url) { $0.responseInterceptors = [interceptor] }
        let lines = failure(of: client.stream("log"))
        await interceptor.hasBegun.wait()
        lines.cancel()
        let end = await lines.value
        XCTAssertEqual(end?.code, .cancelled)
        interceptor.mayEnd.open()
        await server.waitForOpenConnections { $0 == 0 }
        let isEmpty = await client.drain(within: .seconds(30))
        XCTAssertTrue(isEmpty)
    }

    /// Reads the lines of a stream in a task. Returns the error that ends them.
    private func failure<Failure>(of request: StreamRequest<Failure>) -> Task<Failure?, Never> {
        Task {
            do throws(Failure) {
                for try await _ in request.lines {}
                return nil
            } catch {
                return error
            }
        }
    }

    func testCancellationStopsTransferInAnyPhase() async throws {
        let (server, client) = try endless()
        server.on("/head", .hang)
        server.on("/body", .headersThenHang())
        for path in ["log", "head", "body"] {
            let request: StreamRequest<ShopError> = client.stream(path)
            let task = failure(of: request)
            await server.waitForOpenConnections { $0 == 1 }
            task.cancel()
            let error = await task.value
            XCTAssertEqual(error?.isCancellation, true, path)
            await server.waitForOpenConnections { $0 == 0 }
        }
    }

    /// The gate reports a failure of its own when it is cancelled.
    private struct WaitingGate: Gate {
        let begun: AsyncSignal

        func admit(_ request: RequestContext) async throws(SluiceError) -> Permit {
            begun.open()
            do { try await Task.sleep(for: .seconds(60)) } catch {
                throw SluiceError(.gateFailed, "The wait was ended.")
            }
            return Permit()
        }
    }

    func testCancellationDuringAGateOrAnInterceptorIsReportedAsOne() async throws {
        let (server, _) = try endless()
        for isGate in [false, true] {
            let begun = AsyncSignal()
            let token = SuppliedToken { _ in
                begun.open()
                try await Task.sleep(for: .seconds(60))
                return "t"
            }
            let client = APIClient(baseURL: server.url) {
                if isGate { $0.gates = [WaitingGate(begun: begun)] } else { $0.requestInterceptors = [token] }
            }
            let request: StreamRequest<ShopError> = client.stream("log")
            let task = failure(of: request)
            await begun.wait()
            task.cancel()
            let error = await task.value
            XCTAssertEqual(error?.isCancellation, true, "\(error as Any)")
        }
        XCTAssertEqual(server.requestCount, 0)
    }

    func testReleasingIteratorOrResponseStopsTransfer() async throws {
        let (server, client) = try endless()
        do {
            var lines = client.stream("log").lines.makeAsyncIterator()
            _ = try await lines.next()
        }
        await server.waitForOpenConnections { $0 == 0 }
        do { _ = try await client.stream("log").response() }
        await server.waitForOpenConnections { $0 == 0 }
        XCTAssertEqual(server.requests.count, 2)
    }

    func testLineOverLimitStopsTransfer() async throws {
        let (server, client) = try endless()
        let request: StreamRequest<APIError> = client.stream("log")
        var lines = request.lines(limit: 100).makeAsyncIterator()
        do {
            _ = try await lines.next(isolation: nil)
            XCTFail("The line was returned.")
        } catch {
            XCTAssertEqual(error.code, .elementTooLarge)
            XCTAssertEqual(error.status, .ok)
        }
        await server.waitForOpenConnections { $0 == 0 }
        let next = try await lines.next()
        XCTAssertNil(next)
    }

    func testSlowReaderCausesBackPressure() async throws {
        let (server, client) = try endless()
        var lines = client.stream("log").lines.makeAsyncIterator()
        for _ in 0..<3 { _ = try await lines.next() }
        await server.waitForStalledConnections { $0 == 1 }
        let sent = server.bytesSent
        XCTAssertLessThan(sent, 64 << 20)
        // The server continues when the reader does.
        for _ in 0..<(sent / 1024 + 1000) { _ = try await lines.next() }
        XCTAssertGreaterThan(server.bytesSent, sent)
    }

    func testRefusedResponseDoesNotWaitForTheEndOfItsBody() async throws {
        let (server, client) = try endless()
        server.on("/silent", .headersThenHang(headers: ["Content-Type": "text/html"]))
        for path in ["silent", "log"] {
            let request: StreamRequest<APIError> = client.stream(path)
            do {
                for try await event in request.serverSentEvents() { XCTFail(event.data) }
                XCTFail("The response was accepted.")
            } catch {
                XCTAssertEqual(error.code, .unacceptableContentType, path)
                XCTAssertEqual(error.status, .ok)
                XCTAssertEqual(error.body, Data())
            }
            await server.waitForOpenConnections { $0 == 0 }
        }
    }

    func testTotalTimeoutOfTheClientLimitsTheBodyOfAnErrorStatus() async throws {
        let server = try LoopbackServer()
        server.on("/log", .headersThenHang(status: .serviceUnavailable))
        let clock = TestClock()
        let client = APIClient(baseURL: server.url) {
            $0.clock = clock
            $0.timeouts.total = .seconds(5)
        }
        let request: StreamRequest<APIError> = client.stream("log")
        let task = failure(of: request)
        await clock.waitForSleepers(1)
        clock.advance(by: .seconds(5))
        let error = await task.value
        XCTAssertEqual(error?.code, .unacceptableStatus)
        XCTAssertEqual(error?.status, .serviceUnavailable)
        await server.waitForOpenConnections { $0 == 0 }
    }

    func testReleasesPermitsAfterHead() async throws {
        let server = try LoopbackServer()
        server.on("/log", .headersThenHang())
        server.on("/motto", .text("on"))
        let client = APIClient(baseURL: server.url) { $0.gates = [ConcurrencyLimit(1)] }
        let response = try await client.stream("log").response()
        let motto = try await client.string.get("motto").sender().value
        XCTAssertEqual(motto, "on")
        XCTAssertEqual(response.status, .ok)
    }

    func testLoopThatIsCancelledEndsAsACancellation() async throws {
        let (server, _) = try endless()
        let observer = NotingObserver([.finished])
        let observed = APIClient(baseURL: server.url) { $0.observers = [observer] }
        let read = AsyncSignal()
        let task = Task {
            for try await _ in observed.stream("log").lines { read.open() }
        }
        await read.wait()
        task.cancel()
        _ = await task.result
        await observed.observersCaughtUp()
        XCTAssertEqual(observer.events, ["0 finished cancelled"])
    }

    func testObserversSeeOneEnd() async throws {
        let server = try LoopbackServer()
        server.on("/whole", .chunked([Data("one\n".utf8), Data("two\n".utf8)]))
        server.on("/lost", .truncated(Data("one\n".utf8), announced: 100))
        server.on("/missing", .status(.notFound))
        server.on("/endless", .endless(chunk: line))
        server.on("/empty", .text(""))
        server.on("/long", .text(String(repeating: "a", count: 2000)))
        let ends = [
            ("whole", "200"), ("empty", "200"), ("lost", "truncatedBody"), ("missing", "unacceptableStatus"),
            ("endless", "200"), ("long", "elementTooLarge"),
        ]
        for (path, end) in ends {
            let observer = NotingObserver([.began, .finished])
            let client = APIClient(baseURL: server.url) { $0.observers = [observer] }
            do {
                for try await _ in client.stream(path).lines(limit: 1999) where path == "endless" { break }
            } catch {}
            await eventually {
                await client.observersCaughtUp()
                return observer.events.count == 2
            }
            XCTAssertEqual(observer.events.first, "0 began /\(path)")
            XCTAssertEqual(observer.events.last, "0 finished \(end)", path)
        }
    }
}

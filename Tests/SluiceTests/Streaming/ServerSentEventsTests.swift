import Sluice
import SluiceTesting
import XCTest

final class ServerSentEventsTests: XCTestCase {
    private let clock = TestClock()

    private func events(_ text: String, status: HTTPStatus = .ok) -> LoopbackResponse {
        .data(Data(text.utf8), contentType: "text/event-stream; charset=utf-8", status: status)
    }

    private func client(_ server: LoopbackServer) -> APIClient {
        APIClient(baseURL: server.url) {
            $0.headers["Accept"] = "application/json"
            $0.clock = clock
            $0.randomness = { 1 << 63 }
        }
    }

    /// Reads all events in a task. Returns their data, followed by the code of the failure.
    private func read(_ events: ServerSentEvents<APIError>) -> Task<[String], Never> {
        Task {
            var read: [String] = []
            do throws(APIError) {
                for try await event in events { read.append("\(event.lastEventID):\(event.data)") }
                read.append("end")
            } catch {
                read.append("\(error.code)")
            }
            return read
        }
    }

    func testEventsAreDecodedByTheClientsDecoder() async throws {
        struct Price: Decodable, Equatable {
            let unitPrice: Double
        }
        let server = try LoopbackServer()
        server.on("/events", events("data: {\"unit_price\":1.5}\n\n"))
        let client = APIClient(baseURL: server.url) {
            let decoder = JSONDecoder()
            decoder.keyDecodingStrategy = .convertFromSnakeCase
            $0.modelDecoder = decoder
        }
        var received: [ServerSentEvent] = []
        for try await event in client.stream("events").serverSentEvents(reconnection: .none) { received.append(event) }
        let event = try XCTUnwrap(received.first)
        XCTAssertEqual(try event.decoded(), Price(unitPrice: 1.5))
        XCTAssertThrowsError(try event.decoded(as: Price.self, by: JSONDecoder()))
        let streamed = try await client.stream("events").response()
        for try await event in streamed.serverSentEvents() {
            XCTAssertEqual(try event.decoded(), Price(unitPrice: 1.5))
        }
        // The decoder is no part of the event's value.
        XCTAssertEqual(event, ServerSentEvent(data: event.data))
        XCTAssertFalse("\(event)".contains("ecoder"))
    }

    private func advanceClock(by duration: Duration) async {
        await clock.waitForSleepers(1)
        XCTAssertEqual(clock.pendingSleeps, [duration])
        clock.advance(by: duration)
    }

    /// The values of a loop over decoded events, and the code of its error.
    private func decoded(_ events: ServerSentEvents<APIError>, until end: String?) async -> ([Int], SluiceError.Code?) {
        var values: [Int] = []
        do throws(APIError) {
            for try await value in events.decoded(as: Int.self, until: end) { values.append(value) }
        } catch {
            return (values, error.code)
        }
        return (values, nil)
    }

    func testDecodedEventsEndWithTheGivenData() async throws {
        let server = try LoopbackServer()
        let first = "data: 1\n\n: x\n\ndata: 2\n\ndata: [DONE]\n\ndata: 3\n\n"
        let all = events(first + "data: 4\n\n")
        server.on("/events", all.paused(after: first.utf8.count, until: LoopbackSignal()))
        let events = client(server).stream("events").serverSentEvents()
        let (values, code) = await decoded(events, until: "[DONE]")
        XCTAssertEqual(values, [1, 2])
        XCTAssertNil(code)
        // The connection closes, although the response has not ended.
        await server.waitForOpenConnections { $0 == 0 }
        XCTAssertEqual(server.requestCount, 1)
    }

    func testConnectionIsUsedAgainAfterTheEndOfDecodedEvents() async throws {
        let server = try LoopbackServer()
        let signals = [LoopbackSignal(), LoopbackSignal()]
        let head = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"
        let messages = "data: 1\n\ndata: [DONE]\n\n"
        let chunk = String(messages.utf8.count, radix: 16) + "\r\n\(messages)\r\n"
        let responses = signals.map { signal -> LoopbackResponse in
            .script(.write(head + chunk), .wait(for: signal), .write("0\r\n\r\n"))
        }
        server.on("/events", responses[0], responses[1])
        let observer = NotingObserver([.finished])
        let client = APIClient(baseURL: server.url) { $0.observers = [observer] }
        for signal in signals {
            let (values, code) = await decoded(client.stream("events").serverSentEvents(), until: "[DONE]")
            XCTAssertEqual(values, [1])
            XCTAssertNil(code)
            // The last chunk arrives after the end of the loop.
            signal.fire()
            await eventually { client.connections.origins.flatMap(\.connections).allSatisfy { $0.requests == 0 } }
        }
        XCTAssertEqual(server.connections, 1)
        // A request is complete a moment after its connection.
        await eventually { observer.events == ["0 finished 200", "0 finished 200"] }
    }

    func testEventThatCannotBeDecodedEndsTheLoop() async throws {
        let server = try LoopbackServer()
        server.on("/events", events("data: 1\n\ndata: one\n\ndata: 2\n\n"))
        let (values, code) = await decoded(client(server).stream("events").serverSentEvents(), until: nil)
        XCTAssertEqual(values, [1])
        XCTAssertEqual(code, .decodingFailed)
    }

    func testObserversSeeAnEventThatCannotBeDecoded() async throws {
        let server = try LoopbackServer()
        server.on("/events", events("data: 1\n\ndata: x\n\ndata: 2\n\n"))
        let observer = NotingObserver([.finished])
        let client = APIClient(baseURL: server.url) { $0.observers = [observer] }
        do {
            for try await _ in client.stream("events").serverSentEvents().decoded(as: Int.self) {}
            XCTFail("no error")
        } catch {
            XCTAssertEqual(error.code, .decodingFailed)
        }
        await client.observersCaughtUp()
        XCTAssertEqual(observer.events, ["0 finished decodingFailed"])
    }

    func testCancelAllEndsEventsThatWaitForTheNextConnection() async throws {
        let server = try LoopbackServer()
        server.on("/events", events("id: 1\ndata: a\n\n"))
        let client = client(server)
        let task = read(client.stream("events").serverSentEvents())
        await clock.waitForSleepers(1)
        client.cancelAll()
        clock.advance(by: .seconds(600))
        let read = await task.value
        XCTAssertEqual(read, ["1:a", "cancelled"])
        XCTAssertEqual(server.requestCount, 1)
    }

    func testReconnectsFromLastEventID() async throws {
        let server = try LoopbackServer()
        server.on(
            .get,
            "/events",
            events("id: 1\ndata: a\n\n: hello\nid: 2\n\ndata: lost"),
            .raw(
                "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nContent-Length: 99\r\n\r\nretry: 50\ndata: b\n\n",
                thenClose: true
            ),
            .drop,
            events("id\ndata: c\n\n"),
            .status(.noContent)
        )
        let all = read(client(server).stream("events").serverSentEvents())
        await advanceClock(by: .seconds(3))
        // The server's 50 ms are below the floor. A lost connection adds half of the maximum back-off.
        await advanceClock(by: .milliseconds(1000))
        await advanceClock(by: .milliseconds(1500))
        await advanceClock(by: .milliseconds(500))
        let read = await all.value
        XCTAssertEqual(read, ["1:a", "2:b", ":c", "end"])
        let ids = server.requests.map { $0.headers["Last-Event-ID"] }
        XCTAssertEqual(ids, [nil, "2", "2", "2", nil])
        for request in server.requests {
            XCTAssertEqual(request.headers["Accept"], "text/event-stream")
            XCTAssertEqual(request.headers["Cache-Control"], "no-cache")
        }
    }

    func testIDsThatCannotBeSentAreIgnored() async throws {
        let server = try LoopbackServer()
        let long = String(repeating: "9", count: 5000)
        server.on(
            .get,
            "/events",
            events("id: 1\ndata: a\n\n"),
            events("id: 2\u{1}\ndata: b\n\n"),
            events("id: \(long)\ndata: c\n\n"),
            .status(.noContent)
        )
        let all = read(client(server).stream("events").serverSentEvents())
        for _ in 0..<3 { await advanceClock(by: .seconds(3)) }
        let read = await all.value
        XCTAssertEqual(read, ["1:a", "1:b", "1:c", "end"])
        XCTAssertEqual(server.requests.map { $0.headers["Last-Event-ID"] }, [nil, "1", "1", "1"])
    }

    func testLargestDelayOfServerIsFiveMinutes() async throws {
        let server = try LoopbackServer()
        server.on("/events", events("retry: 99999999999999999999\ndata: a\n\n"), .status(.noContent))
        let all = read(client(server).stream("events").serverSentEvents())
        await advanceClock(by: .seconds(300))
        let read = await all.value
        XCTAssertEqual(read, [":a", "end"])
    }

    func testReconnectionRequestsTheFirstURLAgain() async throws {
        // Redirects apply to one connection, as the processing model of WHATWG HTML §9.2.3 requires.
        let server = try LoopbackServer()
        server.on("/events", .redirect(to: "/node"), .redirect(to: "/other"), .status(.noContent))
        server.on("/node", events("id: 1\ndata: a\n\n"))
        server.on("/other", events("data: b\n\n"))
        let all = read(client(server).stream("events").serverSentEvents())
        for _ in 0..<2 { await advanceClock(by: .seconds(3)) }
        let read = await all.value
        XCTAssertEqual(read, ["1:a", "1:b", "end"])
        XCTAssertEqual(server.requests.map(\.path), ["/events", "/node", "/events", "/other", "/events"])
        XCTAssertEqual(server.requests.map { $0.headers["Last-Event-ID"] }, [nil, nil, "1", "1", "1"])
    }

    func testKeepsHeadersOfRequest() async throws {
        let server = try LoopbackServer()
        server.on("/events", events("data: a\n\n"), .status(.noContent))
        let request = client(server).stream("events").header("Last-Event-ID", "7").accept("text/event-stream, */*")
        let all = read(request.serverSentEvents(reconnection: Reconnection(delay: .seconds(1))))
        await advanceClock(by: .seconds(1))
        let read = await all.value
        XCTAssertEqual(read, ["7:a", "end"])
        XCTAssertEqual(server.requests.map { $0.headers["Last-Event-ID"] }, ["7", "7"])
        XCTAssertEqual(server.requests.first?.headers["Accept"], "text/event-stream, */*")
    }

    func testOtherStatusesAndTypesFailWithBody() async throws {
        let server = try LoopbackServer()
        server.on("/json", .json(#"{"message":"Sign in"}"#))
        server.on("/created", events("data: a\n\n", status: .created))
        server.on("/down", .json(#"{"message":"Down"}"#, status: .serviceUnavailable))
        let ends = [
            ("json", "Sign in", 200), ("down", "Down", 503),
            (
                "created",
                "GET \(server.url)/created: The server responded with status 201, but an event stream requires status 200.",
                201
            ),
        ]
        for (path, message, status) in ends {
            let request: StreamRequest<ShopError> = client(server).stream(path)
            do {
                for try await event in request.serverSentEvents() { XCTFail(event.data) }
                XCTFail("The stream did not fail.")
            } catch {
                XCTAssertEqual(error.message, message)
                XCTAssertEqual(error.status, status)
            }
        }
        XCTAssertEqual(server.requests.count, 3)
    }

    func testFailsAfterMaximumAttemptsThatFail() async throws {
        let server = try LoopbackServer()
        server.on("/events", .drop)
        let policy = Reconnection(delay: .seconds(1), backoff: .constant(.seconds(1)), maximumAttempts: 2)
        let all = read(client(server).stream("events").serverSentEvents(reconnection: policy))
        await advanceClock(by: .seconds(2))
        await advanceClock(by: .seconds(2))
        let read = await all.value
        XCTAssertEqual(read, ["connectionLost"])
        XCTAssertEqual(server.requests.count, 3)
    }

    func testReconnectsWithoutEndToAQuietServer() async throws {
        let server = try LoopbackServer()
        server.on("/events", events("retry: 0\n\n"))
        let policy = Reconnection(delay: .seconds(1), backoff: .constant(.seconds(1)), maximumAttempts: 2)
        let all = read(client(server).stream("events").serverSentEvents(reconnection: policy))
        for _ in 0..<20 { await advanceClock(by: .milliseconds(500)) }
        await clock.waitForSleepers(1)
        all.cancel()
        let read = await all.value
        XCTAssertEqual(read, ["cancelled"])
        XCTAssertEqual(server.requests.count, 21)
    }

    func testTotalTimeoutOfTheRequestEndsTheEvents() async throws {
        let server = try LoopbackServer()
        server.on("/events", events("data: 1\n\ndata: 2\n\n").paused(after: 9, until: LoopbackSignal()))
        let client = APIClient(baseURL: server.url)
        let ended = await read(client.stream("events").timeout(total: .milliseconds(300)).serverSentEvents()).value
        XCTAssertEqual(ended, [":1", "timedOut"])
        XCTAssertEqual(server.requestCount, 1)
        let mapping = APIClient(baseURL: server.url) {
            $0.requestMapping = { request in
                var request = request
                request.setTimeouts(total: .milliseconds(300))
                return request
            }
        }
        let mapped = await read(mapping.stream("events").serverSentEvents()).value
        XCTAssertEqual(mapped, [":1", "timedOut"])
        XCTAssertEqual(server.requestCount, 2)
    }

    func testTimeLimitOfAGateDoesNotEndEventsWithATotalTimeout() async throws {
        struct SlowOnce: Gate {
            let name = "slow"
            let requests = Shared(0)

            func admit(_ request: RequestContext) async throws(SluiceError) -> Permit {
                let number = requests.change { count in
                    count += 1
                    return count
                }
                if number == 2 { throw SluiceError(.timedOut, "The gate took too long.") }
                return Permit()
            }
        }
        let server = try LoopbackServer()
        server.on("/events", events("data: 1\n\n"), events("data: 2\n\n"), .status(.noContent))
        let client = APIClient(baseURL: server.url) {
            $0.clock = clock
            $0.gates = [SlowOnce()]
            $0.randomness = { 1 << 63 }
        }
        let all = read(client.stream("events").timeout(total: .seconds(3600)).serverSentEvents())
        for _ in 0..<3 {
            await eventually { [clock] in clock.pendingSleeps.contains { $0 < .seconds(60) } }
            clock.advance(by: .seconds(60))
        }
        let read = await all.value
        XCTAssertEqual(read, [":1", ":2", "end"])
        XCTAssertEqual(server.requestCount, 3)
    }

    func testSignalsReportCommentsAndConnections() async throws {
        let server = try LoopbackServer()
        server.on(
            .get,
            "/events",
            .drop,
            events(": welcome\n\ndata: a\n\n:\n:two words\n"),
            events("data: b\n\n"),
            .status(.forbidden)
        )
        let signals = client(server).stream("events").serverSentEvents().signals
        let all = Task { [signals] () -> [String] in
            var read: [String] = []
            do throws(APIError) {
                for try await signal in signals {
                    switch signal {
                    case .connected(let head): read.append("\(head.status)")
                    case .event(let event): read.append(event.data)
                    case .comment(let comment): read.append("“\(comment)”")
                    case .disconnected(let error, let delay):
                        read.append("\(error?.code.description ?? "end"), \(delay)")
                    }
                }
            } catch {
                read.append("\(error.code)")
            }
            return read
        }
        // On a new connection, so that the transport does not send the request again itself.
        await advanceClock(by: .milliseconds(3500))
        await advanceClock(by: .seconds(3))
        await advanceClock(by: .seconds(3))
        let read = await all.value
        XCTAssertEqual(
            read,
            [
                "connectionLost, 3.5 seconds", "200", "“welcome”", "a", "“”", "“two words”", "end, 3.0 seconds", "200",
                "b", "end, 3.0 seconds", "unacceptableStatus",
            ]
        )
    }

    func testRestartConnectsAgainFromLastEventID() async throws {
        let server = try LoopbackServer()
        let head = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n"
        server.on(
            .get,
            "/events",
            .script(.write(head + "id: 1\ndata: a\n\nid: 9\ndata: half"), .hang),
            events("id: 2\ndata: b\n\n"),
            .hang,
            .script(.write(head + "data: c\n\n"), .hang),
            .status(.noContent)
        )
        let prices = client(server).stream("events").serverSentEvents()
        // No effect before the loop.
        prices.restart()
        let read = Shared<[String]>([])
        let loop = Task { for try await event in prices { read.change { $0.append(event.data) } } }
        await eventually { read.read == ["a"] }
        // While the loop reads, waits before it reconnects, and connects.
        prices.restart()
        await clock.waitForSleepers(1)
        prices.restart()
        await eventually { server.requests.count == 3 }
        prices.restart()
        await eventually { read.read == ["a", "b", "c"] }
        prices.restart()
        try await loop.value
        XCTAssertEqual(server.requests.map { $0.headers["Last-Event-ID"] }, [nil, "1", "2", "2", "2"])
        XCTAssertEqual(clock.pendingSleeps, [])
        prices.restart()
        XCTAssertEqual(server.requests.count, 5)
    }

    func testRestartDoesNotRepeatARequestThatCannotBe() async throws {
        let server = try LoopbackServer()
        let signal = LoopbackSignal()
        server.on("/chat", events("data: a\n\ndata: b\n\n").paused(after: 9, until: signal))
        let answer = client(server).stream("chat").post(.json(["q": "why"])).serverSentEvents()
        var read: [String] = []
        for try await event in answer {
            read.append(event.data)
            answer.restart()
            signal.fire()
        }
        XCTAssertEqual(read, ["a", "b"])
        XCTAssertEqual(server.requests.count, 1)
    }

    func testEventsAreNotStored() async throws {
        let server = try LoopbackServer()
        server.on(
            "/events",
            .text("data: a\n\n", headers: ["Content-Type": "text/event-stream", "Cache-Control": "max-age=600"])
        )
        let store = CacheStore(storage: nil)
        let client = APIClient(baseURL: server.url) { $0.cache = store }
        var read: [String] = []
        for _ in 0..<2 {
            for try await event in client.stream("events").serverSentEvents(reconnection: .none) {
                read.append(event.data)
            }
        }
        XCTAssertEqual(read, ["a", "a"])
        let size = try await store.size
        XCTAssertEqual(size.memory.count, 0)
        XCTAssertEqual(server.requests.count, 2)
    }

    func testDoesNotReconnectNonRepeatableRequest() async throws {
        let server = try LoopbackServer()
        server.on("/chat", events("data: a\n\ndata: b\n\n"))
        let chat = client(server).stream("chat")
        let requests = [
            (chat.serverSentEvents(reconnection: .none), "GET"),
            (chat.post(.json(["q": "why"])).serverSentEvents(), "POST"),
            (chat.method(.put, .stream(AsyncStream<Data> { $0.finish() })).serverSentEvents(), "PUT"),
        ]
        for (events, method) in requests {
            let read = await read(events).value
            XCTAssertEqual(read, [":a", ":b", "end"], method)
        }
        XCTAssertEqual(server.requests.map(\.method.rawValue), requests.map(\.1))
        let again = read(chat.post(.json(["q": "why"])).idempotent().serverSentEvents())
        await clock.waitForSleepers(1)
        again.cancel()
        let cancelled = await again.value
        XCTAssertEqual(cancelled, [":a", ":b", "cancelled"])
    }

    func testEventOverLimitFailsWithoutReconnecting() async throws {
        let server = try LoopbackServer()
        server.on("/events", events("data: a\n\ndata: 1234567890\n\n"))
        let request: StreamRequest<APIError> = client(server).stream("events")
        do {
            for try await event in request.serverSentEvents(limit: 10) { XCTAssertEqual(event.data, "a") }
            XCTFail("The stream did not fail.")
        } catch {
            XCTAssertEqual(error.code, .elementTooLarge)
            XCTAssertEqual(error.request?.path, "/events")
        }
        XCTAssertEqual(server.requestCount, 1)
    }

    func testLeavingLoopStopsTransfer() async throws {
        let server = try LoopbackServer()
        let head = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n"
        server.on("/events", .script(.write(head + "data: a\n\n"), .hang))
        for try await event in client(server).stream("events").serverSentEvents() {
            XCTAssertEqual(event.data, "a")
            break
        }
        await server.waitForOpenConnections { $0 == 0 }
        XCTAssertEqual(server.requests.count, 1)
    }

    func testReadsEventsOfResponse() async throws {
        let server = try LoopbackServer()
        server.on("/events", events("event: x\ndata: a\n\ndata: b\n\n"))
        let response = try await client(server).stream("events").response()
        var types: [String] = []
        for try await event in response.serverSentEvents() { types.append(event.type) }
        XCTAssertEqual(types, ["x", "message"])
    }
}

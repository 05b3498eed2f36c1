import Sluice
import SluiceTesting
import XCTest

final class StreamedResponseTests: XCTestCase {
    private func server(_ response: LoopbackResponse) throws -> (LoopbackServer, APIClient) {
        let server = try LoopbackServer()
        server.on("/log", response)
        addTeardownBlock { server.stop() }
        return (server, APIClient(baseURL: server.url))
    }

    func testReturnsLinesAsTheyArrive() async throws {
        let signal = LoopbackSignal()
        let (_, client) = try server(
            .script(
                .write("HTTP/1.1 200 OK\r\nContent-Length: 11\r\n\r\none\ntw"),
                .wait(for: signal),
                .write("o\nend")
            )
        )
        var lines = client.stream("log").lines.makeAsyncIterator()
        let first = try await lines.next()
        XCTAssertEqual(first, "one")
        signal.fire()
        let rest = try await [lines.next(), lines.next(), lines.next(), lines.next()]
        XCTAssertEqual(rest, ["two", "end", nil, nil])
    }

    func testSecondLoopOverEventsRemovesNoByteOrderMark() async throws {
        let events = "data: a\n\n\u{FEFF}data: b\n\ndata: c\n\n"
        let (_, client) = try server(.text(events, headers: ["Content-Type": "text/event-stream"]))
        let response = try await client.stream("log").response()
        var data: [String] = []
        for try await event in response.serverSentEvents() {
            data.append(event.data)
            break
        }
        for try await event in response.serverSentEvents() { data.append(event.data) }
        // With the mark, the name of the field is another one.
        XCTAssertEqual(data, ["a", "c"])
    }

    func testResponseOfAnInterceptorHasItsBody() async throws {
        let server = try LoopbackServer()
        server.on("/log", .text("server"))
        for (body, expected) in [("interceptor", ["interceptor"]), ("", ["server"])] {
            let replacing = Replacing { outcome in
                guard case .success(var response) = outcome else { return outcome }
                response.body = Data(body.utf8)
                return .success(response)
            }
            let client = APIClient(baseURL: server.url) { $0.responseInterceptors = [replacing] }
            var lines: [String] = []
            for try await line in client.stream("log").lines { lines.append(line) }
            XCTAssertEqual(lines, expected)
        }
    }

    #if os(Linux)
    /// The gate of the second attempt needs the only connection, which the unread body of the first one holds.
    func testRepeatedStreamGivesUpTheConnectionOfItsFirstAttempt() async throws {
        struct Renewing: Gate {
            let name = "renewing"
            let reservesResource = false
            let admissions = Shared(0)

            func admit(_ request: RequestContext) async throws(SluiceError) -> Permit {
                let number = admissions.change { count in
                    count += 1
                    return count
                }
                if number == 2 {
                    let result = await request.client.string.get("token").withoutGates().sender().result
                    if let failure = result.failure { throw failure.error }
                }
                return Permit(modifyRequest: { _ in }, onOutcome: { _ in number == 1 ? .replay : .settled })
            }
        }
        let signal = LoopbackSignal()
        defer { signal.fire() }
        let (server, _) = try server(.text(""))
        server.on("/token", .text("t"))
        server.on(
            "/log",
            .script(.write("HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\none\n"), .wait(for: signal)),
            .text("two")
        )
        var configuration = SocketTransport.Configuration()
        configuration.maximumConnectionsByHost = ["127.0.0.1": 1]
        let client = APIClient(baseURL: server.url) {
            $0.transport = SocketTransport(configuration: configuration)
            $0.gates = [Renewing()]
            $0.timeouts.total = .seconds(20)
        }
        var lines: [String] = []
        for try await line in client.stream("log").lines { lines.append(line) }
        XCTAssertEqual(lines, ["two"])
        XCTAssertEqual(server.requests.map(\.path), ["/log", "/token", "/log"])
    }
    #endif

    func testDecodesWithDecoderOfClientAndReturnsRawChunks() async throws {
        struct Renamed: Decodable, Sendable { let fullName: String }
        let server = try LoopbackServer()
        server.on("/people", .chunked(["{\"full_", "name\":\"Ada\"}\n{\"full_name\":\"Alan\"}"].map { Data($0.utf8) }))
        let client = APIClient(baseURL: server.url) {
            let decoder = JSONDecoder()
            decoder.keyDecodingStrategy = .convertFromSnakeCase
            $0.modelDecoder = decoder
        }
        var names: [String] = []
        for try await person in client.stream("people").jsonLines(of: Renamed.self) { names.append(person.fullName) }
        XCTAssertEqual(names, ["Ada", "Alan"])
        var bytes = Data()
        for try await chunk in client.stream("people").bytes {
            XCTAssertFalse(chunk.isEmpty)
            bytes.append(chunk)
        }
        XCTAssertEqual(String(decoding: bytes, as: UTF8.self), "{\"full_name\":\"Ada\"}\n{\"full_name\":\"Alan\"}")
    }

    func testRejectedResponseIsErrorOfRequest() async throws {
        let (_, client) = try server(.json(#"{"message":"No such log"}"#, status: .notFound))
        let request: StreamRequest<ShopError> = client.stream("log")
        do {
            for try await line in request.lines { XCTFail(line) }
            XCTFail("The response was accepted.")
        } catch {
            XCTAssertEqual(error.message, "No such log")
            XCTAssertEqual(error.status, 404)
        }
        let accepted = try await request.validate(statuses: 404..<405).response().collect()
        XCTAssertEqual(accepted, Data(#"{"message":"No such log"}"#.utf8))
    }

    func testValidatesHeadBeforeBody() async throws {
        struct Refused: Error {}
        let (_, client) = try server(.text("one\n", headers: ["X-Kind": "log"]))
        let request: StreamRequest<APIError> = client.stream("log")
        let response = try await request.validate(contentTypes: "text/*").validate { head, body in
            guard head.headers["X-Kind"] == "log", body.isEmpty else { throw Refused() }
        }.response()
        XCTAssertEqual(response.status, .ok)
        await XCTAssertFails(request.validate(contentTypes: "text/event-stream"), .unacceptableContentType)
        await XCTAssertFails(request.validate { _, _ in throw Refused() }, .validationFailed)
        await XCTAssertFails(request.path("http://127.0.0.1:1/"), .cannotConnect)
        await XCTAssertFails(request.baseURL("ftp://x"), .unsupportedScheme)
    }

    private func XCTAssertFails(
        _ request: StreamRequest<APIError>,
        _ code: SluiceError.Code,
        line: UInt = #line
    ) async {
        do {
            _ = try await request.response()
            XCTFail("The request did not fail.", line: line)
        } catch {
            XCTAssertEqual(error.code, code, line: line)
        }
    }

    func testStreamsAPIRequestWithItsBody() async throws {
        let server = try LoopbackServer()
        server.on(.post, "/chat", .echo)
        let client = APIClient(baseURL: server.url)
        let request: StreamRequest<ShopError> = client.data.post("chat").json(["q": "why"]).stream()
        let echo = try await request.jsonLines(of: LoopbackEcho.self).reduce(into: []) { $0.append($1) }.first
        XCTAssertEqual(echo?.text, #"{"q":"why"}"#)
        let same = client.stream("chat").post(.json(["q": "how"])).header("X-Trace", "t1")
        let other = try await same.jsonLines(of: LoopbackEcho.self).reduce(into: []) { $0.append($1) }.first
        XCTAssertEqual(other?.text, #"{"q":"how"}"#)
        XCTAssertEqual(other?.values(for: "X-Trace"), ["t1"])
        XCTAssertEqual(other?.values(for: .contentType), ["application/json"])
    }

    func testAppliesLimitsOfRequestButNotOfClient() async throws {
        let server = try LoopbackServer()
        for (path, count) in [("/log", 200), ("/long", 50_000)] {
            let body = LoopbackResponse.data(Data(repeating: 97, count: count))
            server.on(path, body.throttled(pieceSize: 50, every: .milliseconds(30)))
        }
        let client = APIClient(baseURL: server.url) {
            $0.limits.body = 10
            $0.timeouts.total = .milliseconds(60)
        }
        let request: StreamRequest<SluiceError> = client.stream("log")
        let all = try await request.response().collect()
        XCTAssertEqual(all.count, 200)
        // A short response may end during a pause of the process, before its time is up. This one takes 30 s.
        let long: StreamRequest<SluiceError> = client.stream("long")
        let changes: [(StreamRequest<SluiceError>, SluiceError.Code)] = [
            (request.limits(ResponseLimits(body: 10)), .bodyTooLarge),
            (long.timeout(total: .milliseconds(40)), .timedOut),
        ]
        for (request, code) in changes {
            do {
                for try await _ in request.bytes {}
                XCTFail("The limit was not applied.")
            } catch {
                XCTAssertEqual(error.code, code)
            }
        }
        let observer = NotingObserver(.finished)
        let response = try await request.observer(observer).response()
        do {
            _ = try await response.collect(upTo: 100)
            XCTFail("The limit was not applied.")
        } catch {
            XCTAssertEqual(error.code, .bodyTooLarge)
        }
        await eventually { !observer.events.isEmpty }
        XCTAssertEqual(observer.events, ["0 finished bodyTooLarge"])
    }

    func testSecondReadingContinuesAfterTheLastElement() async throws {
        let signal = LoopbackSignal()
        let (_, client) = try server(.text("one\ntwo\nthree\n").paused(after: 8, until: signal))
        let response = try await client.stream("log").response()
        for try await line in response.lines {
            XCTAssertEqual(line, "one")
            break
        }
        signal.fire()
        let rest = try await response.collect()
        XCTAssertEqual(String(decoding: rest, as: UTF8.self), "two\nthree\n")
        XCTAssertEqual(response.head.headers[.contentLength], "14")
        XCTAssertEqual(response.request.path, "/log")
        XCTAssertEqual(response.metrics?.bytesReceived, 14)
    }

    func testLoopsOfDifferentKindsReadOneBodyInTurn() async throws {
        struct Record: StreamParser {
            private var bytes = Data()
            mutating func append(_ chunk: Data) { bytes.append(chunk) }
            mutating func finish() {}
            var unread: Data { bytes }
            mutating func next() throws(SluiceError) -> Data? {
                guard bytes.count >= 4 else { return nil }
                defer { bytes = Data(bytes.dropFirst(4)) }
                return Data(bytes.prefix(4))
            }
        }
        let users = #"{"id":1,"name":"Ada"}"# + "\n\n" + #"{"id":2,"name":"Eve"}"#
        let body = Array("head\r\n\r\n\(users)\nabcdefgh\nid: 7\ndata: x\n\ndata: y\n\nend".utf8)
        for size in [1, 2, 3, 7, 1000] {
            let chunks = stride(from: 0, to: body.count, by: size).map { Data(body[$0..<min($0 + size, body.count)]) }
            let (_, client) = try server(.chunked(chunks))
            let response = try await client.stream("log").response()
            var read: [String] = []
            for try await line in response.lines {
                read.append(line)
                if line.isEmpty { break }
            }
            for try await user in response.jsonLines(of: User.self) {
                read.append(user.name)
                break
            }
            // A new loop of the same kind.
            for try await user in response.jsonLines(of: User.self) {
                read.append(user.name)
                break
            }
            for try await record in response.elements(parsedBy: { Record() }) {
                read.append(String(decoding: record, as: UTF8.self))
                if read.last == "efgh" { break }
            }
            for try await event in response.serverSentEvents() {
                read.append("\(event.lastEventID) \(event.data)")
                break
            }
            for try await event in response.serverSentEvents() {
                read.append("\(event.lastEventID) \(event.data)")
                break
            }
            read.append(String(decoding: try await response.collect(), as: UTF8.self))
            XCTAssertEqual(read, ["head", "", "Ada", "Eve", "abcd", "efgh", "7 x", "7 y", "end"], "\(size)")
            let nothing = try await response.collect()
            XCTAssertEqual(nothing, Data())
        }
    }

    func testLineNumbersContinueInTheNextLoop() async throws {
        let (_, client) = try server(.text("1\n2\nx\n"))
        let response = try await client.stream("log").response()
        for try await number in response.jsonLines(of: Int.self) {
            XCTAssertEqual(number, 1)
            break
        }
        do {
            for try await number in response.jsonLines(of: Int.self) { XCTAssertEqual(number, 2) }
            XCTFail("The line was decoded.")
        } catch {
            XCTAssertTrue(error.description.contains("Line 3"), error.description)
        }
    }

    func testLoopsInTurnReadTheBytesOfALine() async throws {
        let signal = LoopbackSignal()
        let (_, client) = try server(.text("one\ntwo\n").paused(after: 6, until: signal))
        let response = try await client.stream("log").response()
        var lines = response.lines.makeAsyncIterator()
        let first = try await lines.next()
        var rest = response.bytes.makeAsyncIterator()
        // The beginning of a line that the first loop waits for.
        let beginning = try await rest.next()
        signal.fire()
        let last = try await lines.next()
        XCTAssertEqual(first, "one")
        XCTAssertEqual(beginning, Data("tw".utf8))
        XCTAssertEqual(last, "o")
    }

    func testHalfALineEndingIsNotLeftToTheNextLoop() async throws {
        for (kind, expected) in [
            ("collect", ["data: b\r\n\r\nend\n"]), ("lines", ["data: b", "", "end"]), ("events", ["b", "end"]),
        ] {
            let signal = LoopbackSignal()
            let (_, client) = try server(
                .script(
                    .write("HTTP/1.1 200 OK\r\nContent-Length: 26\r\n\r\ndata: a\r\n\r"),
                    .wait(for: signal),
                    .write("\ndata: b\r\n\r\nend\n")
                )
            )
            let response = try await client.stream("log").response()
            for try await event in response.serverSentEvents() {
                XCTAssertEqual(event.data, "a")
                break
            }
            signal.fire()
            var read: [String] = []
            if kind == "collect" { read.append(String(decoding: try await response.collect(), as: UTF8.self)) }
            if kind == "events" {
                for try await event in response.serverSentEvents() {
                    read.append(event.data)
                    break
                }
            }
            for try await line in response.lines { read.append(line) }
            XCTAssertEqual(read, expected, kind)
        }
    }

    func testStreamIsNotSentIfOnlyTheCacheMayAnswer() async throws {
        let server = try LoopbackServer()
        server.on("/*", .text("one"))
        let client = APIClient(baseURL: server.url) {
            $0.cache = CacheStore(storage: nil)
            $0.caching.source = .cache
        }
        do {
            for try await line in client.stream("log").lines { XCTFail("read \(line)") }
            XCTFail("no error")
        } catch {
            XCTAssertEqual(error.code, .cacheMiss)
        }
        let failure = await client.download("file", to: .temporary).sender().result.failure
        XCTAssertEqual(failure?.code, .cacheMiss)
        XCTAssertEqual(server.requestCount, 0)
    }

    func testFollowsRedirect() async throws {
        let (server, client) = try server(.text("one\n"))
        server.on("/moved", .redirect(to: "/log"))
        let response = try await client.stream("moved").response()
        XCTAssertEqual(response.request.path, "/log")
        let lines = try await response.lines.reduce(into: []) { $0.append($1) }
        XCTAssertEqual(lines, ["one"])
    }

    func testReturnsLinesBeforeLostConnection() async throws {
        let (_, client) = try server(.truncated(Data("one\ntwo\nthr".utf8), announced: 100))
        let request: StreamRequest<APIError> = client.stream("log")
        var read: [String] = []
        do {
            for try await line in request.lines { read.append(line) }
            XCTFail("The stream did not fail.")
        } catch {
            XCTAssertEqual(error.code, .truncatedBody)
            XCTAssertEqual(error.status, .ok)
        }
        XCTAssertEqual(read, ["one", "two"])
    }
}

import Foundation
import Sluice
import SluiceTesting
import XCTest

/// The article on streamed responses.
final class StreamingGuideTests: XCTestCase {
    private struct Reading: Decodable, Sendable { let value: Double }
    private struct Price: Decodable, Sendable { let amount: Double }

    private let clock = TestClock()

    private func server(_ path: String, _ text: String, _ type: String = "text/plain") throws -> (
        LoopbackServer, APIClient
    ) {
        let server = try LoopbackServer()
        server.on(path, .data(Data(text.utf8), contentType: type), .status(.noContent))
        addTeardownBlock { server.stop() }
        return (server, APIClient(baseURL: server.url) { $0.clock = clock })
    }

    func testLinesAndValues() async throws {
        let (_, logs) = try server("/today", "one\ntwo\n")
        for try await line in logs.stream("today").lines {
            print(line)
        }
        let (server, sensors) = try server("/readings", "{\"value\":1}\n{\"value\":2}\n")
        for try await reading in sensors.stream("readings").jsonLines(of: Reading.self) {
            print(reading.value)
        }
        XCTAssertEqual(server.requestCount, 1)
    }

    func testHeadBeforeLines() async throws {
        let (server, files) = try server("/report.csv", "a;b\n1;2\n")
        let response = try await files.stream("report.csv").response()
        print(response.head.headers["Last-Modified"] ?? "")
        for try await row in response.lines {
            print(row)
        }
        let logs = files
        let request: StreamRequest<ShopError> = logs.stream("yesterday")
        do {
            for try await line in request.lines { print(line) }
        } catch {
            // No cast: this is a ShopError.
            print(error.message)
        }
        XCTAssertEqual(server.requestCount, 2)
    }

    func testStreamingRequestsWithBody() async throws {
        let (server, ai) = try server("/chat", "data: Because.\n\n", "text/event-stream")
        let answer = ai.stream("chat").post(.json(["prompt": "Why is the sky blue?"]))
        for try await event in answer.serverSentEvents() {
            print(event.data, terminator: "")
        }
        let file = try TemporaryFile(Data("x".utf8))
        defer { file.remove() }
        let recording = file.url
        server.on("/transcripts", .text("x"))
        let upload: StreamRequest<ShopError> = ai.data.post("transcripts").file(recording).stream()
        let text = try await upload.response().collect()
        XCTAssertEqual(text, Data("x".utf8))
    }

    struct Chunk: Decodable { let text: String }

    func testDecodedEvents() async throws {
        let text = "data: {\"text\":\"Because.\"}\n\ndata: [DONE]\n\ndata: {}\n\n"
        let (_, ai) = try server("/chat", text, "text/event-stream")
        let answer = ai.stream("chat").post(.json(["prompt": "Why is the sky blue?"])).serverSentEvents()
        for try await chunk in answer.decoded(as: Chunk.self, until: "[DONE]") {
            print(chunk.text, terminator: "")
        }
        var texts: [String] = []
        let (_, other) = try server("/chat", text, "text/event-stream")
        let again = other.stream("chat").post(.json(["prompt": "Why?"])).serverSentEvents()
        for try await chunk in again.decoded(as: Chunk.self, until: "[DONE]") { texts.append(chunk.text) }
        XCTAssertEqual(texts, ["Because."])
    }

    actor Outgoing {
        private(set) var bytes = Data()
        func write(_ chunk: Data) async throws { bytes.append(chunk) }
    }

    func testRelayedBodies() async throws {
        let server = try LoopbackServer()
        server.on(.put, "/films/1") { .data($0.body) }
        let backend = APIClient(baseURL: server.url)
        let outgoing = Outgoing()
        for length in [6, nil] as [Int64?] {
            let incoming = AsyncStream<Data> { continuation in
                for text in ["abc", "def"] { continuation.yield(Data(text.utf8)) }
                continuation.finish()
            }
            let body = RequestBody.stream(incoming, length: length, contentType: "video/mp4")
            let relayed = try await backend.data.put("films/1").body(body).stream().response()
            print(relayed.head.status)
            for try await chunk in relayed.bytes { try await outgoing.write(chunk) }
        }
        let bytes = await outgoing.bytes
        XCTAssertEqual(bytes, Data("abcdefabcdef".utf8))
        let sent = server.requests.map(\.headers)
        XCTAssertEqual(sent.map { $0["Content-Length"] }, ["6", nil])
        XCTAssertEqual(sent.map { $0["Transfer-Encoding"] }, [nil, "chunked"])
        XCTAssertEqual(sent.last?[.contentType], "video/mp4")
    }

    func testServerSentEvents() async throws {
        let (server, shop) = try server("/prices", "id: 1\nretry: 0\ndata: {\"amount\":12.5}\n\n", "text/event-stream")
        let reconnection = Task { [clock] in
            await clock.waitForSleepers(1)
            clock.advance(by: .milliseconds(500))
        }
        for try await event in shop.stream("prices").serverSentEvents() {
            let price = try event.decoded(as: Price.self)
            print(event.type, price.amount, event.lastEventID)
        }
        await reconnection.value
        XCTAssertEqual(server.requestCount, 2)
        let once = shop.stream("prices").serverSentEvents(reconnection: .none)
        let patient = shop.stream("prices").serverSentEvents(
            reconnection: Reconnection(delay: .seconds(1), maximumAttempts: 100, statuses: [.serviceUnavailable])
        )
        for events in [once, patient] {
            for try await event in events { XCTFail(event.data) }
        }
        XCTAssertEqual(server.requestCount, 4)
    }

    func testDecodersOfEvents() throws {
        let event = ServerSentEvent(data: #"{"amount":1}"#)
        let decoder = JSONDecoder()
        let price: Price = try event.decoded()
        let exact = try event.decoded(as: Price.self, by: decoder)
        XCTAssertEqual([price.amount, exact.amount], [1, 1])
        decoder.keyDecodingStrategy = .convertFromSnakeCase
        XCTAssertNoThrow(try event.decoded(as: Price.self, by: decoder))
    }

    func testSeveralLoops() async throws {
        let (_, files) = try server("/message", "a: b\n\ncontent")
        let message = try await files.stream("message").response()
        for try await line in message.lines where line.isEmpty { break }
        let content = try await message.collect()
        XCTAssertEqual(content, Data("content".utf8))
    }

    func testSignalsOfEvents() async throws {
        let (server, shop) = try server("/prices", ": hello\n\ndata: 1\n\n", "text/event-stream")
        let reconnection = Task { [clock] in
            await clock.waitForSleepers(1)
            clock.advance(by: .seconds(3))
        }
        let prices = shop.stream("prices").serverSentEvents()
        for try await signal in prices.signals {
            switch signal {
            case .connected(let head): print(head.status)
            case .event(let event): print(event.data)
            case .comment: break
            case .disconnected(let error, let delay): print(error?.description ?? "The response has ended.", delay)
            }
        }
        await reconnection.value
        prices.restart()
        XCTAssertEqual(server.requestCount, 2)
    }
}

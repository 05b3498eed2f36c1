import SluiceTesting
import Testing

@Suite struct LoopbackRequestReadingTests {
    @Test(arguments: [
        ("Content-Length: 0\r\n\r\n", ""),
        ("Content-Length: 5\r\n\r\nhello", "hello"),
        ("Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n", ""),
        ("Transfer-Encoding: chunked\r\n\r\n2\r\nhe\r\n3;a=b\r\nllo\r\n0\r\nTrailer: x\r\n\r\n", "hello"),
        ("Transfer-Encoding: Chunked\r\n\r\n00A\r\n0123456789\r\n0\r\n\r\n", "0123456789"),
    ])
    func readsBodiesOfAnyFraming(rest: String, body: String) throws {
        let server = try LoopbackServer()
        server.on(.post, "/", .text("read"))
        let client = try RawClient(port: server.port)
        for _ in 0..<2 {
            client.send("POST / HTTP/1.1\r\n\(rest)")
            #expect(client.receive().hasSuffix("read"))
        }
        #expect(server.requests.map { String(decoding: $0.body, as: UTF8.self) } == [body, body])
        #expect(server.connections == 1)
    }

    @Test(arguments: [
        "GET /\r\n\r\n",
        "GET / HTTP/2\r\n\r\n",
        "G T / HTTP/1.1\r\n\r\n",
        "GET / HTTP/1.1\r\nNo colon\r\n\r\n",
        "GET / HTTP/1.1\r\nBad Name: x\r\n\r\n",
        "POST / HTTP/1.1\r\nContent-Length: -1\r\n\r\n",
        "POST / HTTP/1.1\r\nContent-Length: many\r\n\r\n",
        "POST / HTTP/1.1\r\nContent-Length: +2\r\n\r\nab",
        "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n+2\r\nab\r\n0\r\n\r\n",
        "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n-0\r\n\r\n",
        "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
        "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nabc\r\n",
        "POST / HTTP/1.1\r\nTransfer-Encoding: gzip\r\n\r\n",
    ])
    func rejectsMalformedRequestAndCloses(text: String) throws {
        let server = try LoopbackServer()
        let client = try RawClient(port: server.port)
        client.send(text)
        #expect(client.receive().hasPrefix("HTTP/1.1 400 Bad Request\r\n"))
        #expect(client.isAtEnd())
        #expect(server.requests.isEmpty)
    }

    @Test func combiningMarkAfterQuestionMarkStartsQuery() throws {
        let server = try LoopbackServer()
        server.on("/a", .text("read"))
        let client = try RawClient(port: server.port)
        client.send("GET /a?\u{301}b=c HTTP/1.1\r\n\r\n")
        #expect(client.receive().hasSuffix("read"))
        #expect(server.requests.map(\.query) == ["\u{301}b=c"])
    }

    @Test func readsRequestByteByByte() throws {
        let server = try LoopbackServer()
        server.on("/", .text("read"))
        let client = try RawClient(port: server.port)
        for character in "POST / HTTP/1.1\r\nA: b\r\nContent-Length: 2\r\n\r\nab" {
            for scalar in character.unicodeScalars { client.send(String(scalar)) }
        }
        #expect(client.receive().hasSuffix("read"))
    }

    @Test func answersPipelinedRequestsInOrder() throws {
        let server = try LoopbackServer()
        server.on("*") { .text($0.path) }
        let client = try RawClient(port: server.port)
        client.send((0..<50).map { "GET /\($0) HTTP/1.1\r\n\r\n" }.joined())
        for index in 0..<50 { #expect(client.receive().hasSuffix("\r\n\r\n/\(index)")) }
    }

    @Test func readsLargeHeadsAndBodies() throws {
        let server = try LoopbackServer()
        let client = try RawClient(port: server.port)
        let value = String(repeating: "v", count: 200_000)
        let body = String(repeating: "b", count: 3_000_000)
        client.send("POST / HTTP/1.1\r\nA: \(value)\r\nContent-Length: \(body.count)\r\n\r\n\(body)")
        _ = client.receive()
        #expect(server.requests.first?.headers["A"] == value)
        #expect(server.requests.first?.body.count == body.count)
    }

    @Test func sendsContinueForExpectation() throws {
        let server = try LoopbackServer()
        server.on("/", .text("read"))
        let client = try RawClient(port: server.port)
        client.send("PUT / HTTP/1.1\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n")
        #expect(client.receiveHead() == "HTTP/1.1 100 Continue\r\n\r\n")
        client.send("ab")
        #expect(client.receive().hasSuffix("read"))
    }

    @Test(arguments: [
        ("HTTP/1.1", "", false), ("HTTP/1.1", "Connection: Close\r\n", true),
        ("HTTP/1.0", "", true), ("HTTP/1.0", "Connection: keep-alive\r\n", false),
    ])
    func closesConnectionIfRequested(version: String, header: String, closes: Bool) throws {
        let server = try LoopbackServer()
        server.on("/", .text("one"))
        let client = try RawClient(port: server.port)
        client.send("GET / \(version)\r\n\(header)\r\n")
        #expect(client.receive().hasSuffix("one"))
        #expect(closes ? client.isAtEnd() : client.get("/").hasSuffix("one"))
    }
}

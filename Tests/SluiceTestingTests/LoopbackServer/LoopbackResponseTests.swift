import SluiceHTTP
import SluiceTesting
import XCTest

final class LoopbackResponseTests: XCTestCase {
    private func answer(_ response: LoopbackResponse, method: String = "GET", headers: String = "") throws -> String {
        let server = try LoopbackServer()
        server.on("/", response)
        return try RawClient(port: server.port).get("/", method: method, headers: headers)
    }

    func testWritesFieldsInOrder() throws {
        let headers: HTTPHeaders = ["Set-Cookie": "a", "X": "y", "Set-Cookie": "b"]
        XCTAssertEqual(
            try answer(.text("ä", status: .created, headers: headers)),
            "HTTP/1.1 201 Created\r\nSet-Cookie: a\r\nX: y\r\nSet-Cookie: b\r\n"
                + "Content-Type: text/plain; charset=utf-8\r\nContent-Length: 2\r\n\r\nä"
        )
    }

    func testExplicitHeadersReplaceDefaults() throws {
        let headers: HTTPHeaders = ["content-type": "a/b", "content-length": "1"]
        XCTAssertTrue(
            try answer(.json("{}", headers: headers)).hasPrefix(
                "HTTP/1.1 200 OK\r\ncontent-type: a/b\r\ncontent-length: 1\r\n\r\n"
            )
        )
    }

    func testEncodesAModelWithTheGivenEncoder() throws {
        let encoder = JSONEncoder()
        encoder.dateEncodingStrategy = .iso8601
        let dates = ["at": Date(timeIntervalSince1970: 0)]
        XCTAssertTrue(
            try answer(.json(encoding: dates, encoder: encoder)).hasSuffix(#"{"at":"1970-01-01T00:00:00Z"}"#)
        )
        XCTAssertTrue(try answer(.json(encoding: ["b": "/", "a": "/"])).hasSuffix(#"{"a":"/","b":"/"}"#))
    }

    func testHEADResponseHasNoBody() throws {
        let server = try LoopbackServer()
        server.on("/", .text("body"))
        server.on("/chunked", .chunked([Data("body".utf8)]))
        let client = try RawClient(port: server.port)
        XCTAssertTrue(client.get("/", method: "HEAD").contains("Content-Length: 4\r\n"))
        XCTAssertTrue(client.get("/chunked", method: "HEAD").hasSuffix("Transfer-Encoding: chunked\r\n\r\n"))
        XCTAssertTrue(client.get("/").hasSuffix("body"))
    }

    func testStatusWithoutBodyHasZeroOrNoLength() throws {
        XCTAssertEqual(try answer(.status(.unauthorized)), "HTTP/1.1 401 Unauthorized\r\nContent-Length: 0\r\n\r\n")
        let server = try LoopbackServer()
        server.on("/", .status(.noContent))
        let client = try RawClient(port: server.port)
        client.send("GET / HTTP/1.1\r\n\r\n")
        XCTAssertEqual(client.receiveHead(), "HTTP/1.1 204 No Content\r\n\r\n")
    }

    func testStatusWithoutBodyOmitsOne() throws {
        let server = try LoopbackServer()
        server.on("/", .text("next"))
        for status: HTTPStatus in [.noContent, .notModified] {
            server.on("/empty", .text("body", status: status))
            let client = try RawClient(port: server.port)
            client.send("GET /empty HTTP/1.1\r\nHost: test\r\n\r\n")
            let head = client.receiveHead()
            XCTAssertTrue(head.hasPrefix("HTTP/1.1 \(status)") && !head.contains("Content-Length"), head)
            XCTAssertTrue(client.get("/").hasPrefix("HTTP/1.1 200 OK\r\n"), "A body would precede the next response.")
        }
    }

    func testEchoDescribesRequest() throws {
        let server = try LoopbackServer()
        server.on("*", .echo)
        let answer = try RawClient(port: server.port).get(
            "/a?b",
            method: "PUT",
            headers: "X: 1\r\nX: 2\r\nContent-Length: 2\r\n\r\n\"e"
        )
        let body = try XCTUnwrap(answer.split(separator: "\r\n\r\n").last)
        let echo = try JSONDecoder().decode(LoopbackEcho.self, from: Data(body.utf8))
        XCTAssertEqual(echo.method, "PUT")
        XCTAssertEqual(echo.target, "/a?b")
        XCTAssertEqual(echo.values(for: "x"), ["1", "2"])
        XCTAssertEqual(echo.text, "\"e")
        XCTAssertEqual(Data(base64Encoded: echo.base64), Data("\"e".utf8))
    }

    func testRedirectHasLocation() throws {
        XCTAssertTrue(try answer(.redirect(to: "/b")).hasPrefix("HTTP/1.1 302 Found\r\nLocation: /b\r\n"))
    }

    func testWritesChunks() throws {
        let chunked = LoopbackResponse.chunked([Data("hello".utf8), Data(), Data(repeating: 65, count: 17)])
        let answer = try answer(chunked.closingConnection())
        XCTAssertTrue(answer.hasSuffix("\r\n\r\n5\r\nhello\r\n11\r\nAAAAAAAAAAAAAAAAA\r\n0\r\n\r\n"))
        XCTAssertTrue(answer.contains("Connection: close\r\n"))
    }

    func testWritesTrailersAfterLastChunk() throws {
        let trailers: HTTPHeaders = ["Digest": "x", "Server-Timing": "db;dur=5"]
        let answer = try answer(.chunked([Data("hello".utf8)], trailers: trailers).closingConnection())
        XCTAssertTrue(answer.hasSuffix("\r\n5\r\nhello\r\n0\r\nDigest: x\r\nServer-Timing: db;dur=5\r\n\r\n"), answer)
    }

    func testBodyUntilCloseHasNoLength() throws {
        XCTAssertEqual(try answer(.untilClose(Data("all".utf8))), "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nall")
    }

    func testSendsInformationalResponseFirst() throws {
        let response = LoopbackResponse.informational(103, headers: ["Link": "</a>"], then: .text("x"))
        let server = try LoopbackServer()
        server.on("/", response.closingConnection())
        let client = try RawClient(port: server.port)
        client.send("GET / HTTP/1.1\r\n\r\n")
        XCTAssertEqual(client.receiveHead(), "HTTP/1.1 103 Informational\r\nLink: </a>\r\n\r\n")
        XCTAssertTrue(client.receive().hasSuffix("x"))
    }

    func testThrottledBodyArrivesComplete() throws {
        let text = (0..<100).map { "\($0)" }.joined(separator: ",")
        for size in [1, 7, 1000] {
            let answer = try answer(.data(Data(text.utf8)).throttled(pieceSize: size, every: .microseconds(10)))
            XCTAssertTrue(answer.hasSuffix("Content-Length: \(text.utf8.count)\r\n\r\n\(text)"), "\(size)")
        }
    }

    func testLargeBodyArrivesComplete() throws {
        let text = String(repeating: "0123456789", count: 500_000)
        XCTAssertTrue(try answer(.text(text)).hasSuffix("\r\n\r\n" + text))
    }
}

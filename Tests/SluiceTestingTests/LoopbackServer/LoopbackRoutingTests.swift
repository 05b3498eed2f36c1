import SluiceTesting
import XCTest

final class LoopbackRoutingTests: XCTestCase {
    func testReturnsResponsesInTurnAndRepeatsLast() throws {
        let server = try LoopbackServer()
        server.on("/", .text("one"), .text("two"))
        let client = try RawClient(port: server.port)
        XCTAssertEqual((0..<3).map { _ in client.get("/").suffix(3) }, ["one", "two", "two"])
        XCTAssertEqual(server.connections, 1)
    }

    func testRouteWithMethodTakesPrecedence() throws {
        let server = try LoopbackServer()
        server.on(.put, "/", .text("put"))
        server.on("/", .text("any"))
        server.on(.get, "/", .text("get"))
        server.on("PURGE", "/", .text("purge"))
        let client = try RawClient(port: server.port)
        XCTAssertTrue(client.get("/").hasSuffix("get"))
        XCTAssertTrue(client.get("/", method: "PURGE").hasSuffix("purge"))
        XCTAssertTrue(client.get("/", method: "DELETE").hasSuffix("any"))
        XCTAssertTrue(client.get("/", method: "PUT").hasSuffix("put"))
    }

    func testLaterRouteReplacesEarlier() throws {
        let server = try LoopbackServer()
        server.on(.get, "/", .text("old"))
        server.on(.get, "/", .text("new"))
        XCTAssertTrue(try RawClient(port: server.port).get("/").hasSuffix("new"))
    }

    func testAsteriskMatchesPrefix() throws {
        let server = try LoopbackServer()
        server.on("/files/*") { .text("file \($0.path)") }
        server.on("*", .text("rest"))
        let client = try RawClient(port: server.port)
        XCTAssertTrue(client.get("/files/a?b").hasSuffix("file /files/a"))
        XCTAssertTrue(client.get("/other").hasSuffix("rest"))
    }

    func testClosureThatThrowsIsAnsweredWithItsError() throws {
        struct Rejected: Error {}
        let server = try LoopbackServer()
        server.on(.get, "/one") { request in
            if request.query == nil { throw Rejected() }
            return .text("fine")
        }
        server.on("/any") { _ in throw Rejected() }
        let client = try RawClient(port: server.port)
        for path in ["/one", "/any"] {
            let answer = client.get(path)
            XCTAssertTrue(answer.hasPrefix("HTTP/1.1 500 Internal Server Error\r\n"), answer)
            XCTAssertTrue(answer.hasSuffix("The closure of the route threw an error: Rejected()"), answer)
        }
        XCTAssertTrue(client.get("/one?x=1").hasSuffix("fine"))
        XCTAssertEqual(server.connections, 1)
    }

    func testUnroutedRequestIsNotFoundWithItsPath() throws {
        let server = try LoopbackServer()
        let answer = try RawClient(port: server.port).get("/no/such?x=1")
        XCTAssertTrue(answer.hasPrefix("HTTP/1.1 404 Not Found\r\n"))
        XCTAssertTrue(answer.contains("Content-Type: application/json\r\n"))
        XCTAssertTrue(answer.contains(#""path":"/no/such""#))
    }

    func testRecordsRequests() async throws {
        let server = try LoopbackServer()
        let client = try RawClient(port: server.port)
        _ = client.get("/a%20b?c=d%26&e?", headers: "X-One: 1\r\nx-one:  2 \r\nContent-Length: 3\r\n\r\nabc")
        await server.waitForRequests(1)
        let request = try XCTUnwrap(server.requests(to: "/a%20b").first)
        XCTAssertEqual(request.target, "/a%20b?c=d%26&e?")
        XCTAssertEqual(request.query, "c=d%26&e?")
        XCTAssertEqual(request.headers.values(for: "X-ONE"), ["1", "2"])
        XCTAssertEqual(request.headers.map(\.name.rawValue), ["Host", "X-One", "x-one", "Content-Length"])
        XCTAssertEqual(request.body, Data("abc".utf8))
        XCTAssertEqual(request.connection, 1)
    }

    func testRecordingCanBeDisabled() throws {
        let server = try LoopbackServer()
        server.recordsRequests = false
        _ = try RawClient(port: server.port).get("/")
        XCTAssertTrue(server.requests.isEmpty)
        XCTAssertEqual(server.requestCount, 1)
    }

    func testRoutesAbsoluteTargetByPath() throws {
        let server = try LoopbackServer()
        server.on("/x", .text("proxied"))
        let client = try RawClient(port: server.port)
        XCTAssertTrue(client.get("http://example.com/x?y").hasSuffix("proxied"))
        XCTAssertEqual(server.requests.first?.query, "y")
    }
}

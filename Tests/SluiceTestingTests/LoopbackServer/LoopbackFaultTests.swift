import SluiceTesting
import XCTest

final class LoopbackFaultTests: XCTestCase {
    private func client(_ response: LoopbackResponse) throws -> (LoopbackServer, RawClient) {
        let server = try LoopbackServer()
        server.on("/", response)
        let client = try RawClient(port: server.port)
        client.send("GET / HTTP/1.1\r\nHost: test\r\n\r\n")
        return (server, client)
    }

    func testDropClosesWithoutResponse() throws {
        let (server, client) = try client(.drop)
        XCTAssertEqual(client.receiveError(), 0)
        XCTAssertEqual(server.requestCount, 1)
    }

    func testResetSendsReset() throws {
        let (server, client) = try client(.reset)
        XCTAssertEqual(client.receiveError(), ECONNRESET)
        server.stop()
    }

    func testTruncatedBodyIsShortAndCloses() throws {
        let (server, client) = try client(.truncated(Data("abc".utf8), announced: 10))
        XCTAssertTrue(client.receiveToEnd().hasSuffix("Content-Length: 10\r\n\r\nabc"))
        server.stop()
    }

    func testOverlongBodyExceedsLengthOnOpenConnection() throws {
        let (server, client) = try client(.overlong(Data("abcdef".utf8), announced: 3))
        XCTAssertTrue(client.receive().hasSuffix("Content-Length: 3\r\n\r\nabc"))
        XCTAssertTrue(client.get("/").hasPrefix("defHTTP/1.1 200 OK\r\n"))
        server.stop()
    }

    func testSendsRawBytes() throws {
        let (server, client) = try client(.raw("HTP/1.1 what\r\n"))
        XCTAssertEqual(client.receiveToEnd(), "HTP/1.1 what\r\n")
        server.stop()
    }

    func testPartialBodyHangsUntilClientCloses() async throws {
        let (server, client) = try client(.partial(Data("abc".utf8), announced: 10))
        XCTAssertTrue(client.receive(through: "abc").hasSuffix("Content-Length: 10\r\n\r\nabc"))
        XCTAssertEqual(server.openConnections, 1)
        client.leave()
        await server.waitForOpenConnections { $0 == 0 }
        XCTAssertEqual(server.openConnections, 0)
    }

    func testEveryResponseEndsWhenClientCloses() async throws {
        let never = LoopbackSignal()
        let data = Data(repeating: 0, count: 100)
        let responses: [LoopbackResponse] = [
            .hang, .headersThenHang(), .partial(data, announced: 200), .after(never, .text("")),
            .data(data).throttled(pieceSize: 50, every: .seconds(1000)), .endless(chunk: data),
            .delayed(by: .seconds(1000), .text("")), .text("").delayed(by: .seconds(1000)),
        ]
        for response in responses {
            for leave in [RawClient.leave, RawClient.reset] {
                let (server, client) = try client(response)
                await server.waitForRequests(1)
                leave(client)()
                await server.waitForOpenConnections { $0 == 0 }
                XCTAssertEqual(server.openConnections, 0)
            }
        }
    }

    func testResponseWaitsForSignal() async throws {
        let signal = LoopbackSignal()
        let (server, client) = try client(.after(signal, .text("now")))
        await server.waitForRequests(1)
        XCTAssertEqual(server.bytesSent, 0)
        signal.fire()
        signal.fire()
        XCTAssertTrue(client.receive().hasSuffix("now"))
        XCTAssertTrue(client.get("/").hasSuffix("now"), "a signal that has fired does not delay later responses")
    }

    func testRunsScriptStepByStep() throws {
        let signal = LoopbackSignal()
        let (server, client) = try client(
            .script(.write("one"), .wait(for: signal), .write("two"), .pause(.milliseconds(1)), .write("three"), .close)
        )
        XCTAssertEqual(client.receive(through: "one"), "one")
        signal.fire()
        XCTAssertEqual(client.receiveToEnd(), "twothree")
        server.stop()
    }

    func testEndlessBodyStallsWithoutReader() async throws {
        let (server, client) = try client(.endless(chunk: Data(repeating: 1, count: 1000)))
        XCTAssertTrue(client.receiveHead().contains("Transfer-Encoding: chunked\r\n"))
        await server.waitForStalledConnections { $0 == 1 }
        let sent = server.bytesSent
        XCTAssertGreaterThan(sent, 1000)
        client.leave()
        await server.waitForOpenConnections { $0 == 0 }
        XCTAssertEqual(server.stalledConnections, 0)
    }
}

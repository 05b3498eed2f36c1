import SluiceTesting
import XCTest

final class LoopbackInterruptionTests: XCTestCase {
    private let digits = LoopbackResource(Data("0123456789".utf8), eTag: "\"1\"")

    /// Connects a client that has sent one request.
    private func ask(_ server: LoopbackServer) throws -> RawClient {
        let client = try RawClient(port: server.port)
        client.send("GET / HTTP/1.1\r\n\r\n")
        return client
    }

    /// Returns all bytes of a connection that is not kept open.
    private func askAndClose(_ server: LoopbackServer) throws -> String {
        let client = try RawClient(port: server.port)
        client.send("GET / HTTP/1.1\r\nConnection: close\r\n\r\n")
        return client.receiveToEnd()
    }

    func testTruncatedBodyCanBeResumed() throws {
        let server = try LoopbackServer()
        server.on("/", .resource(digits).interrupted(after: 4), .resource(digits))
        XCTAssertTrue(try ask(server).receiveToEnd().hasSuffix("Content-Length: 10\r\n\r\n0123"))
        let rest = try RawClient(port: server.port).get("/", headers: "Range: bytes=4-\r\n")
        XCTAssertTrue(rest.hasSuffix("Content-Length: 6\r\n\r\n456789"))
    }

    func testCutOffAtZeroSendsHeadOnly() throws {
        let server = try LoopbackServer()
        server.on("/", .resource(digits).interrupted(after: 0))
        XCTAssertTrue(try ask(server).receiveToEnd().hasSuffix("Content-Length: 10\r\n\r\n"))
    }

    func testCutOffByReset() throws {
        let server = try LoopbackServer()
        server.on("/", .text("0123").interrupted(after: 2, by: .reset))
        let client = try ask(server)
        XCTAssertTrue(client.receive(through: "\r\n\r\n01").hasSuffix("01"))
        XCTAssertEqual(client.receiveError(), ECONNRESET)
    }

    func testCutOffByHang() async throws {
        let server = try LoopbackServer()
        server.on("/", .text("0123").interrupted(after: 2, by: .hang))
        let client = try ask(server)
        XCTAssertTrue(client.receive(through: "\r\n\r\n01").hasSuffix("01"))
        XCTAssertEqual(server.openConnections, 1)
        client.leave()
        await server.waitForOpenConnections { $0 == 0 }
    }

    func testShorterBodyIsNotCutOff() throws {
        let server = try LoopbackServer()
        server.on("/", .text("0123").interrupted(after: 4))
        let client = try RawClient(port: server.port)
        XCTAssertTrue(client.get("/").hasSuffix("\r\n\r\n0123"))
        XCTAssertTrue(client.get("/").hasSuffix("\r\n\r\n0123"), "the connection is still open")
    }

    func testInterruptsThrottledAndEndlessBodies() throws {
        let server = try LoopbackServer()
        let throttled = LoopbackResponse.text("0123456789").throttled(pieceSize: 2, every: .microseconds(1))
        server.on("/", throttled.interrupted(after: 7), .endless(chunk: Data("ab".utf8)).interrupted(after: 16))
        for expected in ["\r\n\r\n0123456", "\r\n\r\n2\r\nab\r\n2\r\nab\r\n2\r"] {
            let answer = try ask(server).receiveToEnd()
            XCTAssertTrue(answer.hasSuffix(expected), answer)
        }
    }

    func testEndlessBodyIsThrottledAndInterruptedTwice() throws {
        let server = try LoopbackServer()
        let fired = LoopbackSignal()
        fired.fire()
        let endless = LoopbackResponse.endless(chunk: Data("ab".utf8))
        server.on("/", endless.throttled(pieceSize: 3, every: .milliseconds(10)).interrupted(after: 16))
        let start = ContinuousClock.now
        XCTAssertTrue(try ask(server).receiveToEnd().hasSuffix("\r\n\r\n2\r\nab\r\n2\r\nab\r\n2\r"))
        XCTAssertGreaterThanOrEqual(start.duration(to: .now), .milliseconds(60), "Six pauses")
        server.on("/", endless.paused(after: 23, until: fired).interrupted(after: 16))
        XCTAssertTrue(try ask(server).receiveToEnd().hasSuffix("\r\n\r\n2\r\nab\r\n2\r\nab\r\n2\r"))
    }

    func testEndlessBodyIsInterruptedAfterAnyNumberOfBytes() throws {
        let server = try LoopbackServer()
        server.on("/", .endless(chunk: Data("ab".utf8)).interrupted(after: .max))
        XCTAssertTrue(try ask(server).receive(through: "2\r\nab\r\n").hasSuffix("\r\n\r\n2\r\nab\r\n"))
    }

    func testPausesBodyUntilSignal() throws {
        let signal = LoopbackSignal()
        let server = try LoopbackServer()
        server.on("/", .resource(digits).paused(after: 3, until: signal))
        let client = try ask(server)
        XCTAssertTrue(client.receive(through: "\r\n\r\n012").hasSuffix("012"))
        signal.fire()
        XCTAssertEqual(client.receive(through: "789"), "3456789")
    }

    func testThrottledBodyIsComplete() throws {
        for size in [Int.min, 1, 3, 100] {
            let server = try LoopbackServer()
            server.on("/", .resource(digits).throttled(pieceSize: size, every: .microseconds(1)))
            XCTAssertTrue(try RawClient(port: server.port).get("/").hasSuffix("\r\n\r\n0123456789"), "\(size)")
        }
    }

    func testInterruptsAfterAnyByteOnWire() throws {
        let server = try LoopbackServer()
        let responses: [LoopbackResponse] = [
            .informational(103, then: .text("0123")), .chunked([Data("01".utf8), Data("23".utf8)]),
            .script(.write("HTTP/1.1 200 OK\r\n\r\n"), .write("0123"), .close),
        ]
        for response in responses {
            server.on("/", response)
            let whole = try askAndClose(server)
            XCTAssertGreaterThan(whole.utf8.count, 20)
            for count in 0...whole.utf8.count + 1 {
                server.on("/", response.interrupted(afterBytesOnWire: count))
                XCTAssertEqual(try askAndClose(server), String(decoding: whole.utf8.prefix(count), as: UTF8.self))
            }
        }
    }
}

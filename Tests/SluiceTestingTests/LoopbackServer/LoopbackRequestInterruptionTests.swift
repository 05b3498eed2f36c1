import SluiceTesting
import XCTest

final class LoopbackRequestInterruptionTests: XCTestCase {
    private let upload = "POST / HTTP/1.1\r\nContent-Length: 5\r\n\r\nhello"

    private func server() throws -> LoopbackServer {
        let server = try LoopbackServer()
        server.on("/", .text("ok"))
        return server
    }

    func testInterruptsRequestAtEveryByte() throws {
        let server = try server()
        for count in 0..<upload.utf8.count {
            server.interruptRequests(after: count)
            let client = try RawClient(port: server.port)
            client.send(upload)
            XCTAssertTrue(client.isAtEnd(), "after \(count) bytes")
        }
        XCTAssertEqual(server.requestCount, 0)
    }

    func testAnswersRequestsWithinLimit() throws {
        let server = try server()
        server.interruptRequests(after: upload.utf8.count)
        let client = try RawClient(port: server.port)
        for _ in 0..<2 {
            client.send(upload)
            XCTAssertTrue(client.receive().hasSuffix("ok"), "each request is counted separately")
        }
        XCTAssertEqual(server.bytesReceived, Int64(2 * upload.utf8.count))
    }

    func testCutOffDoesNotWaitForRest() throws {
        let server = try server()
        server.interruptRequests(after: 10)
        let client = try RawClient(port: server.port)
        client.send(String(upload.prefix(10)))
        XCTAssertTrue(client.isAtEnd())
    }

    func testInterruptsReusedConnectionAtNextRequest() throws {
        let server = try server()
        let client = try RawClient(port: server.port)
        client.send(upload)
        XCTAssertTrue(client.receive().hasSuffix("ok"))
        server.interruptRequests(after: 0)
        client.send("P")
        XCTAssertTrue(client.isAtEnd())
    }

    func testCutOffByReset() throws {
        let server = try server()
        server.interruptRequests(after: 3, by: .reset)
        let client = try RawClient(port: server.port)
        client.send(upload)
        XCTAssertEqual(client.receiveError(), ECONNRESET)
    }

    func testCutOffByHang() async throws {
        let server = try server()
        server.interruptRequests(after: 3, by: .hang)
        let client = try RawClient(port: server.port)
        client.send(upload)
        await server.waitForOpenConnections { $0 == 1 }
        client.leave()
        await server.waitForOpenConnections { $0 == 0 }
    }

    func testInterruptsLimitedNumberOfRequests() throws {
        let server = try server()
        server.interruptRequests(after: 3, times: 1)
        let first = try RawClient(port: server.port)
        first.send(upload)
        XCTAssertTrue(first.isAtEnd())
        let second = try RawClient(port: server.port)
        second.send(upload)
        XCTAssertTrue(second.receive().hasSuffix("ok"))
        server.interruptRequests(after: 3)
        server.interruptRequests(after: 0, times: 0)
        second.send(upload)
        XCTAssertTrue(second.receive().hasSuffix("ok"))
    }
}

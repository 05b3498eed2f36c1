import SluiceTesting
import XCTest

final class LoopbackLifetimeTests: XCTestCase {
    func testStopClosesConnectionsAndRefusesNewOnes() async throws {
        let server = try LoopbackServer()
        server.on("/hang", .hang)
        let idle = try RawClient(port: server.port)
        _ = idle.get("/")
        let waiting = try RawClient(port: server.port)
        waiting.send("GET /hang HTTP/1.1\r\n\r\n")
        await server.waitForRequests(2)
        server.stop()
        server.stop()
        XCTAssertTrue(idle.isAtEnd())
        XCTAssertTrue(waiting.isAtEnd())
        XCTAssertThrowsError(try RawClient(port: server.port))
        await server.waitForOpenConnections { $0 == 0 }
        XCTAssertEqual(server.openConnections, 0)
    }

    func testClosesConnectionOfMalformedRequestWhoseClientIsSilent() async throws {
        let server = try LoopbackServer()
        let client = try RawClient(port: server.port)
        client.send("GET /\r\n\r\n")
        XCTAssertTrue(client.receive().hasPrefix("HTTP/1.1 400 "))
        try await waitUntil("the server closes the connection") { server.openConnections == 0 }
        client.leave()
    }

    func testReleasedServerStops() throws {
        var server: LoopbackServer? = try LoopbackServer()
        let port = try XCTUnwrap(server?.port)
        let client = try RawClient(port: port)
        server = nil
        XCTAssertTrue(client.isAtEnd())
        XCTAssertThrowsError(try RawClient(port: port))
    }

    func testStopReleasesServerThatItsClosuresCapture() async throws {
        try await expectNoLeaks(descriptors: false) { leaks in
            let server = try leaks.track(LoopbackServer())
            server.on("/") { _ in .text(server.url) }
            server.onExpectation { _ in server.requestCount == 0 ? .continue : .ignored }
            server.stop()
        }
    }

    func testWaitEndsWhenServerStopsOrTaskIsCancelled() async throws {
        let server = try LoopbackServer()
        let cancelled = Task { await server.waitForRequests(1) }
        cancelled.cancel()
        await cancelled.value
        async let waiting: Void = server.waitForOpenConnections { $0 == 7 }
        server.stop()
        await waiting
        await server.waitForRequests(1)
    }

    func testManyConnectionsLeakNoDescriptors() async throws {
        let before = descriptorCount()
        let server = try LoopbackServer()
        server.recordsRequests = false
        server.on("/", .text("answer"))
        await withTaskGroup(of: Void.self) { group in
            for worker in 0..<64 {
                group.addTask {
                    for round in 0..<20 {
                        guard let client = try? RawClient(port: server.port) else { return XCTFail("refused") }
                        for _ in 0..<20 where !client.get("/").hasSuffix("answer") { XCTFail("no answer") }
                        client.send("GET / HTTP/1.1\r\n\((worker + round).isMultiple(of: 2) ? "\r\n" : "")")
                        if round.isMultiple(of: 3) { client.reset() }
                    }
                }
            }
        }
        await server.waitForOpenConnections { $0 == 0 }
        XCTAssertEqual(server.connections, 64 * 20)
        XCTAssertGreaterThanOrEqual(server.requestCount, 64 * 20 * 20)
        server.stop()
        XCTAssertLessThan(descriptorCount(), before + 64, "1,280 connections were made")
    }

    func testHandlesHundredsOfOpenConnections() async throws {
        let server = try LoopbackServer()
        server.on("/", .text("answer"))
        let clients = try (0..<300).map { _ in try RawClient(port: server.port) }
        for client in clients { XCTAssertTrue(client.get("/").hasSuffix("answer")) }
        XCTAssertEqual(server.openConnections, 300)
    }

    private func descriptorCount() -> Int {
        (0..<4096).count { fcntl($0, F_GETFD) >= 0 }
    }
}

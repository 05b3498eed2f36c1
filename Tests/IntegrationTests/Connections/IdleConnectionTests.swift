#if os(Linux)
import Foundation
import Sluice
import SluiceEngine
import SluiceTesting
import XCTest

/// The time during which a connection is reused. The engine measures real time. Each transport has its own connections, so these
/// limits do not affect other tests.
final class IdleConnectionTests: XCTestCase {
    private func server() throws -> LoopbackServer {
        let server = try LoopbackServer()
        server.on("/", .text("ok"))
        return server
    }

    private func client(_ server: LoopbackServer, idle: Duration, lifetime: Duration? = nil) -> APIClient {
        var configuration = SocketTransport.Configuration()
        configuration.idleConnectionTimeout = idle
        configuration.connectionLifetime = lifetime
        let transport = SocketTransport(configuration: configuration)
        return APIClient(baseURL: server.url) { $0.transport = transport }
    }

    func testReusesIdleConnection() async throws {
        let server = try server()
        let client = client(server, idle: .seconds(90))
        let other = self.client(server, idle: .seconds(1))
        _ = try await client.data.get("/").sender().value
        _ = try await other.data.get("/").sender().value
        try await waitUntil("the connection of the other client is closed") { server.openConnections == 1 }
        _ = try await client.data.get("/").sender().value
        let connections = server.requests(to: "/").map(\.connection)
        XCTAssertEqual(connections.count, 3)
        XCTAssertEqual(connections.first, connections.last)
    }

    func testDoesNotReuseConnectionAfterIdleTimeout() async throws {
        let server = try server()
        try await expectNewConnection(client(server, idle: .seconds(1)), server)
    }

    func testDoesNotReuseConnectionAfterLifetime() async throws {
        let server = try server()
        // The lifetime of a connection is at least four fifths of the maximum.
        let client = client(server, idle: .seconds(90), lifetime: .seconds(1))
        try await expectNewConnection(client, server, after: .milliseconds(800))
    }

    private func expectNewConnection(
        _ client: APIClient,
        _ server: LoopbackServer,
        after minimum: Duration = .seconds(1)
    ) async throws {
        let start = ContinuousClock.now
        _ = try await client.data.get("/").sender().value
        try await waitUntil("the connection is closed") { server.openConnections == 0 }
        XCTAssertGreaterThanOrEqual(ContinuousClock.now - start, minimum)
        _ = try await client.data.get("/").sender().value
        XCTAssertEqual(Set(server.requests(to: "/").map(\.connection)).count, 2)
    }
}
#endif

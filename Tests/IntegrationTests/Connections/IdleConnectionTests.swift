#if os(Linux)
import Foundation
import Sluice
import SluiceEngine
import SluiceTesting
import XCTest

/// The time during which a connection is reused. The engine measures real time, so the tests wait. Each transport has its own
/// connections, so these limits do not affect other tests.
final class IdleConnectionTests: XCTestCase {
    private func connections(idle: Duration, lifetime: Duration? = nil) async throws -> Int {
        let server = try LoopbackServer()
        server.on("/", .text("ok"))
        var configuration = SocketTransport.Configuration()
        configuration.idleConnectionTimeout = idle
        configuration.connectionLifetime = lifetime
        let transport = SocketTransport(configuration: configuration)
        let client = APIClient(baseURL: server.url) { $0.transport = transport }
        _ = try await client.data.get("/").sender().value
        try await Task.sleep(for: .milliseconds(2100))
        _ = try await client.data.get("/").sender().value
        return Set(server.requests(to: "/").map(\.connection)).count
    }

    func testReusesIdleConnection() async throws {
        let connections = try await connections(idle: .seconds(90))
        XCTAssertEqual(connections, 1)
    }

    func testDoesNotReuseConnectionAfterIdleTimeout() async throws {
        let connections = try await connections(idle: .seconds(1))
        XCTAssertEqual(connections, 2)
    }

    func testDoesNotReuseConnectionAfterLifetime() async throws {
        let connections = try await connections(idle: .seconds(90), lifetime: .seconds(1))
        XCTAssertEqual(connections, 2)
    }
}
#endif

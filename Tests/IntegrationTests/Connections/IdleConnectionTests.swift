#if os(Linux)
import Foundation
import Sluice
import SluiceEngine
import SluiceTesting
import XCTest

/// The time for which a connection is used again. The engine measures it by its own clock, and so it has to pass. Each
/// transport has connections of its own, which the limits of others do not touch.
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

    func testAnIdleConnectionIsUsedAgain() async throws {
        let connections = try await connections(idle: .seconds(90))
        XCTAssertEqual(connections, 1)
    }

    func testOneThatHasBeenIdleForTooLongIsNot() async throws {
        let connections = try await connections(idle: .seconds(1))
        XCTAssertEqual(connections, 2)
    }

    func testNorIsOneThatIsTooOld() async throws {
        let connections = try await connections(idle: .seconds(90), lifetime: .seconds(1))
        XCTAssertEqual(connections, 2)
    }
}
#endif

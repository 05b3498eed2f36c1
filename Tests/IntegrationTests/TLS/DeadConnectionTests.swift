#if os(Linux)
import Foundation
import Sluice
import XCTest

/// The error of one connection while other connections fail.
final class DeadConnectionTests: XCTestCase {
    func testReportsOwnFailureAmongClosedConnections() async throws {
        try XCTSkipUnless(Nginx.canRun, "nginx or openssl is not installed")
        let server = try TLSServer()
        let client = APIClient(baseURL: server.url(.wrongName)) {
            $0.connection.tls.trust = .only(.file(server.authority.certificate))
        }
        // Long enough for other connections to fail at every point of a handshake.
        let clock = ContinuousClock()
        let end = clock.now + .milliseconds(2500)
        while clock.now < end {
            try await leaveDeadConnections()
            let error = await client.string.get("/").sender().response.failure
            let failure = try XCTUnwrap(error?.underlyingError as? TLSFailure)
            XCTAssertEqual(failure.check, .hostName)
            XCTAssertTrue(failure.detail.contains("subject name"), failure.detail)
        }
    }

    private func leaveDeadConnections() async throws {
        let nginx = try Nginx()
        let client = APIClient(baseURL: nginx.tlsURL) { $0.connection.tls.trust = .only(.file(nginx.certificateFile)) }
        let statuses = await withTaskGroup(of: HTTPStatus?.self) { group in
            for _ in 0..<4 { group.addTask { await client.data.get("user.json").sender().response.status } }
            return await group.reduce(into: []) { $0.append($1) }
        }
        XCTAssertEqual(statuses, [.ok, .ok, .ok, .ok])
    }
}
#endif

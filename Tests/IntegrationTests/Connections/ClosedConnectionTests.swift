#if os(Linux)
import Foundation
import Sluice
import SluiceTesting
import XCTest

/// Servers that close connections between requests. The client's requests must not fail.
final class ClosedConnectionTests: XCTestCase {
    private var nginx: NetworkNginx!

    override func setUpWithError() throws {
        try XCTSkipUnless(NetworkNginx.canRun, "nginx is not installed")
        nginx = try NetworkNginx()
    }

    override func tearDown() {
        nginx = nil
    }

    func testReplacesConnectionAfterLimitOfRequests() async throws {
        let client = APIClient(baseURL: "http://127.0.0.1:\(nginx.limitedPort)")
        var connections: [String: Int] = [:]
        for turn in 0..<30 {
            // A POST is safe as well: the server announces that it closes.
            let response = await client.string.request("echo").method(turn % 2 == 0 ? .get : .post).sender().response
            XCTAssertEqual(response.status, .ok)
            connections[response.head?.headers["X-Connection"] ?? "", default: 0] += 1
        }
        XCTAssertEqual(connections.count, 10)
        XCTAssertTrue(connections.values.allSatisfy { $0 == 3 })
    }

    func testSendsPOSTOnNewConnectionAfterIdleClose() async throws {
        let client = APIClient(baseURL: "http://127.0.0.1:\(nginx.shortIdlePort)")
        let first = await client.string.get("echo").sender().response
        let status = APIClient(baseURL: "http://127.0.0.1:\(nginx.statusPort)").string.get("")
        try await waitUntil("nginx closes the idle connection") {
            try await status.sender().value.hasPrefix("Active connections: 1 ")
        }
        let second = await client.string.post("echo").sender().response
        XCTAssertEqual(second.status, .ok, "\(second.result)")
        XCTAssertNotNil(first.head?.headers["X-Connection"])
        XCTAssertNotEqual(first.head?.headers["X-Connection"], second.head?.headers["X-Connection"])
    }
}
#endif

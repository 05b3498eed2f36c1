#if os(Linux)
import Foundation
import Sluice
import SluiceTesting
import XCTest

final class UnixSocketTests: XCTestCase {
    private var nginx: NetworkNginx!

    override func setUpWithError() throws {
        try XCTSkipUnless(NetworkNginx.canRun, "nginx is not installed")
        nginx = try NetworkNginx()
    }

    override func tearDown() {
        nginx = nil
    }

    private func client(_ path: String, proxy: ProxySelection = .environment) -> APIClient {
        APIClient(baseURL: "http://docker.test/") {
            $0.connection.unixSocket = path
            $0.connection.proxy = proxy
        }
    }

    func testSendsRequestsOfAnyHostToSocket() async throws {
        let client = client(nginx.socket)
        let response = await client.string.get("echo").sender().response
        XCTAssertEqual(try response.result.get(), "GET docker.test HTTP/1.1")
        XCTAssertEqual(response.metrics?.remoteAddress, nginx.socket)
        let other = try await client.string.get("http://other.test:8080/echo").sender().value
        XCTAssertEqual(other, "GET other.test HTTP/1.1")
    }

    func testRedirectsStayOnSocket() async throws {
        let text = try await client(nginx.socket).string.get("away").sender().value
        XCTAssertEqual(text, "GET elsewhere.test HTTP/1.1")
    }

    func testSocketTakesPrecedenceOverProxy() async throws {
        let text = try await client(nginx.socket, proxy: .http("127.0.0.1:1")).string.get("echo").sender().value
        XCTAssertEqual(text, "GET docker.test HTTP/1.1")
    }

    func testReusesConnectionsSeparatelyFromNetwork() async throws {
        let client = client(nginx.socket)
        var connections: Set<String?> = []
        for _ in 0..<3 {
            connections.insert(await client.string.get("echo").sender().response.head?.headers["X-Connection"])
        }
        XCTAssertEqual(connections.count, 1)
        XCTAssertFalse(connections.contains(nil))
        guard
            case .failure(let error) = await APIClient(baseURL: "http://docker.test/").string.get("echo").sender()
                .result
        else { return XCTFail("A connection was shared.") }
        XCTAssertEqual(error.code, .cannotResolveHost)
    }

    func testMissingSocketIsErrorNamingIt() async throws {
        let missing = "/tmp/no-such-socket-\(UUID().uuidString)"
        guard case .failure(let error) = await client(missing).string.get("echo").sender().result else {
            return XCTFail("The request did not fail.")
        }
        XCTAssertEqual(error.code, .cannotConnect)
        XCTAssertTrue(error.error.reason.contains(missing), error.error.reason)
        XCTAssertTrue(error.error.reason.contains("no such file"), error.error.reason)
    }

    func testTooLongPathIsError() async throws {
        let path = "/tmp/\(String(repeating: "x", count: 103))"
        guard case .failure(let error) = await client(path).string.get("echo").sender().result else {
            return XCTFail("The request did not fail.")
        }
        XCTAssertEqual(error.code, .invalidConfiguration)
    }

    func testAcceptsLongestPath() async throws {
        let link = "/tmp/\(UUID().uuidString)".padding(toLength: 107, withPad: "x", startingAt: 0)
        try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: nginx.socket)
        defer { try? FileManager.default.removeItem(atPath: link) }
        let text = try await client(link).string.get("echo").sender().value
        XCTAssertEqual(text, "GET docker.test HTTP/1.1")
    }
}
#endif

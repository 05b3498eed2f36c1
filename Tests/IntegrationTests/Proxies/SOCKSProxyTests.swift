#if os(Linux)
import Foundation
import Sluice
import SluiceTesting
import XCTest

final class SOCKSProxyTests: XCTestCase {
    private var server: LoopbackServer!

    override func setUpWithError() throws {
        try XCTSkipUnless(ProxyServer.canRun, "python3 or openssl is not installed")
        server = try LoopbackServer()
        server.on("*", .text("ok"))
    }

    private func client(_ proxy: Proxy, host: String = "web.test") -> APIClient {
        APIClient(baseURL: "http://\(host):\(server.port)") { $0.connection.proxy = .always(proxy) }
    }

    func testProxyOrClientResolvesName() async throws {
        let proxy = try ProxyServer()
        let port = server.port
        for (choice, host, targets) in [
            (Proxy.socks5(proxy.address), "web.test", ["web.test:\(port)"]),
            (.socks5(proxy.address, resolvesNames: false), "localhost", ["127.0.0.1:\(port)", "::1:\(port)"]),
            (.socks4(proxy.address, user: "ada"), "web.test", ["web.test:\(port)"]),
            (.socks4(proxy.address, resolvesNames: false), "localhost", ["127.0.0.1:\(port)"]),
        ] {
            // No server listens at the IPv6 address of a name that resolves to it first.
            let response = await client(choice, host: host).string.get("a").sender().response
            let visit = try await proxy.visits.last
            XCTAssertTrue(targets.contains(visit?.target ?? ""), "\(choice): \(visit as Any)")
            if targets.count == 1 || visit?.target == targets[0] {
                XCTAssertEqual(try response.result.get(), "ok")
                XCTAssertEqual(response.metrics?.remoteAddress, proxy.address)
            }
        }
    }

    func testAcceptsCredentialsAndReportsWrongOnes() async throws {
        let password = "p:w %41@/ü"
        let proxy = try ProxyServer(user: "a%41da", password: password)
        let text = try await client(.socks5(proxy.address, user: "a%41da", password: password)).string.get("a").sender()
            .value
        XCTAssertEqual(text, "ok")
        let wrong = await failure(of: client(.socks5(proxy.address, user: "a%41da", password: "s3cret")))
        XCTAssertEqual(wrong?.code, .proxyFailed)
        XCTAssertEqual(wrong?.reason.contains("did not accept the credentials"), true, "\(wrong as Any)")
        XCTAssertEqual(wrong?.expandedDescription.contains("s3cret"), false)
        let without = await failure(of: client(.socks5(proxy.address)))
        XCTAssertEqual(without?.code, .proxyFailed)
        XCTAssertEqual(
            without?.reason.contains("requires an authentication method that is not supported, or credentials"),
            true,
            "\(without as Any)"
        )
    }

    func testRefusalIsProxyFailure() async throws {
        let proxy = try ProxyServer()
        let port = try RealServer.freePort()
        for (choice, host, reason) in [
            (Proxy.socks5(proxy.address), "refused.test", "the proxy's rules do not allow the connection"),
            (.socks5(proxy.address), "dropped.test", "the proxy closed the connection"),
            (.socks4(proxy.address), "refused.test", "the proxy refused the request, or the request failed"),
            (.socks5("127.0.0.1:\(port)"), "web.test", "connection refused"),
        ] {
            let error = await failure(of: client(choice, host: host))
            XCTAssertEqual(error?.code, .proxyFailed, "\(choice) \(host)")
            XCTAssertEqual(error?.reason.contains(reason), true, "\(error as Any)")
        }
        XCTAssertEqual(server.requestCount, 0)
    }

    func testServerRefusalThroughProxyIsProxyFailure() async throws {
        let proxy = try ProxyServer()
        let port = try RealServer.freePort()
        let client = APIClient(baseURL: "http://web.test:\(port)") { $0.connection.proxy = .socks5(proxy.address) }
        let error = await failure(of: client)
        XCTAssertEqual(error?.code, .proxyFailed)
        XCTAssertEqual(error?.reason.hasSuffix("the server refused the connection."), true, "\(error as Any)")
    }

    func testDoesNotShareConnectionBetweenCredentials() async throws {
        let proxy = try ProxyServer()
        let clients = ["ada", "eve"].map { client(.socks5(proxy.address, user: $0, password: "x")) }
        for _ in 0..<3 {
            for client in clients { _ = try await client.string.get("a").sender().value }
        }
        // One connection for each user, used three times each.
        let visits = try await proxy.visits
        XCTAssertEqual(visits.count, 2)
        XCTAssertEqual(server.requestCount, 6)
    }

    private func failure(of client: APIClient) async -> SluiceError? {
        guard case .failure(let error) = await client.data.get("a").sender().result else { return nil }
        return error.error
    }
}
#endif

#if os(Linux)
import Foundation
import Sluice
import SluiceEngine
import SluiceTesting
import XCTest

/// HTTP proxies that forward requests.
final class HTTPProxyTests: XCTestCase {
    private var server: LoopbackServer!

    override func setUpWithError() throws {
        try XCTSkipUnless(ProxyServer.canRun, "python3 or openssl is not installed")
        server = try LoopbackServer()
        server.on("*", .echo)
    }

    private func client(_ proxy: ProxySelection, host: String = "web.test") -> APIClient {
        APIClient(baseURL: "http://\(host):\(server.port)") { $0.connection.proxy = proxy }
    }

    func testSendsRequestInAbsoluteForm() async throws {
        let proxy = try ProxyServer()
        let client = client(.http(proxy.address))
        let request = client.codable.post("a/b", as: LoopbackEcho.self).query(["x": "1"]).json(["n": 1])
            .header("X-Mine", "yes")
        let response = await request.sender().response
        let echo = try response.result.get()
        XCTAssertEqual(echo.target, "/a/b?x=1")
        XCTAssertEqual(echo.text, #"{"n":1}"#)
        XCTAssertEqual(response.head?.headers["Via"], "1.1 proxy")
        XCTAssertEqual(response.metrics?.remoteAddress, proxy.address)
        let visits = try await proxy.visits
        XCTAssertEqual(visits.map(\.target), ["http://web.test:\(server.port)/a/b?x=1"])
        XCTAssertEqual(visits.first?.headers["x-mine"], "yes")
        XCTAssertNil(visits.first?.headers["proxy-authorization"])
    }

    func testRequestsShareConnectionToProxy() async throws {
        let proxy = try ProxyServer(user: "ada", password: "pw")
        let client = client(.http(proxy.address, user: "ada", password: "pw"))
        for _ in 0..<3 { _ = try await client.data.get("a").sender().value }
        let visits = try await proxy.visits
        XCTAssertEqual(visits.map(\.connection), Array(repeating: visits[0].connection, count: 3))
    }

    func testSendsCredentialsPreemptivelyToProxyOnly() async throws {
        // Characters with a meaning in URLs, or between name and password, must arrive unchanged.
        let password = "p:w %41@/ü"
        let proxy = try ProxyServer(user: "a%41da", password: password)
        let client = client(.http(proxy.address, user: "a%41da", password: password))
        _ = try await client.data.get("a").sender().value
        let visits = try await proxy.visits
        XCTAssertEqual(visits.count, 1)
        XCTAssertNil(server.requests(to: "/a").first?.headers["Proxy-Authorization"])
    }

    func testReturns407WithoutValidCredentials() async throws {
        let proxy = try ProxyServer(user: "ada", password: "pw")
        let without = await client(.http(proxy.address)).data.get("a").sender().response
        XCTAssertEqual(without.status, 407)
        XCTAssertEqual(without.head?.headers["Proxy-Authenticate"], #"Basic realm="proxy""#)
        let wrong = await client(.http(proxy.address, user: "ada", password: "no")).data.get("a").sender().response
        XCTAssertEqual(wrong.status, 407)
        XCTAssertEqual(server.requestCount, 0)
    }

    func testAnswersDigestAndResendsBody() async throws {
        let proxy = try ProxyServer(user: "ada", password: "pw", methods: ["digest", "basic"])
        let selection = ProxySelection.always(
            .http(proxy.address, user: "ada", password: "pw", methods: [.basic, .digest])
        )
        let client = client(selection)
        let body = Data((0..<300_000).map { UInt8(truncatingIfNeeded: $0) })
        server.on("/put") { .data($0.body) }
        for round in 1...3 {
            let back = try await client.data.put("put").data(body).sender().value
            XCTAssertEqual(back, body, "round \(round)")
        }
        let visits = try await proxy.visits
        XCTAssertTrue(visits.allSatisfy { $0.headers["proxy-authorization"]?.hasPrefix("Basic") != true })
        XCTAssertEqual(server.requests(to: "/put").count, 3)
        let wrong = ProxySelection.always(.http(proxy.address, user: "ada", password: "no", methods: .digest))
        let refused = await self.client(wrong).data.get("a").sender().response
        XCTAssertEqual(refused.status, 407)
    }

    func testServerCredentialsWorkThroughProxy() async throws {
        server.on("/private") { request in
            request.headers[.authorization] == "Basic YWRhOnB3"
                ? .text("in") : .status(.unauthorized, headers: ["WWW-Authenticate": #"Basic realm="x""#])
        }
        for methods in [ChallengeCredentials.Methods.basic, [.basic, .digest]] {
            let proxy = try ProxyServer(user: "eve", password: "x", methods: ["digest", "basic"])
            let client = client(.always(.http(proxy.address, user: "eve", password: "x", methods: methods)))
            let request = client.string.get("private").credentials(ChallengeCredentials(user: "ada", password: "pw"))
            let text = try await request.sender().value
            XCTAssertEqual(text, "in")
        }
    }

    func testCredentialsAreNotUsedByOtherClients() async throws {
        let proxy = try ProxyServer(user: "ada", password: "pw")
        let clients = [
            client(.http(proxy.address, user: "ada", password: "pw")), client(.http(proxy.address)),
            client(.http(proxy.address, user: "eve", password: "x")),
        ]
        var statuses: [HTTPStatus?] = []
        for _ in 0..<3 {
            for client in clients { statuses.append(await client.data.get("a").sender().response.status) }
        }
        XCTAssertEqual(statuses, Array(repeating: [200, 407, 407], count: 3).flatMap { $0 })
    }

    func testOneTransportSeparatesProxiesAndDirectConnections() async throws {
        let proxies = try [ProxyServer(), ProxyServer()]
        let transport = SocketTransport()
        let selections = [ProxySelection.none, .http(proxies[0].address), .http(proxies[1].address)]
        for _ in 0..<3 {
            for selection in selections {
                var context = TransferContext()
                context.connection.proxy = selection
                let request = HTTPRequest(scheme: "http", authority: server.authority, path: "/a")
                let response = try await transport.send(request, context: context)
                _ = try await response.body.collect()
            }
        }
        XCTAssertEqual(server.requestCount, 9)
        for proxy in proxies {
            let visits = try await proxy.visits
            XCTAssertEqual(visits.count, 3)
        }
    }

    func testUnreachableProxyIsProxyFailure() async throws {
        let port = try RealServer.freePort()
        let error = await failure(of: client(.http("127.0.0.1:\(port)")))
        XCTAssertEqual(error?.code, .proxyFailed)
        XCTAssertEqual(
            error?.reason,
            "The connection to the proxy at 127.0.0.1:\(port) could not be established: connection refused."
        )
        let unknown = await failure(of: client(.http("no-such-proxy.invalid:3128")))
        XCTAssertEqual(unknown?.code, .proxyFailed)
        XCTAssertEqual(server.requestCount, 0)
    }

    func testExceptionsBypassProxy() async throws {
        let proxy = try ProxyServer()
        let client = client(.always(.http(proxy.address), except: ["127.0.0.1"]), host: "127.0.0.1")
        _ = try await client.data.get("a").sender().value
        let visits = try await proxy.visits
        XCTAssertEqual(visits, [])
    }

    func testUsesEnvironmentAndRejectsInvalidVariable() async throws {
        let proxy = try ProxyServer()
        let environment = ["http_proxy": "http://\(proxy.address)", "no_proxy": "inside.test"]
        let echo = try await client(.environment(environment)).codable.get("a", as: LoopbackEcho.self).sender().value
        XCTAssertEqual(echo.target, "/a")
        let visits = try await proxy.visits
        XCTAssertEqual(visits.count, 1)
        // The request would also have succeeded through the proxy.
        let direct = APIClient(baseURL: "http://inside.test:\(server.port)") {
            $0.connection.proxy = .environment(environment)
            $0.connection.hostAddresses["inside.test"] = [IPAddress(127, 0, 0, 1)]
        }
        _ = try await direct.data.get("a").sender().value
        let later = try await proxy.visits
        XCTAssertEqual(later, visits)
        XCTAssertEqual(server.requestCount, 2)
        let error = await failure(of: client(.environment(["http_proxy": "http://:x"])))
        XCTAssertEqual(error?.code, .invalidConfiguration)
    }

    private func failure(of client: APIClient) async -> SluiceError? {
        guard case .failure(let error) = await client.data.get("a").sender().result else { return nil }
        return error.error
    }
}
#endif

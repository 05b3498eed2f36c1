#if os(Linux)
import Foundation
import Sluice
import SluiceEngine
import SluiceTesting
import XCTest

/// The HTTP version of connections.
final class HTTPVersionTests: XCTestCase {
    private var nginx: Nginx!
    private var network: NetworkNginx!

    override func setUpWithError() throws {
        try XCTSkipUnless(Nginx.canRun && NetworkNginx.canRun, "nginx or openssl is not installed")
        nginx = try Nginx()
        network = try NetworkNginx()
    }

    override func tearDown() {
        nginx = nil
        network = nil
    }

    private var http2URL: String { "http://127.0.0.1:\(network.http2Port)" }

    private func client(_ url: String, _ version: HTTPVersionPolicy) -> APIClient {
        APIClient(baseURL: url) {
            $0.connection.tls.trust = .only(.file(nginx.certificateFile))
            $0.connection.httpVersion = version
        }
    }

    func testUsesChosenVersion() async throws {
        for (url, choice, version) in [
            (nginx.http2URL, HTTPVersionPolicy.automatic, HTTPVersion.http2), (nginx.http2URL, .http1, .http1_1),
            (nginx.http2URL, .http2PriorKnowledge, .http2), (nginx.tlsURL, .automatic, .http1_1),
            (nginx.tlsURL, .http1, .http1_1), (nginx.plainURL, .automatic, .http1_1),
            (nginx.plainURL, .http1, .http1_1),
        ] {
            let response = await client(url, choice).data.get("user.json").sender().response
            XCTAssertEqual(response.status, .ok, "\(url) \(choice)")
            XCTAssertEqual(response.head?.version, version, "\(url) \(choice)")
        }
    }

    func testPriorKnowledgeUsesHTTP2WithoutTLS() async throws {
        let client = client(http2URL, .http2PriorKnowledge)
        for method in [HTTPMethod.get, .post] {
            let response = await client.string.request("echo").method(method).sender().response
            XCTAssertEqual(try response.result.get(), "\(method) 127.0.0.1 HTTP/2.0")
            XCTAssertEqual(response.head?.version, .http2)
        }
    }

    /// Returns the connections that a number of requests used, some of them concurrent.
    private func connections(of count: Int, atOnce: Int, by client: APIClient) async -> Set<String?> {
        await withTaskGroup(of: String?.self) { group in
            let send: @Sendable () async -> String? = {
                await client.data.get("echo").sender().response.head?.headers["X-Connection"]
            }
            for _ in 0..<atOnce { group.addTask(operation: send) }
            var connections: Set<String?> = []
            for _ in atOnce..<count {
                if let connection = await group.next() { connections.insert(connection) }
                group.addTask(operation: send)
            }
            return await group.reduce(into: connections) { $0.insert($1) }
        }
    }

    func testRequestsWithoutTLSShareConnection() async throws {
        let client = client(http2URL, .http2PriorKnowledge)
        let together = await connections(of: 100, atOnce: 100, by: client)
        XCTAssertEqual(together.count, 1)
        let inTurn = await connections(of: 10, atOnce: 1, by: client)
        XCTAssertEqual(inTurn, together)
    }

    func testRequestsWithoutTLSSurviveClosedConnections() async throws {
        // nginx closes a connection after 1,000 requests.
        let connections = await connections(of: 2500, atOnce: 64, by: client(http2URL, .http2PriorKnowledge))
        XCTAssertFalse(connections.contains(nil))
        XCTAssertGreaterThan(connections.count, 2)
        XCTAssertLessThan(connections.count, 10)
    }

    func testOtherClientsDoNotUsePriorKnowledgeConnection() async throws {
        _ = try await client(http2URL, .http2PriorKnowledge).data.get("echo").sender().value
        // Uses HTTP/1.1, which this server does not support.
        guard case .failure = await client(http2URL, .automatic).data.get("echo").sender().result else {
            return XCTFail("The request used the connection of the other client.")
        }
    }

    func testUsesEveryVersionConcurrentlyOverTLS() async throws {
        let clients = [HTTPVersionPolicy.http1, .automatic, .http2PriorKnowledge].map { client(nginx.http2URL, $0) }
        await withTaskGroup(of: Void.self) { group in
            for turn in 0..<300 {
                group.addTask {
                    let response = await clients[turn % 3].string.get("user.json").sender().response
                    XCTAssertEqual(try? response.result.get(), #"{"id":1,"name":"Ada"}"#)
                    XCTAssertEqual(response.head?.version, turn % 3 == 0 ? .http1_1 : .http2)
                }
            }
        }
    }

    func testEachChoiceHasItsOwnConnectionOverTLS() async throws {
        let clients = [HTTPVersionPolicy.automatic, .http2PriorKnowledge].map { client(nginx.http2URL, $0) }
        var connections: Set<String?> = []
        for turn in 0..<20 {
            let response = await clients[turn % 2].data.get("user.json").sender().response
            XCTAssertEqual(response.head?.version, .http2)
            connections.insert(response.head?.headers["X-Connection"])
        }
        XCTAssertEqual(connections.count, 2)
        XCTAssertFalse(connections.contains(nil))
    }

    func testUnixSocketRequestsShareHTTP2Connection() async throws {
        let client = APIClient(baseURL: "http://stock.test") {
            $0.connection.unixSocket = network.http2Socket
            $0.connection.httpVersion = .http2PriorKnowledge
        }
        let connections = await connections(of: 50, atOnce: 1, by: client)
        XCTAssertFalse(connections.contains(nil))
        XCTAssertEqual(connections.count, 1)
    }

    func testHTTPProxyDoesNotSupportHTTP2WithoutTLS() async throws {
        let client = APIClient(baseURL: "http://stock.test") {
            $0.connection.proxy = .http("127.0.0.1:9")
            $0.connection.httpVersion = .http2PriorKnowledge
        }
        let error = await client.data.get("a").sender().response.failure
        XCTAssertEqual(error?.code, .unsupported)
    }

    func testOneTransportAlternatesVersions() async throws {
        let transport = SocketTransport()
        for _ in 0..<2 {
            for (choice, version) in [
                (HTTPVersionPolicy.http1, HTTPVersion.http1_1), (.http2PriorKnowledge, .http2),
            ] {
                var context = TransferContext()
                context.connection.tls.trust = .only(.file(nginx.certificateFile))
                context.connection.httpVersion = choice
                let authority = "localhost:\(nginx.http2Port)"
                let request = HTTPRequest(scheme: "https", authority: authority, path: "/user.json")
                let response = try await transport.send(request, context: context)
                XCTAssertEqual(response.head.version, version, "\(choice)")
                _ = try await response.body.collect()
            }
        }
    }

    func testPriorKnowledgeFailsIfServerLacksHTTP2() async throws {
        guard
            case .failure(let error) = await client(nginx.plainURL, .http2PriorKnowledge).data.get("user.json").sender()
                .result
        else { return XCTFail("The request did not fail.") }
        XCTAssertTrue([.connectionLost, .invalidResponse].contains(error.code), "\(error.error.expandedDescription)")
    }

    func testDoesNotUseIdleHTTP1ConnectionForHTTP2() async throws {
        let server = try LoopbackServer()
        server.on("*", .text("ok"))
        _ = try await client(server.url, .http1).data.get("a").sender().value
        guard case .failure = await client(server.url, .http2PriorKnowledge).data.get("a").sender().result else {
            return XCTFail("The request did not fail.")
        }
        // The connection that was idle is used again.
        _ = try await client(server.url, .http1).data.get("a").sender().value
        XCTAssertEqual(server.requests(to: "/a").map(\.connection).count, 2)
        XCTAssertEqual(Set(server.requests(to: "/a").map(\.connection)).count, 1)
    }

    func testAnswersBasicChallengeInChosenVersion() async throws {
        let bytes = Data(repeating: 1, count: 300_000)
        for (choice, version) in [(HTTPVersionPolicy.http1, HTTPVersion.http1_1), (.http2PriorKnowledge, .http2)] {
            let request = client(nginx.http2URL, choice).data.put("private/\(UUID().uuidString)").data(bytes)
                .credentials(ChallengeCredentials(user: "ada", password: "pw", methods: .basic))
            let response = await request.sender().response
            XCTAssertEqual(response.status, .created)
            XCTAssertEqual(response.head?.version, version)
        }
    }
}
#endif

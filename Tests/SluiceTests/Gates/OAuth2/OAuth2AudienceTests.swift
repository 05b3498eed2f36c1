import Foundation
import Sluice
import SluiceTesting
import XCTest

/// The servers that receive a token, and those that do not.
final class OAuth2AudienceTests: XCTestCase {
    /// Returns a server that reports the token of each request.
    private func openServer() throws -> LoopbackServer {
        let server = try LoopbackServer()
        server.on("*") { .text($0.headers.values(for: .authorization).joined(separator: "|")) }
        server.on("/*") { .text($0.headers.values(for: .authorization).joined(separator: "|")) }
        return server
    }

    func testSendsTokenToOriginOfBaseURLOnly() async throws {
        let guarded = try GuardedServer()
        let other = try openServer()
        let client = guarded.client(guarded.gate())
        let sentToOtherURL = try await client.string.get("\(other.url)/x").sender().value
        XCTAssertEqual(sentToOtherURL, "")
        XCTAssertEqual(guarded.tokenRequests.count, 0)
        let sentToOtherHost = try await client.string.get("x").host(other.authority).sender().value
        XCTAssertEqual(sentToOtherHost, "")
        let here = try await client.string.get("x").sender().value
        XCTAssertEqual(here, "Bearer t1")
    }

    func testClientWithoutBaseURLNeedsOrigins() async throws {
        let guarded = try GuardedServer()
        let url = "\(guarded.server.url)/api/x"
        let refused = await APIClient { $0.gates = [guarded.gate()] }.get(url)
        XCTAssertEqual(refused.failure?.authorizationError?.code, .unsupported)
        XCTAssertEqual(guarded.server.requestCount, 0)
        let gate = guarded.gate { $0.origins = [guarded.server.url] }
        let carried = try await APIClient { $0.gates = [gate] }.string.get(url).sender().value
        XCTAssertEqual(carried, "Bearer t1")
    }

    func testCrossOriginRedirectGetsNoTokenAndCausesNoRefresh() async throws {
        let guarded = try GuardedServer()
        let other = try openServer()
        guarded.server.on("/api/away", .redirect(to: "\(other.url)/x"))
        other.on("/closed", .status(.unauthorized))
        guarded.server.on("/api/closed", .redirect(to: "\(other.url)/closed"))
        guarded.server.on("/api/near", .redirect(to: "/api/x"))
        let client = guarded.client(guarded.gate())
        let away = try await client.string.get("away").sender().value
        XCTAssertEqual(away, "")
        let near = try await client.string.get("near").sender().value
        XCTAssertEqual(near, "Bearer t1")
        let closed = await client.get("closed")
        XCTAssertEqual(closed.failure?.status, .unauthorized)
        XCTAssertEqual(guarded.tokenRequests.count, 1)
        XCTAssertEqual(other.requests(to: "/closed").count, 1)
    }

    func testSendsNoTokenToOriginSetByInterceptor() async throws {
        struct Detour: RequestAdapter {
            let authority: String
            func adapt(_ request: inout HTTPRequest, context: RequestContext) { request.authority = authority }
        }
        let guarded = try GuardedServer()
        let other = try openServer()
        let request = guarded.client(guarded.gate()).string.get("x").intercept(Detour(authority: other.authority))
        let carried = try await request.sender().value
        XCTAssertEqual(carried, "")
    }

    func testKeepsAuthorizationFieldOfRequest() async throws {
        struct Own: RequestAdapter {
            func adapt(_ request: inout HTTPRequest, context: RequestContext) {
                request.headers[.authorization] = "Custom intercepted"
            }
        }
        let guarded = try GuardedServer()
        let client = guarded.client(guarded.gate())
        let own = try await client.string.get("x").header("authorization", "Custom own").sender().value
        XCTAssertEqual(own, "Custom own")
        XCTAssertEqual(guarded.tokenRequests.count, 0)
        let intercepted = try await client.string.get("x").intercept(Own()).sender().value
        XCTAssertEqual(intercepted, "Custom intercepted")
        guarded.refused.change { _ = $0.insert("Custom own") }
        let refused = await client.string.get("x").header("authorization", "Custom own").sender().result
        XCTAssertEqual(refused.failure?.status, .unauthorized)
        XCTAssertEqual(guarded.tokenRequests.count, 1)
    }

    func testTwoGatesServeTheirOwnOrigins() async throws {
        let guarded = try GuardedServer()
        let other = try openServer()
        other.on(.post, "/token", .token("other"))
        let first = guarded.gate {
            $0.name = "first"
            $0.origins = [guarded.server.url]
        }
        let second = OAuth2(.clientCredentials(id: "i", secret: "s"), tokenURL: "\(other.url)/token") {
            $0.name = "second"
            $0.origins = ["\(other.url)/ignored?path"]
        }
        let client = guarded.client(first, second)
        let here = try await client.string.get("x").sender().value
        let there = try await client.string.get("\(other.url)/y").sender().value
        XCTAssertEqual([here, there], ["Bearer t1", "Bearer other"])
    }

    func testRefusesPlainHTTPUnlessOriginIsListedOrLoopback() async throws {
        struct Recording: Transport {
            let seen: Shared<[String?]>
            func send(_ request: HTTPRequest, context: TransferContext) async throws(SluiceError) -> TransportResponse {
                if request.authority == "id.example" {
                    let body = ResponseBody(Data(#"{"access_token":"t","token_type":"bearer"}"#.utf8))
                    return TransportResponse(head: HTTPResponse(status: .ok), body: body)
                }
                seen.change { $0.append(request.headers[.authorization]) }
                return TransportResponse(head: HTTPResponse(status: .ok), body: ResponseBody())
            }
        }
        let seen = Shared<[String?]>([])
        func client(
            _ url: String,
            _ origins: [String]?,
            _ connection: ConnectionOptions = ConnectionOptions()
        ) -> APIClient {
            APIClient(baseURL: url) {
                $0.transport = Recording(seen: seen)
                $0.connection = connection
                $0.gates = [
                    OAuth2(.clientCredentials(id: "i", secret: "s"), tokenURL: "https://id.example/token") {
                        $0.origins = origins
                    }
                ]
            }
        }
        let plain = await client("http://api.example", nil).get("x")
        XCTAssertEqual(plain.failure?.code, .authorizationFailed)
        XCTAssertEqual(plain.oauth2?.code, .unsupported)
        XCTAssertEqual(plain.failure?.error.step, .gate)
        XCTAssertEqual(seen.read, [])
        for (url, origins, expected) in [
            ("http://api.example", ["http://api.example"], "Bearer t"), ("https://api.example", nil, "Bearer t"),
            ("https://api.example", ["HTTPS://API.example:443"], "Bearer t"),
            ("https://api.example", ["http://api.example"], nil), ("https://api.example", ["https://example"], nil),
            ("https://api.example:8443", ["https://api.example"], nil), ("https://api.example", [], nil),
            ("http://localhost:1", nil, "Bearer t"), ("http://[::1]:1", nil, "Bearer t"),
            ("http://127.9.9.9", nil, "Bearer t"), ("http://[::ffff:127.0.0.1]", nil, "Bearer t"),
        ] as [(String, [String]?, String?)] {
            _ = await client(url, origins).get("x")
            XCTAssertEqual(seen.read.last, .some(expected), "\(url) \(origins ?? [])")
        }
        let count = seen.read.count
        for url in ["http://127.0.0.1.example", "http://localhost.example", "http://127.0.0", "http://1270.0.0.1"] {
            let result = await client(url, nil).get("x")
            XCTAssertEqual(result.oauth2?.code, .unsupported, url)
        }
        for connection in ConnectionOptions.leadingElsewhere {
            let result = await client("http://localhost", nil, connection).get("x")
            XCTAssertEqual(result.oauth2?.code, .unsupported, "\(connection)")
        }
        let invalid = await client("https://api.example", ["api.example"]).get("x")
        XCTAssertEqual(invalid.oauth2?.code, .unsupported)
        XCTAssertEqual(seen.read.count, count)
    }
}

import Foundation
import SluiceHTTP
import SluiceTesting
import XCTest

@testable import Sluice

/// Requests to forbidden addresses fail, for every host name that resolves to them.
final class AddressGuardTests: XCTestCase {
    private func failure(_ client: APIClient, _ url: String) async -> SluiceError? {
        await client.data.get(url).sender().response.failure
    }

    // URLSession cannot check an address before it connects, so these options are for Linux.
    #if os(Linux)
    func testPublicOnlyRefusesPrivateAddressesInAnyNotation() async throws {
        let server = try LoopbackServer()
        let port = try XCTUnwrap(server.authority.split(separator: ":").last)
        let guarded = APIClient(baseURL: "http://public.example") { $0.connection.addresses = .publicOnly }
        for host in [
            "127.0.0.1", "localhost", "127.1", "0x7f000001", "2130706433", "0177.0.0.1", "[::1]", "[::ffff:127.0.0.1]",
            "0.0.0.0", "a.localhost", "10.0.0.1", "169.254.169.254", "[fe80::1]", "224.0.0.1",
        ] {
            let error = await failure(guarded, "http://\(host):\(port)/")
            XCTAssertEqual(error?.code, .addressRefused, "\(host): \(error?.description ?? "")")
            XCTAssertFalse(try XCTUnwrap(error).description.contains("::1") && host == "localhost")
        }
        XCTAssertEqual(server.connections, 0)
    }

    func testNameThatResolvesToALoopbackAddressIsRefused() async throws {
        let server = try LoopbackServer()
        let client = APIClient(baseURL: "http://public.example:\(server.port)") {
            $0.connection.addresses = .publicOnly
            $0.connection.hostAddresses["public.example"] = [IPAddress(127, 0, 0, 1)]
        }
        let error = await failure(client, "/")
        XCTAssertEqual(error?.code, .addressRefused)
        XCTAssertEqual(server.connections, 0)
    }

    func testConnectionOfAnUnrestrictedClientIsNotReused() async throws {
        let server = try LoopbackServer()
        server.on("/", .text("ok"))
        let unrestricted = APIClient(baseURL: server.url)
        let guarded = APIClient(baseURL: server.url) { $0.connection.addresses = .publicOnly }
        for count in 1...3 {
            let text = try await unrestricted.string.get("/").sender().value
            XCTAssertEqual(text, "ok")
            let error = await failure(guarded, server.url)
            XCTAssertEqual(error?.code, .addressRefused)
            XCTAssertEqual(server.requests.count, count)
        }
    }

    func testAddressRulesApplyToRedirects() async throws {
        let server = try LoopbackServer()
        let port = try XCTUnwrap(server.authority.split(separator: ":").last)
        let client = try APIClient(baseURL: server.url) {
            $0.connection.addresses = try .publicOnly.allowing("127.0.0.1")
        }
        server.on("/ok", .text("ok"))
        server.on("/in", .redirect(to: "/ok"))
        for target in ["http://127.0.0.2:\(port)/ok", "http://169.254.169.254/latest", "http://[::1]:\(port)/ok"] {
            server.on("/out", .redirect(to: target))
            let error = await failure(client, "\(server.url)/out")
            XCTAssertEqual(error?.code, .addressRefused, target)
        }
        let text = try await client.string.get("in").sender().value
        XCTAssertEqual(text, "ok")
    }

    func testRefusedAddressesAreSkippedIfOthersAreAllowed() async throws {
        let server = try LoopbackServer()
        server.on("/", .text("ok"))
        // A server listens at the first address, which would be tried first.
        let listener = try XCTUnwrap(SilentServer(address: "127.0.0.2", port: server.port))
        let addresses = [IPAddress(127, 0, 0, 2), IPAddress(127, 0, 0, 1)]
        let client = try APIClient(baseURL: "http://several.example:\(server.port)") {
            $0.connection.addresses = try .any.denying("127.0.0.2")
            $0.connection.hostAddresses["several.example"] = addresses
        }
        let text = try await client.string.get("/").sender().value
        XCTAssertEqual(text, "ok")
        XCTAssertFalse(listener.hasConnection)
        // Without the restriction, the client connects to it. The other host name prevents reuse of the existing connection.
        let unrestricted = APIClient(baseURL: "http://others.example:\(server.port)") {
            $0.connection.hostAddresses["others.example"] = addresses
        }
        let request = Task { await unrestricted.data.get("/").sender().response.failure }
        await eventually { listener.hasConnection }
        request.cancel()
        _ = await request.value
    }

    func testRefusedAddressIsNotRetried() async throws {
        let observer = NotingObserver([.retrying, .finished])
        let client = APIClient(baseURL: "http://127.0.0.1:1") {
            $0.connection.addresses = .publicOnly
            $0.retry = RetryPolicy(backoff: .constant(.zero))
            $0.observers = [observer]
        }
        let error = await failure(client, "http://127.0.0.1:1/")
        XCTAssertEqual(error?.code, .addressRefused)
        await client.observersCaughtUp()
        XCTAssertEqual(observer.events, ["0 finished addressRefused"])
    }
    #endif

    func testHostsOutsideTheAllowListAreRefused() async throws {
        let server = try LoopbackServer()
        server.on("/ok", .text("ok"))
        let client = APIClient(baseURL: server.url) { $0.connection.hosts = HostRules(allowing: ["127.0.0.1"]) }
        let port = try XCTUnwrap(server.authority.split(separator: ":").last)
        server.on("/out", .redirect(to: "http://localhost:\(port)/ok"))
        let text = try await client.string.get("ok").sender().value
        XCTAssertEqual(text, "ok")
        for url in ["http://localhost:\(port)/ok", "\(server.url)/out"] {
            let error = await failure(client, url)
            XCTAssertEqual(error?.code, .hostRefused)
        }
        XCTAssertEqual(server.requests.map(\.path), ["/ok", "/out"])
    }

    func testDeniedAddressIsRefusedInAnyNotation() async throws {
        let server = try LoopbackServer()
        let client = APIClient(baseURL: server.url) { $0.connection.hosts = HostRules(denying: ["127.0.0.1"]) }
        for host in ["127.0.0.1", "127.1", "0x7f000001", "2130706433", "0177.0.0.1", "[::ffff:127.0.0.1]"] {
            let error = await failure(client, "http://\(host):\(server.port)/")
            XCTAssertEqual(error?.code, .hostRefused, host)
        }
        XCTAssertTrue(server.requests.isEmpty)
    }

    func testInterceptorCannotChangeTheHostThroughThePath() async throws {
        struct Path: RequestInterceptor {
            let path: String
            let authority: String?

            func intercept(_ request: HTTPRequest, context: RequestContext) async throws -> HTTPRequest {
                var request = request
                request.path = path
                if let authority { request.authority = authority }
                return request
            }
        }
        let server = try LoopbackServer()
        for (path, authority) in [
            (".evil.example/x", nil), (":8443/x", nil), ("", nil), ("/a b", nil), ("/a\0", nil), ("/\r\nX: y", nil),
            ("/", "evil.example/.allowed.example"), ("/", "user@127.0.0.1"), ("/", "a b"),
            // Some URL parsers accept three slashes for two, or decode host names.
            ("/\(server.authority)/x", ""), ("/", "%31%32%37.0.0.1:\(server.port)"), ("/", ":\(server.port)"),
        ] {
            let client = APIClient(baseURL: server.url) {
                $0.requestInterceptors = [Path(path: path, authority: authority)]
            }
            let error = await failure(client, server.url)
            XCTAssertEqual(error?.code, .invalidURL, "\(path) \(authority ?? "")")
        }
        XCTAssertTrue(server.requests.isEmpty)
    }

    #if os(Linux)
    func testAddressRulesApplyToTokenRequests() async throws {
        let server = try LoopbackServer()
        server.on("/token", .json(#"{"access_token":"t","token_type":"Bearer"}"#))
        let oauth = OAuth2(.clientCredentials(id: "i", secret: "s"), tokenURL: "\(server.url)/token") {
            $0.origins = ["http://api.example"]
        }
        let client = APIClient(baseURL: "http://api.example") {
            $0.gates = [oauth]
            $0.connection.addresses = .publicOnly
        }
        let failure = await client.data.get("/").sender().result.failure?.error
        let cause = failure?.authorizationError
        XCTAssertEqual(cause?.code, .unreachable)
        XCTAssertEqual((cause?.underlyingError as? SluiceError)?.code, .addressRefused)
        XCTAssertEqual(server.connections, 0)
    }
    #endif

    func testDeniedHostsAreRefusedWithoutAnAllowList() async throws {
        let client = APIClient(baseURL: "http://api.example") {
            $0.connection.hosts = HostRules(denying: ["*.internal", "LOCALHOST"])
            $0.stub = .text("ok")
            $0.stubMode = .immediate
        }
        for (url, isRefused) in [
            ("http://a.internal/", true), ("http://localhost:8080/", true), ("http://internal/", false),
            ("http://api.example/", false),
        ] {
            let error = await failure(client, url)
            XCTAssertEqual(error?.code == .hostRefused, isRefused, url)
        }
    }
}

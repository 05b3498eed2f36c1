import Foundation
import Sluice
import SluiceTesting
import XCTest

/// The article on interceptors, credentials and redirects.
final class InterceptorsGuideTests: XCTestCase {
    struct Tenant: RequestAdapter {
        let id: String

        func adapt(_ request: inout HTTPRequest, context: RequestContext) {
            request.headers["X-Tenant"] = id
        }
    }

    struct Signed: RequestInterceptor {
        let vault: Vault

        func intercept(_ request: HTTPRequest, context: RequestContext) async throws -> HTTPRequest {
            if context.tags.contains("unsigned") { return request }
            var request = request
            request.headers["X-Signature"] = try await vault.signature(of: request.path)
            return request
        }
    }

    struct SlowReports: RequestAdapter {
        func adapt(_ request: inout HTTPRequest, context: RequestContext) {
            if context.tags.contains("report") { request.setTimeouts(idle: .seconds(120)) }
        }
    }

    struct Signatures: RequestAdapter {
        func adapt(_ request: inout HTTPRequest, context: RequestContext) {
            request.headers["Signature-Input"] = "sig1=()"
            request.headers.append("Signature-Input", "sig2=()")
        }
    }

    struct Localized: RequestAdapter {
        func adapt(_ request: inout HTTPRequest, context: RequestContext) {
            request.headers["Accept-Language"] = "en"
            request.addQuery("units", "metric")
            for field in request.headers { print(field.name, field.value) }
        }
    }

    struct Quota: Plugin {
        func didReceive(_ outcome: TransportOutcome, context: RequestContext) {
            if outcome.status == .tooManyRequests {
                print("\(context.route): attempt \(context.attempt) was one too many")
            }
            guard let response = try? outcome.get() else { return }
            print(response.head.headers["X-Quota-Left"] ?? "", response.body.count)
        }
    }

    struct Maintenance: OutcomeAdapter {
        func adapt(_ outcome: inout TransportOutcome, context: RequestContext) {
            guard case .success(let response) = outcome, response.head.headers.contains("X-Maintenance") else { return }
            let error = SluiceError(.validationFailed, "The service is in maintenance.", request: response.request)
            outcome = .failure(error)
        }
    }

    actor Vault {
        func token() async throws -> String { "v4ult" }
        func signature(of path: String) async throws -> String { "signed \(path)" }
    }

    func testRequestInterceptors() async throws {
        let server = try LoopbackServer()
        server.on("/*", .text("fine"))
        let shop = APIClient(baseURL: server.url) {
            $0.requestInterceptors = [
                UserAgent(product: "acme", version: "1.0"),
                BearerToken("t0k3n") { !$0.tags.contains("public") },
                IdempotencyKey(),
                TraceParent(),
                CompressBody(),
            ]
        }
        let order = shop.data.post("orders").json(["item": 17]).intercept(Tenant(id: "t1"))
        let prices = shop.data.get("prices").tags("public")
        _ = try await prices.sender().value
        let incoming = TraceContext(traceparent: "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01")
        try await TraceContext.$current.withValue(incoming) {
            _ = try await order.sender().value
        }
        let sent = server.requests.map(\.headers)
        XCTAssertEqual(sent.map { $0[.authorization] }, [nil, "Bearer t0k3n"])
        XCTAssertEqual(sent.map { $0["X-Tenant"] }, [nil, "t1"])
        XCTAssertEqual(sent.map { $0.contains("Idempotency-Key") }, [false, true])
        XCTAssertTrue(sent.allSatisfy { $0[.userAgent]?.hasPrefix("acme/1.0 (") == true })
        XCTAssertEqual(
            sent.last?["traceparent"]?.prefix(36),
            "00-4bf92f3577b34da6a3ce929d0e0e4736-"
        )
        _ = try await prices.intercept(Signatures()).sender().value
        XCTAssertEqual(server.requests.last?.headers.values(for: "Signature-Input"), ["sig1=()", "sig2=()"])
        XCTAssertNotEqual(sent.first?["traceparent"]?.prefix(36), sent.last?["traceparent"]?.prefix(36))
    }

    func testRequestsThatOptOut() async throws {
        let server = try LoopbackServer()
        server.on("/*", .text("fine"))
        let vault = Vault()
        let careful = APIClient(baseURL: server.url) {
            $0.requestInterceptors = [
                Signed(vault: vault),
                BearerToken("t0k3n", when: { !$0.tags.contains("public") }),
                SuppliedToken(header: "X-Session") { context in
                    if context.tags.contains("public") { return nil }
                    return try await vault.token()
                },
            ]
        }
        let catalogue = careful.string.get("catalogue").tags("unsigned", "public")
        _ = try await catalogue.sender().value
        _ = try await careful.string.get("orders").sender().value
        let sent = server.requests.map(\.headers)
        XCTAssertEqual(sent.map { $0["X-Signature"] }, [nil, "signed /orders"])
        XCTAssertEqual(sent.map { $0[.authorization] }, [nil, "Bearer t0k3n"])
        XCTAssertEqual(sent.map { $0["X-Session"] }, [nil, "Bearer v4ult"])
        let request = try careful.data.get("a").headers(["X-A": "a", "Accept": "b"]).httpRequest()
        let text = "X-\(sent.count)"
        var copy = HTTPHeaders()
        for field in request.headers where field.name.rawValue.hasPrefix("X-") { copy.append(field.name, field.value) }
        copy[HTTPHeaderName(text)] = "1"
        XCTAssertEqual(copy, ["X-A": "a", "X-2": "1"])
    }

    func testMembersOfRequestsAndOutcomes() async throws {
        let server = try LoopbackServer()
        server.on("/weather", .status(.tooManyRequests, headers: ["X-Quota-Left": "0"]), .text("mild"))
        let weather = APIClient(baseURL: server.url) {
            $0.requestInterceptors = [Localized()]
            $0.plugins = [Quota()]
        }
        let request = weather.string.get("weather").query("city", "Bern")
        let status = await request.sender().result.failure?.status
        XCTAssertEqual(status, .tooManyRequests)
        let text = try await request.sender().value
        XCTAssertEqual(text, "mild")
        XCTAssertEqual(server.requests.map(\.query), ["city=Bern&units=metric", "city=Bern&units=metric"])
        XCTAssertEqual(server.requests.first?.headers["Accept-Language"], "en")
    }

    func testScopes() async throws {
        let server = try LoopbackServer()
        server.on("/echo", .echo)
        let vault = Vault()
        let key = CustomToken("k3y", header: "X-API-Key", scope: .origins("https://api.example.com"))
        let vaulted = SuppliedToken { _ in try await vault.token() }
        let basic = BasicCredentials(user: "ada", password: "l0velace", scope: .origins("https://files.example.com"))
        let client = APIClient(baseURL: server.url) { $0.requestInterceptors = [key, vaulted, basic] }
        let echo: LoopbackEcho = try await client.codable.get("echo").sender().value
        XCTAssertEqual(echo.values(for: "X-API-Key"), [])
        XCTAssertEqual(echo.values(for: .authorization), ["Bearer v4ult"])
    }

    func testResponseInterceptors() async throws {
        let server = try LoopbackServer()
        server.on("/", .text("", headers: ["X-Maintenance": "1"]))
        let client = APIClient(baseURL: server.url) { $0.responseInterceptors = [Maintenance()] }
        let error = await client.data.get("").sender().result.failure
        XCTAssertEqual(error?.error.reason, "The service is in maintenance.")
    }

    func testSecrets() async throws {
        let server = try LoopbackServer()
        server.on("/", .echo)
        let secrets = FileManager.default.temporaryDirectory.appending(path: "sluice-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: secrets, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: secrets) }
        try Data("s3cret\n".utf8).write(to: secrets.appending(path: "archive_password"))
        let token = Secret(environment: "SHOP_TOKEN") ?? "t0k3n"
        let password = try await Secret(contentsOf: secrets.appending(path: "archive_password"))
        let vault = APIClient(baseURL: server.url) {
            $0.requestInterceptors = [BearerToken(token)]
            $0.credentials = ChallengeCredentials(user: "ada", password: password)
        }
        print(token)  // REDACTED
        let echo: LoopbackEcho = try await vault.codable.get("").sender().value
        XCTAssertEqual(echo.values(for: .authorization), ["Bearer \(token.reveal())"])
        XCTAssertEqual(vault.configuration.credentials?.password, "s3cret")
        XCTAssertEqual("\(token) \(password)", "REDACTED REDACTED")
    }

    func testChallenges() async throws {
        let server = try LoopbackServer()
        server.on("/*") { request in
            request.headers[.authorization] == "Basic YWRhOnMzY3JldA=="
                ? .text("in") : .status(.unauthorized, headers: ["WWW-Authenticate": "Basic realm=x"])
        }
        let archive = APIClient(baseURL: server.url) {
            $0.credentials = ChallengeCredentials(user: "ada", password: "s3cret")
        }
        let page = archive.string.get("private")
        let open = archive.string.get("public").credentials(nil)
        let text = try await page.sender().value
        let status = await open.sender().response.status
        XCTAssertEqual(text, "in")
        XCTAssertEqual(status, .unauthorized)
    }

    func testRedirects() async throws {
        let server = try LoopbackServer()
        server.on("/old", .redirect(to: "/new"))
        server.on("/away", .redirect(to: "http://127.0.0.1:1/"))
        server.on("/new", .text("new"))
        let careful = APIClient(baseURL: server.url) {
            $0.redirects.limit = 3
            $0.redirects.sendsBodyAcrossOrigins = false
            $0.redirects.decide = { $0.leavesOrigin ? .stop : .follow }
        }
        let moved = careful.data.get("old").redirects(.none)
        let statuses = [
            await moved.sender().response.status, await careful.data.get("away").sender().response.status,
            await careful.data.get("old").sender().response.status,
        ]
        XCTAssertEqual(statuses, [.found, .found, .ok])
    }
}

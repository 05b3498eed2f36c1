import Foundation
import Sluice
import SluiceTesting
import XCTest

/// The destination of a request: URL builders, alternative hosts, templates.
final class DestinationTests: XCTestCase {
    func testRequestOverridesURLBuilderOfClient() async throws {
        let server = try LoopbackServer()
        server.on("/*", .echo)
        let client = APIClient(baseURL: "\(server.url)/v1/api") { $0.urlBuilder = .relative }
        let request: APIRequest<LoopbackEcho, APIError> = client.codable.request("users")
        let relative = try await request.sender().value
        let up = try await request.path("../v2/users?page=1").query("size", 2).sender().value
        let appended = try await request.urlBuilder(.appending).sender().value
        let own = try await request.urlBuilder(URLBuilder { "\($0).php?route=\($1)" }).query("a", "b").sender().value
        XCTAssertEqual(relative.target, "/v1/users")
        XCTAssertEqual(up.target, "/v2/users?page=1&size=2")
        XCTAssertEqual(appended.target, "/v1/api/users")
        XCTAssertEqual(own.target, "/v1/api.php?route=users&a=b")
    }

    func testBaseURLIsAURLOrItsText() async throws {
        let url = try XCTUnwrap(URL(string: "https://shop.test/v1?key=ä"))
        let client = APIClient(baseURL: url)
        XCTAssertEqual(try client.get("users", as: Int.self).httpRequest().url, "https://shop.test/v1/users?key=%C3%A4")
        let configured = APIClient(baseURL: url) { $0.headers["X-Shop"] = "1" }
        XCTAssertEqual(try configured.data.get("x").httpRequest().headers["X-Shop"], "1")
        let folder = APIClient(baseURL: URL(fileURLWithPath: "/tmp"))
        let failure = await folder.data.get("x").sender().result.failure
        XCTAssertEqual(failure?.code, .unsupportedScheme)
    }

    func testFailingURLBuilderFailsRequest() async throws {
        struct Lost: Error {}
        let request = APIClient(baseURL: "http://a.b").data.request("x")
        let thrown = await request.urlBuilder(URLBuilder { _, _ in throw Lost() }).sender().result.failure
        XCTAssertEqual(thrown?.code, .invalidURL)
        XCTAssertTrue(thrown?.underlyingError is Lost)
        let relative = await request.urlBuilder(URLBuilder { _, path in path }).sender().result.failure
        XCTAssertEqual(relative?.code, .invalidURL)
    }

    func testHostOverrideSendsNoSecretsWithoutEncryption() throws {
        let client = APIClient(baseURL: "https://api.example") { $0.headers["Authorization"] = "secret" }
        func authorization(_ path: String, _ host: String) throws -> String? {
            try client.data.get(path).host(host).httpRequest().headers[.authorization]
        }
        XCTAssertNil(try authorization("http://api.example/x", "mirror.example"))
        XCTAssertEqual(try authorization("https://api.example/x", "mirror.example"), "secret")
        XCTAssertEqual(try authorization("x", "mirror.example"), "secret")
        XCTAssertEqual(try authorization("x", "http://localhost:8080"), "secret")
    }

    func testAlternativeHostKeepsPathAndQuery() async throws {
        let origin = try LoopbackServer()
        let network = try LoopbackServer()
        network.on("/v1/logo.png", .echo)
        let request: APIRequest<LoopbackEcho, APIError> = APIClient(baseURL: "\(origin.url)/v1").codable.request(
            "logo.png"
        )
        .query("size", 2)
        let echo = try await request.host(network.authority).sender().value
        XCTAssertEqual(echo.target, "/v1/logo.png?size=2")
        XCTAssertEqual(echo.values(for: .host), [network.authority])
        XCTAssertEqual(origin.connections, 0)
        let secure = try request.host("https://cdn.test").httpRequest()
        XCTAssertEqual(secure.url, "https://cdn.test/v1/logo.png?size=2")
        XCTAssertThrowsError(try request.host("cdn.test/path").httpRequest())
        XCTAssertThrowsError(try request.host("").httpRequest())
        XCTAssertThrowsError(try request.host("user@cdn.test").httpRequest())
    }

    func testRequestOverridesBaseURL() async throws {
        let server = try LoopbackServer()
        server.on("/other/x", .text("there"))
        let text = try await APIClient().string.request("x").baseURL("\(server.url)/other").sender().value
        XCTAssertEqual(text, "there")
    }

    func testExpandsTemplateIntoPathAndQuery() async throws {
        let server = try LoopbackServer()
        server.on("/v1/*", .echo)
        let client = APIClient(baseURL: "\(server.url)/v1")
        let template: URITemplate = "users/{id}/repos{?page,tags*}"
        let echo: LoopbackEcho = try await client.get(
            template.expanding(["id": "a/b", "page": 2, "tags": ["x", "y z"]])
        ).query("last", 1).sender().value
        XCTAssertEqual(echo.target, "/v1/users/a%2Fb/repos?page=2&tags=x&tags=y%20z&last=1")
        let broken: URITemplate = "users/{id"
        let error = await client.data.get(broken.expanding(["id": "1"])).sender().result.failure
        XCTAssertEqual(error?.code, .invalidURL)
    }

    func testResolvesDotSegmentsBeforeSending() async throws {
        let server = try LoopbackServer()
        server.on("/*", .echo)
        let client = APIClient(baseURL: "\(server.url)/v1/")
        for (path, target) in [
            ("./a/../b", "/v1/b"), ("../../../etc", "/etc"), ("a/../b?x=../%2e%2e/y", "/v1/b?x=../%2e%2e/y"),
            ("..", "/"),
            ("\(server.url)/a/%2e%2E/b", "/b"),
        ] {
            let echo: LoopbackEcho = try await client.get(path).sender().value
            XCTAssertEqual(echo.target, target)
        }
        // These come from escaping a name.
        for path in ["users/%2E%2E/keys", "%2e", "a/.%2E?x"] {
            let error = await client.data.get(path).sender().result.failure
            XCTAssertEqual(error?.code, .invalidURL, path)
        }
        XCTAssertEqual(server.requests.count, 5)
    }

    func testCachePolicyReloadSendsNoCache() async throws {
        let server = try LoopbackServer()
        server.on("/*", .echo)
        let request: APIRequest<LoopbackEcho, APIError> = APIClient(baseURL: server.url).get("x")
        let reload = try await request.cachePolicy(.reload).sender().value
        let standard = try await request.cachePolicy(.standard).sender().value
        XCTAssertEqual(reload.values(for: "Cache-Control"), ["no-cache"])
        XCTAssertEqual(standard.values(for: "Cache-Control"), [])
    }

    func testPassesNetworkAccessToTransport() async throws {
        struct Recording: Transport {
            let seen: AsyncStream<NetworkAccess>.Continuation
            func send(_ request: HTTPRequest, context: TransferContext) async throws(SluiceError) -> TransportResponse {
                seen.yield(context.networkAccess)
                return TransportResponse(head: HTTPResponse(status: .noContent), body: ResponseBody())
            }
        }
        let (seen, continuation) = AsyncStream.makeStream(of: NetworkAccess.self)
        let client = APIClient(baseURL: "http://a.b") { $0.transport = Recording(seen: continuation) }
        _ = try await client.empty.get("x").sender().value
        _ = try await client.empty.get("x").networkAccess([.cellular]).sender().value
        continuation.finish()
        let all = await seen.reduce(into: []) { $0.append($1) }
        XCTAssertEqual(all, [.all, .cellular])
    }

    func testSendsSecretHeadersOnlyToTrustedOrigin() async throws {
        let client = APIClient(baseURL: "http://api.test/v1") {
            $0.headers["Authorization"] = "Bearer t1"
            $0.headers["X-Client"] = "c1"
            $0.headers["X-API-Key"] = "k1"
            $0.secretHeaders = ["X-API-Key"]
        }
        func authorization(_ request: APIRequest<Data, APIError>) throws -> String? {
            let built = try request.httpRequest()
            XCTAssertEqual(built.headers["X-Client"], "c1")
            XCTAssertEqual(built.headers["X-API-Key"], built.headers["Authorization"] == "Bearer t1" ? "k1" : nil)
            return built.headers["Authorization"]
        }
        XCTAssertEqual(try authorization(client.data.get("users")), "Bearer t1")
        XCTAssertEqual(try authorization(client.data.get("http://API.test:80/v1/users?page=2")), "Bearer t1")
        XCTAssertNil(try authorization(client.data.get("http://other-origin.test/users")))
        XCTAssertNil(try authorization(client.data.get("https://api.test/users")))
        XCTAssertNil(try authorization(client.data.get("//other-origin.test/x").urlBuilder(.relative)))
        XCTAssertEqual(try authorization(client.data.get("users").host("mirror.test")), "Bearer t1")
        // A base URL of the request itself is trusted. A path that leads to another origin is not.
        XCTAssertEqual(try authorization(client.data.get("users").baseURL("http://other.test")), "Bearer t1")
        XCTAssertEqual(
            try authorization(client.data.get("http://other.test/x").baseURL("http://other.test/v1")),
            "Bearer t1"
        )
        XCTAssertNil(try authorization(client.data.get("http://other-origin.test/x").baseURL("http://other.test")))
        XCTAssertNil(
            try authorization(client.data.get("//other-origin.test").baseURL("http://o.test").urlBuilder(.relative))
        )
        let own = client.data.get("http://other.test/x").header("Authorization", "Bearer t2")
        XCTAssertEqual(try authorization(own), "Bearer t2")
    }

    func testTemplateVariableCannotBeDotSegment() async throws {
        let client = APIClient(baseURL: "http://a.b/v1")
        let template: URITemplate = "users/{id}/repos"
        for id in ["..", "."] {
            let error = await client.data.get(template.expanding(["id": "\(id)"])).sender().result.failure
            XCTAssertEqual(error?.code, .invalidURL)
            XCTAssertThrowsError(try template.expand(["id": "\(id)"]))
        }
        for (text, id) in [("./files/{id}", ".."), ("../{id}", "."), (".{id}/x", "")] {
            let template = URITemplate(text)
            let error = await client.data.get(template.expanding(["id": "\(id)"])).sender().result.failure
            XCTAssertEqual(error?.code, .invalidURL)
        }
        let relative = URITemplate("./x/../files/{id}").expanding(["id": "7"])
        XCTAssertEqual(try client.data.get(relative).httpRequest().url, "http://a.b/v1/files/7")
        XCTAssertEqual(
            try client.data.get(template.expanding(["id": "..."])).httpRequest().url,
            "http://a.b/v1/users/.../repos"
        )
    }

    func testTemplateVariableCannotMakeTheNextOneAHost() throws {
        let client = APIClient(baseURL: "http://a.b/v1/") { $0.urlBuilder = .relative }
        let variables: [(URITemplate, Parameters)] = [
            ("/{org}/{repo}", ["org": "", "repo": "evil.example"]), ("/{org}/{repo}", ["repo": "evil.example"]),
            ("{org}//{repo}", ["org": "", "repo": "evil.example"]), ("{/path*}", ["path": ["", "evil.example"]]),
            ("{+path}", ["path": "//evil.example"]), ("/{+path}", ["path": "/evil.example"]),
        ]
        for (template, variables) in variables {
            let request: APIRequest<Data, APIError> = client.data.get(template.expanding(variables))
            XCTAssertEqual(try request.httpRequest().url, "http://a.b//evil.example", template.description)
            let appending = try request.urlBuilder(.appending).httpRequest()
            XCTAssertEqual(appending.url, "http://a.b/v1//evil.example", template.description)
        }
        let up = URITemplate("/{org}/{repo}").expanding(["org": "", "repo": ".."])
        XCTAssertThrowsError(try client.data.get(up).httpRequest())
        let inside = URITemplate("/{org}/{repo}/{branch}").expanding(["org": "o", "repo": "", "branch": "b"])
        XCTAssertEqual(try client.data.get(inside).httpRequest().url, "http://a.b/o//b")
        // The text of the template names the host.
        let other = URITemplate("//c.d/{file}").expanding(["file": "e"])
        XCTAssertEqual(try client.data.get(other).httpRequest().url, "http://c.d/e")
        XCTAssertThrowsError(try client.data.get(URITemplate("//c.d/{file}").expanding(["file": ".."])).httpRequest())
    }

    func testFoundationURLIsEndpoint() throws {
        let url = try XCTUnwrap(URL(string: "https://c.d/e?f=1"))
        XCTAssertEqual(try APIClient(baseURL: "http://a.b").data.get(url).httpRequest().url, "https://c.d/e?f=1")
    }
}

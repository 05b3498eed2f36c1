import Sluice
import SluiceTesting
import XCTest

/// The parameters of a request, and their place in it.
final class ParameterTests: XCTestCase {
    private struct Filter: Encodable, Sendable {
        var words = "a b"
        var tags = ["x", "y"]
        var isNew = true
        var since: Int?
    }

    private func echo(
        of modified: (APIRequest<LoopbackEcho, APIError>) -> APIRequest<LoopbackEcho, APIError>,
        configure: (inout APIClient.Configuration) -> Void = { _ in }
    ) async throws -> LoopbackEcho {
        let server = try LoopbackServer()
        server.on("/*", .echo)
        let request: APIRequest<LoopbackEcho, APIError> = APIClient(baseURL: server.url, configure: configure)
            .codable.request("x")
        return try await modified(request).sender().value
    }

    private enum Search: Target {
        case words(String)

        var baseURL: String { "http://shop.test" }
        var path: String { "search?lang=en&page=0" }
        var method: HTTPMethod { .get }
        var task: RequestTask {
            switch self {
            case .words(let words): .parameters(["q": words, "page": 1, "tags": ["a", "b"]]).query(["page": "x"])
            }
        }
    }

    private func path(
        _ modify: (APIRequest<String, APIError>) -> APIRequest<String, APIError>
    ) throws -> String {
        try modify(APIClient().string.request(Search.words("tea"))).httpRequest().path
    }

    func testQueryOfATargetIsReplaced() throws {
        let encoder = URLEncodedFormEncoder(arrayEncoding: .noBrackets)
        XCTAssertEqual(try path { $0.withoutQuery("page", "tags").query("page", 2) }, "/search?lang=en&page=2&q=tea")
        XCTAssertEqual(try path { $0.withoutQuery().query(["q": "milk"]) }, "/search?q=milk")
        XCTAssertEqual(try path { $0.withoutQuery() }, "/search")
        XCTAssertEqual(
            try path { $0.withoutQuery("lang", "page", "q").parameters(["q": ["x", "y"]], encoder: encoder) },
            "/search?tags%5B%5D=a&tags%5B%5D=b&q=x&q=y"
        )
        XCTAssertEqual(
            try path { $0.withoutQuery("LANG", "pag", "ta").query("pag", 1).withoutQuery("tags", "page", "q") },
            "/search?lang=en&pag=1"
        )
    }

    func testQueryIsReplacedInAnEndpointMapping() throws {
        let client = APIClient {
            $0.endpointMapping = { endpoint, draft in
                endpoint is Search ? draft.withoutQuery("page", "tags").query("limit", 5) : draft
            }
        }
        let request = try client.string.request(Search.words("tea")).httpRequest()
        XCTAssertEqual(request.path, "/search?lang=en&limit=5&q=tea")
    }

    func testRemovedNamesAreComparedDecoded() throws {
        let request = APIClient(baseURL: "http://shop.test").string.get("x?a%20b=1&a+b=2&c&=3")
        XCTAssertEqual(try request.withoutQuery("a b").httpRequest().path, "/x?c&=3")
        XCTAssertEqual(try request.withoutQuery("c", "").httpRequest().path, "/x?a%20b=1&a+b=2")
    }

    func testParametersInTheBodyAreNotRemovedWithTheQuery() async throws {
        let client = APIClient(baseURL: "http://shop.test").string
        let request: APIRequest<String, APIError> = client.post("x?page=1").parameters(["page": 2]).withoutQuery()
        let built = try request.httpRequest()
        XCTAssertEqual(built.path, "/x")
        XCTAssertEqual(built.body.length, 6)
    }

    func testEncodesStructureAsQuery() async throws {
        let echo = try await echo { $0.query(Filter()) }
        XCTAssertEqual(echo.target, "/x?isNew=1&tags%5B%5D=x&tags%5B%5D=y&words=a%20b")
    }

    func testEncodesDictionaryAsQueryWithoutNil() async throws {
        let name: String? = nil
        let echo = try await echo {
            $0.query(["page": 1, "name": name, "tags": ["a"], "new": true]).query("last", "z")
        }
        XCTAssertEqual(echo.target, "/x?new=1&page=1&tags%5B%5D=a&last=z")
    }

    func testRequestOverridesEncoderOfClient() async throws {
        let plain = URLEncodedFormEncoder(arrayEncoding: .noBrackets, boolEncoding: .literal)
        let client = try await echo(of: { $0.query(Filter()) }) { $0.formEncoder = plain }
        XCTAssertEqual(client.target, "/x?isNew=true&tags=x&tags=y&words=a%20b")
        let plus = URLEncodedFormEncoder(spaceEncoding: .plusReplaced)
        let request = try await echo { $0.query(Filter(), encoder: plus) }
        XCTAssertEqual(request.target.hasSuffix("words=a+b"), true)
    }

    func testMethodDecidesPlaceOfParameters() async throws {
        for method: HTTPMethod in [.get, .delete, .options] {
            let echo = try await echo { $0.method(method).parameters(["a": 1]) }
            XCTAssertEqual([echo.target, echo.text], ["/x?a=1", ""], "\(method)")
        }
        for method: HTTPMethod in [.post, .put, .patch, "PURGE"] {
            let echo = try await echo { $0.method(method).parameters(["a": 1]).parameters(["b": "c d"]) }
            XCTAssertEqual([echo.target, echo.text], ["/x", "a=1&b=c%20d"], "\(method)")
            XCTAssertEqual(echo.values(for: .contentType), ["application/x-www-form-urlencoded"])
        }
    }

    func testParametersWithOtherBodyGoIntoQuery() async throws {
        let echo = try await echo { $0.post().parameters(["dry": true]).json(["id": 1]) }
        XCTAssertEqual([echo.target, echo.text], ["/x?dry=1", #"{"id":1}"#])
        XCTAssertEqual(echo.values(for: .contentType), ["application/json"])
    }

    func testEncodingFailureNamesField() async throws {
        struct Reading: Encodable, Sendable { let celsius = [1, Double.nan] }
        let server = try LoopbackServer()
        let request = APIClient(baseURL: server.url).data.request("x")
        for failing in [request.query(["reading": Reading()]), request.parameters(["reading": Reading()])] {
            let error = await failing.sender().result.failure
            XCTAssertEqual(error?.code, .encodingFailed)
            XCTAssertEqual(error?.description.contains("reading.celsius[1]"), true, "\(error?.description ?? "")")
        }
        XCTAssertEqual(server.connections, 0)
    }

    func testEncodesSingleItems() async throws {
        enum Order: String, Encodable { case name }
        let none: Int? = nil
        let some: Int? = 3
        let text: String? = nil
        let echo = try await echo {
            $0.query("a", none).query("b", some).query("c", text).query("d", Order.name).query("e", ["x", "y"])
                .query("f", true).query("g", 1.5).query("h", UInt8(7)).query("i").query("j", "")
        }
        XCTAssertEqual(echo.target, "/x?b=3&d=name&e%5B%5D=x&e%5B%5D=y&f=1&g=1.5&h=7&i&j=")
    }
}

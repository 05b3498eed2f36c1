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

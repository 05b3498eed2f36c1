import Foundation
import Sluice
import SluiceTesting
import XCTest

/// Every kind of body, as a server receives it.
final class BodyTests: XCTestCase {
    private func echo(
        _ body: (BodyRequest<LoopbackEcho, APIError>) -> APIRequest<LoopbackEcho, APIError>,
        configure: (inout APIClient.Configuration) -> Void = { _ in }
    ) async throws -> LoopbackEcho {
        let server = try LoopbackServer()
        server.on("/*", .echo)
        return try await body(APIClient(baseURL: server.url, configure: configure).post("x")).sender().value
    }

    func testJSONUsesEncoderOfRequestOrClient() async throws {
        struct Model: Encodable, Sendable { let fullName = "Ada" }
        let snake = JSONEncoder()
        snake.keyEncodingStrategy = .convertToSnakeCase
        let plain = try await echo { $0.json(Model()) }
        let own = try await echo { $0.json(Model(), encoder: snake) }
        let clients = try await echo({ $0.json(Model()) }) { $0.encoder = snake }
        XCTAssertEqual(
            [plain.text, own.text, clients.text],
            [#"{"fullName":"Ada"}"#, #"{"full_name":"Ada"}"#, #"{"full_name":"Ada"}"#]
        )
        XCTAssertEqual(plain.values(for: .contentType), ["application/json"])
    }

    func testClientKeepsTheOptionsOfItsEncoder() async throws {
        struct Model: Encodable, Sendable { let fullName = "Ada" }
        let server = try LoopbackServer()
        server.on("/*", .echo)
        let encoder = JSONEncoder()
        let client = APIClient(baseURL: server.url) { $0.encoder = encoder }
        encoder.keyEncodingStrategy = .convertToSnakeCase
        let echo: LoopbackEcho = try await client.post("x").json(Model()).sender().value
        XCTAssertEqual(echo.text, #"{"fullName":"Ada"}"#)
    }

    func testJSONIsNestedUnderRootKey() async throws {
        let model = try await echo { $0.json(User(id: 1, name: "Ada"), root: "user") }
        XCTAssertEqual(try JSON(parsing: model.text ?? ""), ["user": ["id": 1, "name": "Ada"]])
        let snake = JSONEncoder()
        snake.keyEncodingStrategy = .convertToSnakeCase
        snake.dateEncodingStrategy = .secondsSince1970
        let exact = try await echo { $0.json(["name": "Ada"], root: "userData", encoder: snake) }
        XCTAssertEqual(try JSON(parsing: exact.text ?? ""), ["userData": ["name": "Ada"]])
        let date = try await echo { $0.json(Date(timeIntervalSince1970: 7), root: "at", encoder: snake) }
        XCTAssertEqual(try JSON(parsing: date.text ?? ""), ["at": 7])
        let parameters = try await echo { $0.json(["id": 1, "name": "Ada"], root: "user") }
        XCTAssertEqual(try JSON(parsing: parameters.text ?? ""), ["user": ["id": 1, "name": "Ada"]])
    }

    func testNilParametersAreOmittedOrSentAsNull() async throws {
        let nick: String? = nil
        let dropped = try await echo { $0.json(["name": "Ada", "nick": nick]) }
        XCTAssertEqual(try JSON(parsing: dropped.text ?? ""), ["name": "Ada"])
        let parameters = Parameters(["name": "Ada", "nick": nick], nilValues: .null)
        let null = try await echo { $0.json(parameters, root: "user") }
        XCTAssertEqual(try JSON(parsing: null.text ?? ""), ["user": ["name": "Ada", "nick": nil]])
    }

    func testJSONValueIsSentAsBody() async throws {
        let value: JSON = ["id": 9_007_199_254_740_993, "tags": ["a", nil]]
        let echo = try await echo { $0.json(value) }
        XCTAssertEqual(try JSON(parsing: echo.text ?? ""), value)
    }

    func testFormIsPercentEncoded() async throws {
        let echo = try await echo { $0.form(["name": "Ada & Co", "tags": ["x"], "on": true]).query("a", 1) }
        XCTAssertEqual(echo.text, "name=Ada%20%26%20Co&on=1&tags%5B%5D=x")
        XCTAssertEqual(echo.target, "/x?a=1")
        XCTAssertEqual(echo.values(for: .contentType), ["application/x-www-form-urlencoded"])
        XCTAssertEqual(echo.values(for: .contentLength), ["37"])
    }

    func testPropertyListIsSentAsXMLOrBinary() async throws {
        let xml = try await echo { $0.propertyList(User(id: 1, name: "Ada")) }
        let binary = try await echo { $0.propertyList(User(id: 1, name: "Ada"), format: .binary) }
        for echo in [xml, binary] {
            let data = try XCTUnwrap(Data(base64Encoded: echo.base64))
            XCTAssertEqual(try PropertyListDecoder().decode(User.self, from: data), User(id: 1, name: "Ada"))
            XCTAssertEqual(echo.values(for: .contentType), ["application/x-plist"])
        }
        XCTAssertEqual(xml.text?.hasPrefix("<?xml"), true)
        XCTAssertNil(binary.text)
    }

    func testPropertyListIsDecodedAsModel() async throws {
        let server = try LoopbackServer()
        server.on("/x") { .data($0.body) }
        let client = APIClient(baseURL: server.url)
        let user: User = try await client.codable(modelDecoder: PropertyListDecoder()).post("x")
            .propertyList(User(id: 1, name: "Ada")).sender().value
        XCTAssertEqual(user.name, "Ada")
    }

    func testFileHasMediaTypeOfItsExtension() async throws {
        let url = FileManager.default.temporaryDirectory.appending(path: "sluice-\(UUID().uuidString).png")
        try Data("picture".utf8).write(to: url)
        defer { try? FileManager.default.removeItem(at: url) }
        let echo = try await echo { $0.file(url) }
        XCTAssertEqual(echo.text, "picture")
        XCTAssertEqual(echo.values(for: .contentType), ["image/png"])
        XCTAssertEqual(echo.values(for: .contentLength), ["7"])
    }

    func testMultipartFormIsSentWithQueryParameters() async throws {
        var form = MultipartForm()
        form.append(.text("Ada", name: "user"))
        form.append(.data(Data([1, 2]), name: "picture", fileName: "a.png", contentType: "image/png"))
        let echo = try await echo { $0.multipart(form).query("album", 7) }
        XCTAssertEqual(echo.target, "/x?album=7")
        XCTAssertEqual(echo.values(for: .contentType).first?.hasPrefix("multipart/form-data; boundary="), true)
        XCTAssertEqual(echo.values(for: .contentLength).count, 1)
        XCTAssertEqual(echo.values(for: .transferEncoding), [])
    }

    func testRequestBodyValueIsSent() async throws {
        let described: RequestBody = .json(["a": 1])
        let echo = try await echo { $0.body(described) }
        XCTAssertEqual(echo.text, #"{"a":1}"#)
    }

    /// Without the boundary a server cannot read the form (RFC 2046 §5.1).
    func testContentTypeOfRequestKeepsTheBoundaryOfAForm() async throws {
        let form = MultipartForm().adding(.text("1", name: "a"))
        let sent = form.contentType
        let boundary = try XCTUnwrap(sent.split(separator: "boundary=").last)
        for (own, expected) in [
            ("application/json", sent), ("multipart/mixed", "multipart/mixed; boundary=\"\(boundary)\""),
            ("multipart/form-data; charset=utf-8", "multipart/form-data; charset=utf-8; boundary=\"\(boundary)\""),
            ("multipart/form-data; boundary=other", "multipart/form-data; boundary=other"),
        ] {
            let echo = try await echo { $0.multipart(form).contentType(own) }
            XCTAssertEqual(echo.values(for: .contentType), [expected])
        }
    }

    func testContentTypeOfRequestOverridesBodyAndClient() async throws {
        let json: (inout APIClient.Configuration) -> Void = { $0.headers["Content-Type"] = "application/json" }
        let form = try await echo({ $0.form(["a": 1]) }, configure: json)
        XCTAssertEqual(form.values(for: .contentType), ["application/x-www-form-urlencoded"])
        let own = try await echo({ $0.form(["a": 1]).contentType("text/plain") }, configure: json)
        XCTAssertEqual(own.values(for: .contentType), ["text/plain"])
    }
}

import Foundation
import Sluice
import SluiceTesting
import XCTest

final class TypedRequestTests: XCTestCase {
    func testModelIsDecodedFromTheBody() async throws {
        let server = try LoopbackServer()
        server.on(.get, "/users/1", .json(#"{"id":1,"name":"Ada"}"#))
        let client = APIClient(baseURL: server.url)
        let user: User = try await client.codable.request("users/1").sender().value
        XCTAssertEqual(user, User(id: 1, name: "Ada"))
    }

    func testEncoderOfACopiedConfigurationIsAnotherOne() async throws {
        struct Order: Codable, Sendable { let orderID: Int }
        let server = try LoopbackServer()
        server.on("/orders", .echo)
        let encoder = JSONEncoder()
        encoder.outputFormatting = .prettyPrinted
        let shop = APIClient(baseURL: server.url) { $0.encoder = encoder }
        let snake = APIClient(baseURL: server.url) {
            $0 = shop.configuration
            $0.encoder.keyEncodingStrategy = .convertToSnakeCase
        }
        for (client, name) in [(shop, "orderID"), (snake, "order_id")] {
            let echo: LoopbackEcho = try await client.post("orders").json(Order(orderID: 1)).sender().value
            XCTAssertEqual(echo.text, "{\n  \"\(name)\" : 1\n}")
        }
    }

    func testResponseHasResultHeadBodyRequestAndMetrics() async throws {
        let server = try LoopbackServer()
        server.on(.get, "/users/1", .json(#"{"id":1,"name":"Ada"}"#, headers: ["X-Trace": "t1"]))
        let client = APIClient(baseURL: server.url)
        let request: APIRequest<User, APIError> = client.codable.request("users/1")
        let response = await request.sender().response
        XCTAssertEqual(try response.result.get(), User(id: 1, name: "Ada"))
        XCTAssertEqual(response.status, .ok)
        XCTAssertEqual(response.head?.headers["x-trace"], "t1")
        XCTAssertEqual(response.head?.version, .http1_1)
        XCTAssertEqual(response.body, Data(#"{"id":1,"name":"Ada"}"#.utf8))
        XCTAssertEqual(response.request?.url, "\(server.url)/users/1")
        XCTAssertEqual(response.metrics?.remoteAddress, server.authority)
        XCTAssertEqual(response.metrics?.bytesReceived, 21)
    }

    func testModifiersDetermineTheSentRequest() async throws {
        let server = try LoopbackServer()
        server.on("/api/users", .echo)
        let client = APIClient(baseURL: "\(server.url)/api/") { $0.headers["X-Client"] = "tests" }
        let echo: LoopbackEcho = try await client.codable.request("users")
            .put()
            .query("page", 2)
            .query("q", "a b&c=ü")
            .header("X-Trace", "t1")
            .json(User(id: 1, name: "Ada"))
            .sender().value
        XCTAssertEqual(echo.method, "PUT")
        XCTAssertEqual(echo.target, "/api/users?page=2&q=a%20b%26c%3D%C3%BC")
        XCTAssertEqual(echo.values(for: "x-client"), ["tests"])
        XCTAssertEqual(echo.values(for: "x-trace"), ["t1"])
        XCTAssertEqual(echo.values(for: "content-type"), ["application/json"])
        let sent = try JSONDecoder().decode(User.self, from: Data((echo.text ?? "").utf8))
        XCTAssertEqual(sent, User(id: 1, name: "Ada"))
    }

    func testModifiersDoNotChangeTheOriginalRequest() async throws {
        let server = try LoopbackServer()
        server.on("/echo", .echo)
        let request: APIRequest<LoopbackEcho, APIError> = APIClient(baseURL: server.url).codable.request("echo")
        let changed = request.post().query("page", 2)
        let methods = try await (request.sender().value.method, changed.sender().value.method)
        XCTAssertEqual(methods.0, "GET")
        XCTAssertEqual(methods.1, "POST")
    }

    func testRequestHeaderOverridesClientHeaderUntilSetToNil() async throws {
        let server = try LoopbackServer()
        server.on("/echo", .echo)
        let client = APIClient(baseURL: server.url) { $0.headers["Accept"] = "text/plain" }
        let request: APIRequest<LoopbackEcho, APIError> = client.codable.request("echo")
        let own = try await request.header("ACCEPT", "application/json").sender().value
        XCTAssertEqual(own.values(for: .accept), ["application/json"])
        let none = try await request.header("ACCEPT", "application/json").header("Accept", nil).sender().value
        XCTAssertEqual(none.values(for: .accept), ["text/plain"])
    }

    func testModelDecoderOfTheRequestIsUsed() async throws {
        struct Renamed: Decodable, Sendable { let fullName: String }
        let server = try LoopbackServer()
        server.on("/user", .json(#"{"full_name":"Ada"}"#))
        let client = APIClient(baseURL: server.url)
        let decoder = JSONDecoder()
        decoder.keyDecodingStrategy = .convertFromSnakeCase
        let model: Renamed = try await client.codable(modelDecoder: decoder).request("user").sender().value
        XCTAssertEqual(model.fullName, "Ada")
    }

    func testBodyIsReturnedAsData() async throws {
        let server = try LoopbackServer()
        server.on("/raw", .data(Data([0, 255, 1])))
        let data = try await APIClient(baseURL: server.url).data.request("raw").sender().value
        XCTAssertEqual(Array(data), [0, 255, 1])
    }

    func testCustomSerializerCreatesTheModel() async throws {
        struct Lines: ResponseSerializer {
            func serialize(_ response: ServerResponse) throws(SluiceError) -> [String] {
                String(decoding: response.body, as: UTF8.self).split(separator: "\n").map(String.init)
            }
        }
        let server = try LoopbackServer()
        server.on("/lines", .text("a\nb\n"))
        let request = APIClient(baseURL: server.url).serialized(by: Lines()).request("lines")
        let lines = try await request.sender().value
        XCTAssertEqual(lines, ["a", "b"])
    }

    func testFileAndStreamBodiesAreSent() async throws {
        let server = try LoopbackServer()
        server.on("/echo", .echo)
        let request: APIRequest<LoopbackEcho, APIError> = APIClient(baseURL: server.url).codable.request("echo")
        let url = FileManager.default.temporaryDirectory.appending(path: "sluice-\(UUID().uuidString)")
        try Data("from a file".utf8).write(to: url)
        defer { try? FileManager.default.removeItem(at: url) }
        let file = try await request.post().body(.file(url, contentType: "text/plain")).sender().value
        XCTAssertEqual(file.text, "from a file")
        XCTAssertEqual(file.values(for: .contentType), ["text/plain"])
        let chunks = AsyncStream<Data> { continuation in
            for word in ["from ", "a ", "stream"] { continuation.yield(Data(word.utf8)) }
            continuation.finish()
        }
        let stream = try await request.post().body(.stream(chunks)).sender().value
        XCTAssertEqual(stream.text, "from a stream")
    }

    func testTotalTimeOutOfTheRequestFailsIt() async throws {
        let server = try LoopbackServer()
        server.on("/slow", .hang)
        let request = APIClient(baseURL: server.url).data.request("slow").timeout(.milliseconds(50))
        let result = await request.sender().result
        XCTAssertEqual(result.failure?.code, .timedOut)
    }
}

extension Result {
    var failure: Failure? {
        if case .failure(let error) = self { error } else { nil }
    }
}

import Foundation
import Sluice
import SluiceTesting
import XCTest

/// Result types that a request can ask for directly, in every API.
final class RequestFactoryTests: XCTestCase {
    struct Item: Decodable, Sendable, Equatable {
        let itemID: Int
        let unitPrice: Double
        let isNew: Bool
        let label: String
    }

    struct Tag: JSONDecodable, Equatable {
        let name: String

        init(json: JSON) throws {
            name = try json.value(at: "tag.name")
        }
    }

    /// A GIF of 3 by 2 pixels.
    private static let picture = Data("GIF89a".utf8) + Data([3, 0, 2, 0, 0, 0, 0]) + Data([0x3B])

    func testTextIsDecodedInTheCharsetOfTheResponse() async throws {
        let server = try LoopbackServer()
        server.on("/cp1251", .data(Data([0xCF, 0xF0, 0xE8]), contentType: "text/plain; charset=windows-1251"))
        server.on("/utf8", .data(Data("grün".utf8), contentType: "text/plain"))
        server.on("/wrong", .data(Data([0xC3, 0x28]), contentType: "text/plain; charset=utf-8"))
        let client = APIClient(baseURL: server.url)
        let russian = try await client.string.get("cp1251").sender().value
        let german = try await client.string.get("utf8").sender().value
        XCTAssertEqual([russian, german], ["При", "grün"])
        let error = await client.string.get("wrong").sender().result.failure
        XCTAssertEqual(error?.code, .decodingFailed)
    }

    func testImageHasFormatAndSizeAndInvalidDataFails() async throws {
        let server = try LoopbackServer()
        server.on("/logo", .data(Self.picture, contentType: "image/gif"))
        server.on("/garbage", .data(Data([1, 2, 3]), contentType: "image/gif"))
        let client = APIClient(baseURL: server.url)
        let logo = try await client.image.get("logo").sender().value
        XCTAssertEqual(logo.format, .gif)
        XCTAssertEqual([logo.width, logo.height], [3, 2])
        XCTAssertEqual(logo.data, Self.picture)
        let error = await client.image.get("garbage").sender().result.failure
        XCTAssertEqual(error?.code, .decodingFailed)
        let again = try await client.data.get("logo").sender().response.image()
        XCTAssertEqual(again, logo)
    }

    func testJSONDecodableModelsInArraysAndDictionaries() async throws {
        let server = try LoopbackServer()
        server.on(
            "/tags",
            .json(#"{"all":[{"tag":{"name":"a"}},{"tag":{"name":"b"}}],"by":{"x":{"tag":{"name":"c"}}}}"#)
        )
        server.on("/wrong", .json(#"[{"tag":{"name":"a"}},{"tag":{"name":1}}]"#))
        server.on("/numbers", .json("[1,2,3]"))
        let client = APIClient(baseURL: server.url)
        let tags: [Tag] = try await client.json.get("tags").keyPath("all").sender().value
        let byName: [String: Tag] = try await client.json.get("tags").keyPath("by").sender().value
        let numbers: [Int] = try await client.json.get("numbers").sender().value
        XCTAssertEqual(tags.map(\.name), ["a", "b"])
        XCTAssertEqual(byName["x"]?.name, "c")
        XCTAssertEqual(numbers, [1, 2, 3])
        let error = await client.json.get("wrong", as: [Tag].self).sender().result.failure
        XCTAssertEqual(error?.description.contains("[1].tag.name"), true, "\(error?.description ?? "")")
    }

    func testLenientDecoderConvertsValuesToDeclaredTypes() async throws {
        let server = try LoopbackServer()
        server.on("/item", .json(#"{"item_id":"7","unit_price":"1.5","is_new":1,"label":1.10}"#))
        let client = APIClient(baseURL: server.url)
        let strict = await client.codable.get("item", as: Item.self).sender().result.failure
        XCTAssertEqual(strict?.code, .decodingFailed)
        struct Careless: Decodable, Sendable, Equatable {
            let itemId: Int
            let unitPrice: Double
            let isNew: Bool
            let label: String
        }
        let lenient = LenientJSONDecoder(keyDecodingStrategy: .convertFromSnakeCase)
        let item: Careless = try await client.codable(modelDecoder: lenient).get("item").sender().value
        XCTAssertEqual(item, Careless(itemId: 7, unitPrice: 1.5, isNew: true, label: "1.10"))
    }

    func testLenientDecodingErrorContainsThePathOfTheField() async throws {
        let server = try LoopbackServer()
        server.on("/users", .json(#"{"data":[{"id":"1","name":"Ada"},{"id":"one","name":"Grace"}]}"#))
        let client = APIClient(baseURL: server.url) { $0.modelDecoder = LenientJSONDecoder() }
        let error = await client.codable.get("users", as: [User].self).keyPath("data").sender().result.failure
        XCTAssertEqual(error?.code, .decodingFailed)
        XCTAssertEqual(error?.description.contains("“data[1].id”"), true, "\(error?.description ?? "")")
    }

    func testModelIsDecodedFromParsedJSON() throws {
        let user = try JSON(parsing: #"{"data":[{"id":1,"name":"Ada"}]}"#)[path: "data[0]"].decoded(as: User.self)
        XCTAssertEqual(user, User(id: 1, name: "Ada"))
        let lenient = try JSON(parsing: #"{"id":"1","name":5}"#).decoded(as: User.self, by: LenientJSONDecoder())
        XCTAssertEqual(lenient, User(id: 1, name: "5"))
    }

    func testErrorDecoderDecodesErrorBodies() async throws {
        struct Refusal: Decodable, Sendable { let reasonText: String }
        let server = try LoopbackServer()
        server.on("/x", .json(#"{"reason_text":"no"}"#, status: .forbidden))
        let decoder = JSONDecoder()
        decoder.keyDecodingStrategy = .convertFromSnakeCase
        let snake = APIClient(baseURL: server.url) { $0.modelDecoder = decoder }
        let strict = APIClient(baseURL: server.url) {
            $0.modelDecoder = decoder
            $0.errorDecoder = JSONDecoder()
        }
        for (factory, text) in [
            (APIClient(baseURL: server.url).codable(errorDecoder: decoder), "no"), (snake.codable, "no"),
            (strict.codable, nil),
        ] {
            let request: APIRequest<User, TypedAPIError<Refusal>> = factory.get("x")
            let error = await request.sender().result.failure
            XCTAssertEqual(error?.errorBody?.reasonText, text)
        }
    }

    func testAllFactoriesCreateTheSameRequest() throws {
        enum Shop: Target {
            case users
            var baseURL: String { "http://shop.test/v1" }
            var path: String { "users" }
        }
        struct Service: WebService {
            let client: APIClient
            func users() -> APIRequest<[User], APIError> { server.get("users") }
        }
        let client = APIClient(baseURL: "http://shop.test/v1")
        let requests: [APIRequest<[User], APIError>] = [
            client.codable.request("users"), client.request(Shop.users), Service(client: client).users(),
            client.codable.request(URITemplate("users").expanding([:])),
        ]
        for request in requests {
            let built = try request.query("page", 1).header("X-A", "b").httpRequest()
            XCTAssertEqual(built.url, "http://shop.test/v1/users?page=1")
            XCTAssertEqual(built.headers["X-A"], "b")
        }
    }

    func testValidatesContentTypeAndCustomRule() async throws {
        struct Stale: Error {}
        let server = try LoopbackServer()
        server.on("/page", .json(#"{"version":1}"#, headers: ["X-Version": "1"]))
        let request = APIClient(baseURL: server.url).json.get("page", as: JSON.self)
        let wrong = await request.validate(contentTypes: "text/*").sender().result.failure
        XCTAssertEqual(wrong?.code, .unacceptableContentType)
        let stale = await request.validate { head, body in
            if head.headers["X-Version"] == "1", !body.isEmpty { throw Stale() }
        }.sender().result.failure
        XCTAssertEqual(stale?.code, .validationFailed)
        XCTAssertTrue(stale?.underlyingError is Stale)
        let fine = try await request.validate(contentTypes: "application/json").sender().value
        XCTAssertEqual(fine.version.int, 1)
    }
}

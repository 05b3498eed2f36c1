import Sluice
import SluiceTesting
import XCTest

/// The article on models.
final class ModelsGuideTests: XCTestCase {
    struct Badge: JSONDecodable {
        let owner: String
        let points: Int

        init(json: JSON) throws {
            owner = try json.value(at: "user.name")
            points = try json.optionalValue(at: "points") ?? 0
        }
    }

    struct Item: Decodable, DefaultInitializable {
        var id = 0
        var title = "untitled"
        var isNew = false
    }

    struct Refusal: ErrorSerializable {
        let code: Int?
        let message: String

        init(_ failure: RequestFailure) {
            code = failure.envelope?.code.int
            message = failure.envelope?.message ?? failure.error.description
        }
    }

    struct Concert: Decodable, Sendable {
        let startsAt: Date
    }

    final class Profile: Codable, Sendable {
        let id: Int
        let name: String
    }
    class Animal: Codable, @unchecked Sendable {
        var name: String
    }
    final class Dog: Animal, @unchecked Sendable {}

    /// A class that is not Sendable.
    class Beast: Codable {
        var name = ""
    }

    private func shopServer() throws -> LoopbackServer {
        let server = try LoopbackServer()
        server.on("/users/1", .json(#"{"id":1,"name":"Ada"}"#))
        server.on("/animals", .json(#"[{"name":"Rex"},{"name":"Tom"}]"#))
        server.on("/animals/1", .json(#"{"name":"Rex"}"#))
        server.on("/page", .json(#"{"data":{"count":1,"items":[{"id":1,"name":"Ada"}]}}"#))
        server.on("/nothing", .data(Data(), status: .noContent))
        server.on("/badges", .json(#"[{"user":{"name":"Ada"},"points":5},{"user":{"name":"Grace"}}]"#))
        server.on("/item", .json(#"{"id":"7","title":null,"isNew":1}"#))
        server.on("/wrapped", .json(#"{"code":0,"data":{"id":1,"name":"Ada"}}"#))
        server.on("/refused", .json(#"{"code":9,"msg":"Sold out."}"#))
        return server
    }

    func testKeyPathsAndEmptyBodies() async throws {
        let server = try shopServer()
        let shop = APIClient(baseURL: server.url)
        let first: User = try await shop.get("page").keyPath("data.items[0]").sender().value
        let nobody: User? = try await shop.get("nothing").allowingEmptyBody().sender().value
        XCTAssertEqual(first.name, "Ada")
        XCTAssertNil(nobody)
    }

    func testCreatingJSON() async throws {
        let server = try shopServer()
        server.on(.post, "/items") { .data($0.body, contentType: "application/json") }
        let shop = APIClient(baseURL: server.url)
        let price = 12.5
        let note: String? = nil
        let supplier = 7
        let season = "spring"
        var item: JSON = ["name": "Tea", "price": JSON(price), "note": JSON(note), "discount": .null]
        item["stock"] = 3
        item["supplier"]["id"] = JSON(supplier)
        item["tags"] = ["new", JSON(season)]
        let created = shop.json.post("items").json(item)
        let echo = try await created.sender().value
        XCTAssertEqual(echo, item)
        XCTAssertEqual(echo["supplier"]["id"].int, supplier)
        XCTAssertTrue(echo["note"].isNull)
        XCTAssertEqual(echo.tags.arrayValue.map(\.stringValue), ["new", "spring"])
    }

    func testEncoderAndDecoder() async throws {
        let server = try LoopbackServer()
        server.on("/concert") { .data($0.body, contentType: "application/json") }
        let decoder = JSONDecoder()
        decoder.dateDecodingStrategy = .iso8601
        let encoder = JSONEncoder()
        encoder.dateEncodingStrategy = .iso8601
        let both = APIClient(baseURL: server.url) {
            $0.modelDecoder = decoder
            $0.encoder = encoder
        }
        let date = Date(timeIntervalSince1970: 1_700_000_000)
        let concert = try await both.post("concert", as: Concert.self).json(["startsAt": date]).sender().value
        XCTAssertEqual(concert.startsAt, date)
    }

    func testClasses() async throws {
        let server = try shopServer()
        let shop = APIClient(baseURL: server.url)
        let profile: Profile = try await shop.get("users/1").sender().value
        let animals: [Animal] = try await shop.get("animals").sender().value
        let dog = try await shop.get("animals/1", as: Dog.self).sender().value
        XCTAssertEqual([profile.name, dog.name] + animals.map(\.name), ["Ada", "Rex", "Rex", "Tom"])
        let bytes = try await shop.data.get("animals/1").sender().value
        let beast = try JSONDecoder().decode(Beast.self, from: bytes)
        XCTAssertEqual(beast.name, "Rex")
    }

    func testJSONValues() async throws {
        let server = try shopServer()
        let shop = APIClient(baseURL: server.url)
        let page: JSON = try await shop.json.get("page").sender().value
        let names = page.data.items.arrayValue.map(\.name.stringValue)
        let count = page["data"]["count"].int ?? 0
        XCTAssertEqual(names.count, count)
        let badges: [Badge] = try await shop.json.get("badges").sender().value
        XCTAssertEqual(badges.map(\.points), [5, 0])
    }

    func testElementsThatAreInvalidAreSkipped() async throws {
        let server = try shopServer()
        server.on("/mixed", .json(#"{"users":[{"id":1,"name":"Ada"},{"id":"?"},7,{"id":2,"name":"Grace"}]}"#))
        let shop = APIClient(baseURL: server.url)
        let mixed: JSON = try await shop.json.get("mixed").sender().value
        let valid = mixed.users.arrayValue.compactMap { try? $0.decoded(as: User.self) }
        XCTAssertEqual(valid.map(\.name), ["Ada", "Grace"])
    }

    func testDecoderOfAClient() async throws {
        let server = try shopServer()
        server.on("/concert", .json(#"{"starts_at":"2026-11-23T20:00:00Z"}"#))
        let dated = APIClient(baseURL: server.url) {
            let decoder = JSONDecoder()
            decoder.dateDecodingStrategy = .iso8601
            decoder.keyDecodingStrategy = .convertFromSnakeCase
            $0.modelDecoder = decoder
        }
        let concert: Concert = try await dated.get("concert").sender().value
        XCTAssertEqual(concert.startsAt, Date(timeIntervalSince1970: 1_795_464_000))
    }

    func testErrorModelReadsTheEnvelope() async throws {
        let server = try shopServer()
        let wrapped = APIClient(baseURL: server.url) {
            $0.envelope = Envelope(status: "code", success: 0, message: "msg", payload: "data")
        }
        let error = await wrapped.get("refused", as: User.self, error: Refusal.self).sender().result.failure
        XCTAssertEqual(error?.code, 9)
        XCTAssertEqual(error?.message, "Sold out.")
        let general = await wrapped.get("refused", as: User.self).sender().result.failure
        XCTAssertEqual(general?.envelope?.message, "Sold out.")
    }

    func testLenientDecoder() async throws {
        let server = try shopServer()
        let careless = APIClient(baseURL: server.url) { $0.modelDecoder = LenientJSONDecoder() }
        let item: Item = try await careless.get("item").sender().value
        XCTAssertEqual(item.id, 7)
        XCTAssertEqual(item.title, "untitled")
        XCTAssertTrue(item.isNew)
    }

    func testEnvelopes() async throws {
        let server = try shopServer()
        let wrapped = APIClient(baseURL: server.url) {
            $0.envelope = Envelope(status: "code", success: 0, message: "msg", payload: "data")
        }
        let payload: User = try await wrapped.get("wrapped").sender().value
        let outcome = try await wrapped.codable.get("refused", as: User.self).outcome().sender().value
        print(outcome.isSuccess, outcome.message ?? "")
        XCTAssertEqual(payload.name, "Ada")
        XCTAssertEqual(outcome.message, "Sold out.")
    }

    func testFilteredResponse() async throws {
        let server = try shopServer()
        let shop = APIClient(baseURL: server.url)
        let response = await shop.data.get("page").validate(.none).sender().response
        let title = try response.filter(statuses: 200..<300).string(at: "data.items[0].name")
        let items: [User] = try response.decoded(at: "data.items")
        let none = try await shop.data.get("nothing").sender().response.decoded(as: User?.self, failsOnEmptyData: false)
        XCTAssertEqual([title], items.map(\.name))
        XCTAssertNil(none)
    }

    func testModelsOfClosures() async throws {
        let server = try shopServer()
        server.on("/numbers", .text("3;4"))
        let shop = APIClient(baseURL: server.url)
        let numbers = try await shop.serialized { response in
            String(decoding: response.body, as: UTF8.self).split(separator: ";").compactMap { Int($0) }
        }.get("numbers").sender().value
        XCTAssertEqual(numbers, [3, 4])
    }
}

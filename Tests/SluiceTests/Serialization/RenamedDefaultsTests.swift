import Sluice
import XCTest

/// Models with defaults, whose keys have other names in JSON.
final class RenamedDefaultsTests: XCTestCase {
    private struct Company: Codable, Sendable, Equatable, DefaultInitializable {
        var id = 0
        var name = "unnamed"
        var isOpen = true
        var boss = Person()

        enum CodingKeys: String, CodingKey {
            case id
            case name = "nickname"
            case isOpen = "open_for_business"
            case boss = "managing_director"
        }
    }

    private struct Person: Codable, Sendable, Equatable, DefaultInitializable {
        var name = "nobody"
        var age = 18

        enum CodingKeys: String, CodingKey {
            case name = "full_name"
            case age = "years"
        }
    }

    private func company(_ text: String, _ decoder: LenientJSONDecoder) async throws -> Company {
        let client = APIClient(baseURL: "http://shop.test") { $0.modelDecoder = decoder }
        return try await client.get("company", as: Company.self).stub(.json(text)).sender().value
    }

    func testDefaultsOfRenamedKeysHold() async throws {
        for decoder in [LenientJSONDecoder(), LenientJSONDecoder(fillsMissingValues: true)] {
            let empty = try await company("{}", decoder)
            XCTAssertEqual(empty, Company())
            let nulls = try await company(
                #"{"id":null,"nickname":null,"open_for_business":null,"managing_director":null}"#,
                decoder
            )
            XCTAssertEqual(nulls, Company())
            let some = try await company(
                #"{"id":"7","nickname":"Acme","managing_director":{"full_name":null,"years":"40"}}"#,
                decoder
            )
            XCTAssertEqual(some, Company(id: 7, name: "Acme", isOpen: true, boss: Person(name: "nobody", age: 40)))
        }
    }

    func testNeutralValuesAreForPropertiesWithoutDefaults() async throws {
        struct Order: Decodable, Sendable {
            var number: Int
            var company: Company
            var notes: [String]
        }
        let client = APIClient(baseURL: "http://shop.test") {
            $0.modelDecoder = LenientJSONDecoder(fillsMissingValues: true)
        }
        let order: Order = try await client.get("order").stub(.json("{}")).sender().value
        XCTAssertEqual(order.number, 0)
        XCTAssertEqual(order.notes, [])
        XCTAssertEqual(order.company, Company())
    }
}

import Foundation
import Testing

@testable import SluiceJSON

@Suite struct LenientJSONInStringTests {
    private struct Item: Codable, Equatable {
        var id: Int
        var tags: [String]
    }

    private func decode<Value: Decodable>(_ type: Value.Type, _ text: String) throws -> Value {
        try LenientJSONDecoder().decode(type, from: Data(text.utf8))
    }

    @Test func decodesObjectInString() throws {
        let item = Item(id: 1, tags: ["a\"b", "é"])
        let text = String(decoding: try JSONEncoder().encode(item), as: UTF8.self)
        let quoted = try JSONEncoder().encode(["item": text])
        #expect(try LenientJSONDecoder().decode([String: Item].self, from: quoted) == ["item": item])
    }

    @Test func decodesTopLevelAndNestedStrings() throws {
        let text = String(decoding: try JSONEncoder().encode(#"{"id":"1","tags":[]}"#), as: UTF8.self)
        #expect(try decode(Item.self, text) == Item(id: 1, tags: []))
        #expect(try decode(Item.self, #"{"id":1,"tags":" [\"a\", 2] \n"}"#) == Item(id: 1, tags: ["a", "2"]))
        #expect(try decode([[[Int]]].self, #"["[\"[1,\\\"2\\\"]\"]"]"#) == [[[1, 2]]])
    }

    @Test func rejectsOtherKindsInString() {
        for text in [#""""#, #"" ""#, #""[]""#, #""1""#, #""null""#, #""\"{}\"""#, #""x{}""#] {
            #expect(throws: DecodingError.self) { try decode(Item.self, text) }
        }
        for text in [#""""#, #""{}""#, #""a,b""#, #""null""#] {
            #expect(throws: DecodingError.self) { try decode([Int].self, text) }
        }
    }

    @Test func keepsStringsForStringProperties() throws {
        #expect(try decode([String].self, #"["[1]","{}"]"#) == ["[1]", "{}"])
    }

    @Test func appliesStrategiesInString() throws {
        struct Model: Decodable, Equatable {
            var innerItem: Inner
            struct Inner: Decodable, Equatable, DefaultInitializable {
                var madeAt = Date.distantPast
                var someName = "x"
            }
        }
        let decoder = LenientJSONDecoder(
            keyDecodingStrategy: .convertFromSnakeCase,
            dateDecodingStrategy: .secondsSince1970
        )
        let text = #"{"inner_item":"{\"made_at\":\"5\"}"}"#
        let expected = Model(innerItem: .init(madeAt: Date(timeIntervalSince1970: 5), someName: "x"))
        #expect(try decoder.decode(Model.self, from: Data(text.utf8)) == expected)
    }
}

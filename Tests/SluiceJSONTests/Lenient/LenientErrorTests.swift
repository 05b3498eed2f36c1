import Foundation
import Testing

@testable import Sluice
@testable import SluiceJSON

@Suite struct LenientErrorTests {
    private struct Item: Decodable {
        var id: UInt8
        var price: Double
        var place: Place?
        struct Place: Decodable { var city: String }
    }

    private struct Order: Decodable {
        var items: [Item]
        var totals: [String: Int]?
        var grid: [[Bool]]?
    }

    @Test(arguments: [
        (#"{"items":[{"id":1,"price":1},{"id":2,"price":2},{"id":3,"price":"x"}]}"#, "items[2].price"),
        (#"{"items":[{"id":"300","price":1}]}"#, "items[0].id"),
        (#"{"items":[{"id":1.5,"price":1}]}"#, "items[0].id"),
        (#"{"items":[{"id":1}]}"#, "items[0]"),
        (#"{"items":[{"id":1,"price":null}]}"#, "items[0].price"),
        (#"{"items":[null]}"#, "items[0]"),
        (#"{"items":{}}"#, "items"),
        (#"{"items":"none"}"#, "items"),
        (#"{"items":""}"#, "items"),
        (#"{"items":[{"id":1,"price":1,"place":{"city":[]}}]}"#, "items[0].place.city"),
        (#"{"items":[{"id":1,"price":1,"place":7}]}"#, "items[0].place"),
        (#"{"items":"[{\"id\":1,\"price\":\"free\"}]"}"#, "items[0].price"),
        (#"{"items":[],"totals":{"a":1,"b":"c"}}"#, "totals.b"),
        (#"{"items":[],"grid":[[],[true,"yes",3]]}"#, "grid[1][2]"),
        (#"{"items":[],"grid":["[true]","[false,[]]"]}"#, "grid[1][1]"),
        ("{}", ""), ("[]", ""), ("\"\"", ""),
    ])
    func errorNamesPath(text: String, path: String) {
        let data = Data(text.utf8)
        let error = #expect(throws: DecodingError.self) { try LenientJSONDecoder().decode(Order.self, from: data) }
        guard let error else { return }
        #expect(DecodingFailure(Order.self, body: data, cause: error).codingPath == path)
    }

    @Test func missingKeyIsNamed() {
        let error = #expect(throws: DecodingError.self) {
            try LenientJSONDecoder().decode(Order.self, from: Data(#"{"items":[{"price":1}]}"#.utf8))
        }
        guard case .keyNotFound(let key, let context)? = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(key.stringValue == "id")
        #expect(context.codingPath.map(\.stringValue) == ["items", "Index 0"])
    }

    @Test(arguments: [
        ("\"secret\"", "Expected Int, found a string that cannot be converted without loss."),
        ("1.5", "Expected Int, found a number that cannot be converted without loss."),
        ("[1]", "Expected Int, found an array that cannot be converted without loss."),
        ("null", "Expected Int, found null."),
    ])
    func errorNamesKindsWithoutValue(text: String, description: String) {
        let error = #expect(throws: DecodingError.self) {
            try LenientJSONDecoder().decode([String: Int].self, from: Data("{\"a\":\(text)}".utf8))
        }
        switch error {
        case .typeMismatch(_, let context), .valueNotFound(_, let context):
            #expect(context.debugDescription == description)
        default: Issue.record("\(String(describing: error))")
        }
    }

    @Test func invalidJSONIsCorruptedData() {
        for text in ["", "{", "[1,]", "nul", "{\"a\":1}}"] {
            let error = #expect(throws: DecodingError.self) {
                try LenientJSONDecoder().decode([Int].self, from: Data(text.utf8))
            }
            guard case .dataCorrupted(let context)? = error else {
                Issue.record("\(String(describing: error))")
                continue
            }
            #expect(context.underlyingError is JSONSyntaxError)
            #expect(context.codingPath.isEmpty)
        }
    }

    @Test func invalidJSONInStringIsCorruptedData() {
        let error = #expect(throws: DecodingError.self) {
            try LenientJSONDecoder().decode([[Int]].self, from: Data(#"["[1,]"]"#.utf8))
        }
        guard case .dataCorrupted(let context)? = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect((context.underlyingError as? JSONSyntaxError)?.offset == 3)
        #expect(context.codingPath.map(\.intValue) == [0])
    }

    @Test func superDecoderSkipsUndecodableElement() throws {
        struct Lossy: Decodable {
            var values: [Int] = []
            init(from decoder: any Decoder) throws {
                var container = try decoder.unkeyedContainer()
                while !container.isAtEnd {
                    if let value = try? container.decode(Int.self) {
                        values.append(value)
                    } else {
                        _ = try container.superDecoder()
                    }
                }
            }
        }
        let lossy = try LenientJSONDecoder().decode(Lossy.self, from: Data(#"[1,"x","2",null,{"a":[]},3]"#.utf8))
        #expect(lossy.values == [1, 2, 3])
    }
}

import Foundation
import SluiceTesting
import Testing

@testable import SluiceJSON

@Suite struct LenientHostileInputTests {
    private struct Model: Decodable, DefaultInitializable {
        var id = 0
        var name = ""
        var price = 0.0
        var isNew = false
        var exact = Decimal()
        var made: Date?
        var tags: [String] = []
        var children: [Model]? = nil
        var byName: [String: UInt8] = [:]
    }

    private let text = #"""
        {"id":"12","name":1.10,"price":"-1e3","isNew":"Yes","exact":"1.5","made":"7","tags":"[1,\"é\",true]",
         "children":[{"id":1.0,"children":"[{\"name\":\"\\u00e9\\ud834\\udd1e\"}]"}],"byName":{"a":"255"},"x":[null,{}]}
        """#

    private let decoders = [
        LenientJSONDecoder(), LenientJSONDecoder(fillsMissingValues: true, keyDecodingStrategy: .convertFromSnakeCase),
        LenientJSONDecoder(convertsTypes: false, dateDecodingStrategy: .iso8601),
    ]

    @Test func rejectsEveryTruncationWithoutTrap() {
        let data = Data(text.utf8)
        for decoder in decoders {
            for length in 0..<data.count {
                #expect(throws: DecodingError.self) { try decoder.decode(Model.self, from: data.prefix(length)) }
            }
        }
    }

    @Test(arguments: 0..<40)
    func mutatedInputDoesNotTrap(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        let original = Array(text.utf8)
        let bytes = Array(#"0159.eE+-"\u{}[],:tfn "#.utf8)
        for _ in 0..<100 {
            var mutated = original
            for _ in 0...Int.random(in: 0...3, using: &generator) {
                let index = Int.random(in: 0..<mutated.count, using: &generator)
                let byte = bytes.randomElement(using: &generator) ?? 0
                switch Int.random(in: 0...3, using: &generator) {
                case 0: mutated.remove(at: index)
                case 1: mutated.insert(byte, at: index)
                case 2: mutated[index] = UInt8.random(in: 0...255, using: &generator)
                default: mutated[index] = byte
                }
            }
            for decoder in decoders {
                do {
                    _ = try decoder.decode(Model.self, from: Data(mutated))
                } catch {
                    #expect(error is DecodingError)
                }
            }
        }
    }

    @Test func limitsNesting() throws {
        final class Tree: Decodable { var a: [Tree]? }
        func text(_ levels: Int) -> Data {
            Data((String(repeating: "{\"a\":[", count: levels) + String(repeating: "]}", count: levels)).utf8)
        }
        _ = try LenientJSONDecoder().decode(Tree.self, from: text(256))
        #expect(throws: DecodingError.self) { try LenientJSONDecoder().decode(Tree.self, from: text(257)) }
        #expect(throws: DecodingError.self) { try LenientJSONDecoder().decode(Tree.self, from: text(100_000)) }
    }

    @Test func nestingInStringsCountsTowardsLimit() throws {
        final class Tree: Decodable { var a: [Tree]? }
        let inner = String(repeating: "{\\\"a\\\":[", count: 100) + String(repeating: "]}", count: 100)
        func text(_ levels: Int) -> Data {
            let opening = String(repeating: "{\"a\":[", count: levels)
            return Data((opening + "\"\(inner)\"" + String(repeating: "]}", count: levels)).utf8)
        }
        _ = try LenientJSONDecoder().decode(Tree.self, from: text(156))
        #expect(throws: DecodingError.self) { try LenientJSONDecoder().decode(Tree.self, from: text(157)) }
    }

    @Test func handlesVeryLongNumbers() {
        let digits = String(repeating: "9", count: 20_000)
        for number in [
            digits, "0." + digits, "1e" + digits, "-" + digits + "e-" + digits,
            "1" + String(repeating: "0", count: 20_000),
        ] {
            let data = Data("[\(number),\"\(number)\"]".utf8)
            #expect(throws: DecodingError.self) { try LenientJSONDecoder().decode([Int].self, from: data) }
            #expect(throws: DecodingError.self) { try LenientJSONDecoder().decode([Int128].self, from: data) }
            _ = try? LenientJSONDecoder().decode([Double].self, from: data)
            _ = try? LenientJSONDecoder().decode([Decimal].self, from: data)
            _ = try? LenientJSONDecoder().decode([Bool].self, from: data)
        }
    }
}

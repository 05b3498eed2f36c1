import Foundation
import Sluice
import Testing

@Suite struct JSONDecodableTests {
    enum Role: String, JSONDecodable { case admin, guest }
    enum Level: Int8, JSONDecodable { case low, high }

    /// Checks the models that are decoded from JSON values.
    private func expect<Model: JSONDecodable & Equatable>(
        _ models: KeyValuePairs<JSON, Model>,
        refused: [JSON],
        as expected: String,
        sourceLocation: SourceLocation = #_sourceLocation
    ) {
        for (json, model) in models {
            #expect((try? Model(json: json)) == model, sourceLocation: sourceLocation)
        }
        for json in refused {
            let failure = #expect(throws: JSONDecodingFailure.self, sourceLocation: sourceLocation) {
                try Model(json: json)
            }
            #expect(failure?.expected == expected, sourceLocation: sourceLocation)
            #expect(failure?.found == JSON.Kind(json), sourceLocation: sourceLocation)
            #expect(failure?.path == "", sourceLocation: sourceLocation)
        }
    }

    @Test func builtInTypesDecodeStrictly() throws {
        expect(["1": "1", "": ""], refused: [1, true, nil, ["a"], [:]], as: "a string")
        expect([true: true, false: false], refused: [1, 0, "true", nil, []], as: "a boolean")
        expect([1.5: 1.5, 2: 2.0], refused: ["1.5", true, nil, try JSON(parsing: "1e400")], as: "a number")
        expect([1.5: Float(1.5)], refused: ["1.5", try JSON(parsing: "1e39"), nil], as: "a number")
        expect([12: JSONNumber(12)], refused: ["1", nil], as: "a number")
        let url = try #require(URL(string: "https://a.b/c"))
        expect(["https://a.b/c": url], refused: ["", 1, []], as: "a URL")
        expect(["a": JSON.string("a"), nil: JSON.null], refused: [], as: "")
        expect([nil: Int?.none, 3: 3], refused: ["3"], as: "a whole number that fits Int")
        expect([[1, 2]: [1, 2], []: []], refused: [["a": 1], 1, nil], as: "an array")
        expect([["a": 1]: ["a": 1], [:]: [:]], refused: [[1], "a", nil], as: "an object")
    }

    private func number(_ literal: String) -> JSON {
        JSONNumber(literal).map(JSON.number) ?? .null
    }

    @Test func integersOfEveryWidthAcceptTheirRange() {
        func check<Integer: FixedWidthInteger & JSONDecodable & JSONEncodable>(_ type: Integer.Type) {
            let (low, high) = (JSON(Integer.min), JSON(Integer.max))
            let beyond = number(String(high.description.dropLast()) + "8")
            expect(
                [low: Integer.min, high: .max, number("7.0"): 7, number("1e1"): 10],
                refused: [beyond, 1.5, "1", true, nil, [1]],
                as: "a whole number that fits \(Integer.self)"
            )
            if !Integer.isSigned { #expect(throws: JSONDecodingFailure.self) { try Integer(json: -1) } }
        }
        check(Int.self)
        check(Int8.self)
        check(Int16.self)
        check(Int32.self)
        check(Int64.self)
        check(Int128.self)
        check(UInt.self)
        check(UInt8.self)
        check(UInt16.self)
        check(UInt32.self)
        check(UInt64.self)
        check(UInt128.self)
    }

    @Test func enumsAcceptTheirRawValues() {
        expect(["admin": Role.admin, "guest": .guest], refused: ["root"], as: "a raw value of Role")
        expect([1: Level.high], refused: [2], as: "a raw value of Level")
        expect([:] as KeyValuePairs<JSON, Role>, refused: [1, nil], as: "a string")
        expect([:] as KeyValuePairs<JSON, Level>, refused: [300, "1"], as: "a whole number that fits Int8")
    }

    @Test func emptyAcceptsAnyValue() throws {
        for json: JSON in [nil, 1, "a", [], ["a": 1]] {
            _ = Empty(json: json)
            #expect(try json.decoded(as: Empty.self) == Empty())
            #expect(try json.value(at: "", as: Empty.self) == Empty())
        }
        #expect(try JSON(encoding: Empty()) == [:])
    }
}

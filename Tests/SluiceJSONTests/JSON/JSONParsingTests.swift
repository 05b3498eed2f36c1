import Foundation
import Sluice
import SluiceTesting
import Testing

@Suite struct JSONParsingTests {
    @Test(arguments: 0..<150)
    func parsesRandomTextLikeJSONDecoder(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        let text = RandomJSON.text(depth: 5, using: &generator)
        let json = try JSON(parsing: text)
        #expect(try JSON(parsing: Data(text.utf8)) == json)
        #expect(try JSONDecoder().decode(JSON.self, from: Data(text.utf8)) == json)
    }

    @Test(arguments: [
        #"{"a":1,"a":2}"#, #"{"a":1,"\u0061":2}"#, "{\"\u{e9}\":1,\"e\u{301}\":2}", #"{"a":null,"a":1,"b":{}}"#,
    ])
    func keepsFirstOfEqualNamesLikeJSONDecoder(text: String) throws {
        let json = try JSON(parsing: text)
        #expect(try JSONDecoder().decode(JSON.self, from: Data(text.utf8)) == json)
        #expect(json.dictionaryValue.keys.filter { $0 != "b" }.count == 1)
    }

    /// A text of 3 bytes for each object must not cost a table of members for each.
    @Test func emptyObjectsAllocateNoTable() throws {
        let json = try JSON(parsing: #"[{},{"a":{}}]"#)
        #expect(json[0].dictionaryValue.capacity == 0)
        #expect(json[1]["a"].dictionaryValue.capacity == 0)
    }

    @Test func parsesSliceOfData() throws {
        let data = Data("xxx[1,2]yyy".utf8)
        #expect(try JSON(parsing: data.dropFirst(3).dropLast(3)) == [1, 2])
    }

    @Test(arguments: [
        "", " ", "nul", "[1,]", "{\"a\"}", "'a'", "[1] 2", "NaN", "\"\u{1}\"", #""\ud800""#, "// c\n1", "\u{0}",
    ])
    func rejectsInvalidText(text: String) {
        let error = #expect(throws: JSONSyntaxError.self) { try JSON(parsing: text) }
        #expect(error?.description.hasPrefix("The text is not valid JSON: ") == true)
    }

    @Test func rejectsInvalidUTF8() {
        for bytes: [UInt8] in [
            [0x22, 0xFF, 0x22], [0x22, 0xC3, 0x22], [0xFF, 0xFE], [0x22, 0xED, 0xA0, 0x80, 0x22],
        ] {
            #expect(throws: JSONSyntaxError.self) { try JSON(parsing: Data(bytes)) }
        }
    }

    @Test func limitsNestingAndSupportsDepthBelowLimit() throws {
        #expect(throws: JSONSyntaxError.self) { try JSON(parsing: String(repeating: "[", count: 1_000_000)) }
        let arrays = String(repeating: "[", count: 512) + String(repeating: "]", count: 512)
        let objects = String(repeating: #"{"a":"#, count: 511) + "{}" + String(repeating: "}", count: 511)
        for text in [arrays, objects] {
            let json = try JSON(parsing: text)
            #expect(json.description == text)
            #expect(try JSON(parsing: json.formatted()) == json)
            #expect(try JSON(parsing: text).hashValue == json.hashValue)
            #expect(try JSON(encoding: [json].first) == json)
        }
    }

    @Test func handlesVeryLongNumbers() throws {
        let nines = String(repeating: "9", count: 100_000)
        let zeros = String(repeating: "0", count: 100_000)
        for text in [
            nines, "-\(nines)", "0.\(nines)", "1\(zeros)", "1e\(nines)", "1e-\(nines)", "0.\(zeros)1", "0e\(nines)",
        ] {
            let json = try JSON(parsing: text)
            #expect(json.stringValue == text)
            #expect(json == json)
            #expect(Set([json, JSON(json)]).count == 1)
            #expect(json.int == (text.hasPrefix("0e") ? 0 : nil))
            #expect(json.intValue == 0)
            #expect(json.double?.isFinite != false)
            #expect(JSON.string(text).intValue == 0)
            #expect(JSON.string(text).doubleValue.isFinite)
        }
    }

    @Test func mergesManyMembersOfOneName() throws {
        let text = "{" + String(repeating: #""a":1,"#, count: 50_000) + #""b":2}"#
        #expect(try JSON(parsing: text) == ["a": 1, "b": 2])
    }
}

import Foundation
import Sluice
import SluiceTesting
import Testing

@Suite struct JSONWritingTests {
    @Test(
        arguments: [
            (nil, "null"), (true, "true"), (false, "false"), ("", #""""#), ([], "[]"), ([:], "{}"), (-1, "-1"),
            (["b": [1, nil], "a": "x", "B": [:]], #"{"B":{},"a":"x","b":[1,null]}"#),
            ("\"\\/\u{8}\u{C}\n\r\t\0\u{1F}\u{7F}", #""\"\\/\b\f\n\r\t\u0000\u001f\#u{7F}""#),
            ("é 😀 \u{2028}", "\"é 😀 \u{2028}\""),
            (["a\"b": 1], #"{"a\"b":1}"#),
        ] as [(JSON, String)]
    )
    func writesCompactText(json: JSON, text: String) throws {
        #expect(json.description == text)
        #expect(json.encoded() == Data(text.utf8))
        #expect(try JSON(parsing: text) == json)
    }

    @Test func writesPrettyText() {
        let json: JSON = ["b": [1, ["c": nil], [], [:]], "a": "x"]
        let text = """
            {
              "a": "x",
              "b": [
                1,
                {
                  "c": null
                },
                [],
                {}
              ]
            }
            """
        #expect(json.formatted() == text)
        #expect(json.encoded(.pretty) == Data(text.utf8))
        #expect(json.formatted(.compact) == json.description)
    }

    @Test func ordersMembersWithEquivalentPrefixesDeterministically() {
        for _ in 0..<50 {
            // Swift orders neither of the two before the other, and the order of a dictionary differs each time.
            let json: JSON = ["\u{E9}[": 2, "e\u{301}": 1]
            #expect(json.description == "{\"e\u{301}\":1,\"\u{E9}[\":2}")
        }
    }

    @Test func escapesEveryControlCharacter() throws {
        for byte in UInt8(0)..<0x20 {
            let json = JSON.string("a\(Unicode.Scalar(byte))b")
            #expect(json.encoded().allSatisfy { $0 >= 0x20 })
            #expect(try JSONDecoder().decode(String.self, from: json.encoded()) == json.string)
        }
    }

    @Test(arguments: 0..<100)
    func roundTripsRandomValues(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        let text = RandomJSON.text(depth: 5, using: &generator)
        let json = try JSON(parsing: text)
        for format in [JSON.Format.compact, .pretty, .init(sortsKeys: false), .init(isPretty: true, sortsKeys: false)] {
            #expect(try JSON(parsing: json.encoded(format)) == json)
            #expect(try JSON(parsing: json.formatted(format)).hashValue == json.hashValue)
        }
    }

    // Text 44 has a duplicate member, of which JSONSerialization keeps the last.
    @Test(arguments: (0..<100).filter { $0 != 44 })
    func foundationReadsWrittenTextLikeOriginal(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        let text = RandomJSON.text(depth: 5, using: &generator)
        func read(_ data: Data) throws -> NSObject? {
            try JSONSerialization.jsonObject(with: data, options: .fragmentsAllowed) as? NSObject
        }
        let original = try #require(try read(Data(text.utf8)))
        #expect(try read(JSON(parsing: text).encoded()) == original)
        #expect(try read(JSON(parsing: text).encoded(.pretty)) == original)
    }
}

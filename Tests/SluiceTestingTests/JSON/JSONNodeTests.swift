import Foundation
import Testing

@testable import SluiceTesting

@Suite struct JSONNodeTests {
    @Test(arguments: [
        #"{"b":1,"a":[true,false,null,1.50,-0.5e+3,"x\"\\\n"]}"#, "[]", "{}", #""é😀""#, "0", #"[{"a":{"b":[[]]}}]"#,
    ])
    func whatIsReadIsWrittenAsItWas(_ text: String) throws {
        let node = try JSONReading.node(of: Data(text.utf8))
        #expect(String(decoding: node.compact, as: UTF8.self) == text)
        #expect(try JSONReading.node(of: node.pretty) == node)
    }

    @Test(arguments: [
        ("", "it ends too early, in line 1"), ("{\"a\":1,\n", "it ends too early, in line 2"), ("[1 2]", "a comma"),
        ("{} x", "more behind"), ("[01]", "no value"), ("[tru]", "unknown word"), (#"["\x"]"#, "unknown escape"),
        ("[1.]", "fraction"), ("{1:2}", "quotation mark"), (String(repeating: "[", count: 300), "nested too deeply"),
    ])
    func whatIsWrongIsSaidWithItsLine(_ text: String, _ reason: String) {
        let failure = #expect(throws: JSONReading.Failure.self) { try JSONReading.node(of: Data(text.utf8)) }
        #expect(failure?.description.contains(reason) == true, "\(String(describing: failure))")
    }

    @Test(arguments: [
        (#"{"a":1,"b":2}"#, #"{"b":2.0,"a":1}"#, true), ("[1,2]", "[2,1]", false), ("1e2", "100", true),
        ("9007199254740993", "9007199254740992", false), (#"{"a":1}"#, #"{"a":1,"b":null}"#, false),
        (#""\u00e9""#, #""é""#, true),
    ])
    func equalityIsThatOfWhatItSays(_ one: String, _ other: String, _ isEqual: Bool) throws {
        let nodes = try [one, other].map { try JSONReading.node(of: Data($0.utf8)) }
        #expect((nodes[0] == nodes[1]) == isEqual)
    }
}

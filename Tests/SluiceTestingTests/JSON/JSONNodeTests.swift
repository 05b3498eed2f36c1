import Foundation
import Testing

@testable import SluiceTesting

@Suite struct JSONNodeTests {
    @Test(arguments: [
        #"{"b":1,"a":[true,false,null,1.50,-0.5e+3,"x\"\\\n"]}"#, "[]", "{}", #""é😀""#, "0", #"[{"a":{"b":[[]]}}]"#,
    ])
    func roundTripsText(_ text: String) throws {
        let node = try JSONNode(parsing: Data(text.utf8))
        #expect(String(decoding: node.compact, as: UTF8.self) == text)
        #expect(try JSONNode(parsing: Data(node.text(indentedBy: 0).utf8)) == node)
    }

    @Test(arguments: [
        ("", "it ends too early, in line 1"), ("{\"a\":1,\n", "it ends too early, in line 2"),
        ("{} x", "there is text after its value, in line 1"),
        ("[01]", "a number must not have leading zeros, in line 1"),
        ("[\n\"\\x\"]", "an escape sequence is not valid, in line 2"), ("[1.]", "a digit is expected, in line 1"),
        ("[tru]", "in line 1"), ("[1 2]", "in line 1"), ("{1:2}", "in line 1"),
        ("\"\\ud83d\"", "a surrogate is unpaired"),
        (String(repeating: "[", count: 600), "it is nested more than 512 levels deep"),
    ])
    func rejectsInvalidTextWithLine(_ text: String, _ reason: String) {
        let failure = #expect(throws: RecordingFailure.self) { try JSONNode.recording(Data(text.utf8)) }
        #expect(failure?.description.contains(reason) == true, "\(String(describing: failure))")
    }

    @Test func limitsNesting() throws {
        for (depth, isRead) in [(3, true), (4, false)] {
            let text = String(repeating: "[", count: depth) + String(repeating: "]", count: depth)
            #expect(((try? JSONNode(parsing: Data(text.utf8), within: 3)) != nil) == isRead)
        }
    }
}

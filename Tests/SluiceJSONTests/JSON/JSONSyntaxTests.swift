import Foundation
import Testing

@testable import SluiceJSON

@Suite struct JSONSyntaxTests {
    @Test(arguments: [
        "null", "true", "false", "0", "-0", "12", "-1.5", "1e5", "1E+5", "0.5e-05", "123456789012345678901234567890",
        "\"\"", "\"a\"", "[]", "{}", " [ ] ", "\t{\n}\r\n", "[1,2,3]", "[[],[[]],{}]", "{\"a\":1}", "{\"\":0}",
        "{ \"a\" : [ { } , null ] , \"b\" : \"c\" }", "{\"a\":1,\"a\":2}", "[\"\\\"\\\\\\/\\b\\f\\n\\r\\t\"]",
        "[\"\\u0000\\u00e9\\uFFFF\\uD834\\uDD1E\"]", "[\"\u{7F}\u{80}é€𝄞\u{10FFFF}\u{FEFF}\u{2028}\"]", "[1e400]",
        "[\"01234567\"]", "[\"0123456\"]", "\u{FEFF}[1]", "[\"//\",\"/*\"]", "{\"\\u0061\":true}",
    ])
    func acceptsValidText(text: String) throws {
        let document = try JSONDocument(Data(text.utf8))
        #expect(document.tape.count > 0)
        #expect(throws: Never.self) { try JSONDocument(text) }
    }

    @Test(
        arguments: [
            ("", "it ends too early", 0), (" \n ", "it ends too early", 3), ("[", "it ends too early", 1),
            ("[1", "it ends too early", 2), ("[1,", "it ends too early", 3), ("{", "it ends too early", 1),
            ("{\"a\"", "it ends too early", 4), ("{\"a\":", "it ends too early", 5),
            ("{\"a\":1,", "it ends too early", 7),
            ("\"", "it ends within a string", 1), ("[\"abc", "it ends within a string", 5),
            ("[1,]", "a value is expected", 3), ("[,1]", "a value is expected", 1),
            ("[1,,2]", "a value is expected", 3), ("]", "a value is expected", 0),
            ("[1}", "a comma or “]” is expected", 2), ("{\"a\":1]", "a comma or “}” is expected", 6),
            ("[1 2]", "a comma or “]” is expected", 3), ("{\"a\":1 \"b\":2}", "a comma or “}” is expected", 7),
            ("{\"a\":1,}", "a member name is expected", 7), ("{,}", "a member name is expected", 1),
            ("{a:1}", "a member name is expected", 1), ("{1:1}", "a member name is expected", 1),
            ("{'a':1}", "a member name is expected", 1), ("{\"a\" 1}", "a colon is expected", 5),
            ("{\"a\"::1}", "a value is expected", 5), ("{\"a\":}", "a value is expected", 5),
            ("1 2", "there is text after its value", 2), ("[]]", "there is text after its value", 2),
            ("{}#", "there is text after its value", 2), ("null\u{0}", "there is text after its value", 4),
            ("nul", "a value is expected", 0), ("tru e", "a value is expected", 0),
            ("False", "a value is expected", 0), ("nan", "a value is expected", 0),
            ("Infinity", "a value is expected", 0), ("nullx", "there is text after its value", 4),
            ("01", "a number must not have leading zeros", 0), ("-01", "a number must not have leading zeros", 0),
            ("-", "a digit is expected", 1), ("+1", "a value is expected", 0),
            (".5", "a value is expected", 0), ("1.", "a digit is expected", 2),
            ("1.e5", "a digit is expected", 2), ("1e", "a digit is expected", 2),
            ("1e+", "a digit is expected", 3), ("0x1", "there is text after its value", 1),
            ("1_000", "there is text after its value", 1), ("--1", "a digit is expected", 1),
            ("\"\\x\"", "an escape sequence is not valid", 1), ("\"\\", "an escape sequence is not valid", 1),
            ("\"\\U0041\"", "an escape sequence is not valid", 1),
            ("\"\\u12\"", "four hexadecimal digits are expected", 3),
            ("\"\\u12G4\"", "four hexadecimal digits are expected", 3),
            ("\"\\u", "four hexadecimal digits are expected", 3),
            ("\"\\ud800\"", "a surrogate is unpaired", 1), ("\"\\udc00\"", "a surrogate is unpaired", 1),
            ("\"\\ud800\\u0041\"", "a surrogate is unpaired", 1), ("\"\\ud800\\ud800\"", "a surrogate is unpaired", 1),
            ("\"\\ud800", "a surrogate is unpaired", 1),
            ("\"a\tb\"", "a control character in a string must be escaped", 2),
            ("\"a\nb\"", "a control character in a string must be escaped", 2),
            ("\"\u{0}\"", "a control character in a string must be escaped", 1),
            ("[1]\u{A0}", "there is text after its value", 3), ("\u{2060}[1]", "a value is expected", 0),
            ("[1]//", "there is text after its value", 3), ("/**/1", "a value is expected", 0),
            ("[1\u{C}]", "a comma or “]” is expected", 2),
        ] as [(String, String, Int)]
    )
    func rejectsInvalidTextWithReasonAndOffset(text: String, reason: String, offset: Int) {
        let error = #expect(throws: JSONSyntaxError.self) { try JSONDocument(Data(text.utf8)) }
        #expect(error?.reason == reason)
        #expect(error?.offset == offset)
    }

    @Test(
        arguments: [
            [0x80], [0xBF], [0xC0, 0x80], [0xC1, 0xBF], [0xC2], [0xC2, 0x41], [0xE0, 0x80, 0x80], [0xE0, 0x9F, 0xBF],
            [0xE2, 0x82],
            [0xE2, 0x82, 0x41], [0xED, 0xA0, 0x80], [0xED, 0xBF, 0xBF], [0xF0, 0x8F, 0xBF, 0xBF], [0xF0, 0x9D, 0x84],
            [0xF0, 0x9D, 0x84, 0x41], [0xF4, 0x90, 0x80, 0x80], [0xF5, 0x80, 0x80, 0x80], [0xFE], [0xFF],
            [0xC3, 0xA9, 0xA9],
        ] as [[UInt8]]
    )
    func rejectsInvalidUTF8InStrings(bytes: [UInt8]) {
        for padding in 0...9 {
            let text = Data([0x22]) + Data(repeating: 0x61, count: padding) + Data(bytes) + Data([0x22])
            let error = #expect(throws: JSONSyntaxError.self) { try JSONDocument(text) }
            #expect(error?.reason == "a string is not valid UTF-8")
        }
    }

    @Test func rejectsOtherEncodings() {
        for encoding in [String.Encoding.utf16, .utf16LittleEndian, .utf32BigEndian] {
            #expect(throws: JSONSyntaxError.self) { try JSONDocument("[\"a\"]".data(using: encoding) ?? Data()) }
        }
    }

    @Test func errorNamesLineAndColumn() throws {
        let error = #expect(throws: JSONSyntaxError.self) { try JSONDocument("{\n  \"é\": 1,\n  \"€\": ?\n}") }
        #expect(error?.line == 3)
        #expect(error?.column == 8)
        #expect(error?.description == "The text is not valid JSON: a value is expected (line 3, column 8).")
    }

    @Test func limitsNesting() throws {
        for (opening, closing) in [("[", "]"), ("{\"a\":", "}")] {
            for (depth, isAccepted) in [(1, true), (512, true), (513, false), (100_000, false)] {
                let inner = opening == "[" ? "" : "1"
                let text = String(repeating: opening, count: depth) + inner + String(repeating: closing, count: depth)
                #expect((try? JSONDocument(text)) != nil ? isAccepted : !isAccepted)
            }
            #expect(throws: JSONSyntaxError.self) { try JSONDocument(String(repeating: opening, count: 100_000)) }
        }
        // The depth counts open containers, not their total number.
        _ = try JSONDocument("[" + String(repeating: "[],", count: 1000) + "[]]")
    }
}

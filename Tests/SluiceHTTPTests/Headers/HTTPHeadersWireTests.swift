import SluiceHTTP
import Testing

@Suite struct HTTPHeadersWireTests {
    @Test(arguments: [
        ("", "x", false), ("A", "", true), ("A b", "x", false), ("A:", "x", false), (" A", "x", false),
        ("A\t", "x", false), ("A\r\nB", "x", false), ("A\0", "x", false), ("Ä", "x", false), ("\u{7F}", "x", false),
        ("(A)", "x", false), ("A/B", "x", false), ("A\"", "x", false), ("!#$%&'*+-.^_`|~09azAZ", "x", true),
        ("A", "x\r", false), ("A", "\nx", false), ("A", "x\r\nB: y", false), ("A", "x\0y", false), ("A", "\0", false),
        ("A", "\t ü \u{80}~ 1234567890", true), ("A", "\u{10A}\u{D}\u{301}", false), ("A", "x\u{1}", false),
        ("A", "\u{1F}", false), ("A", "\u{7F}", false), ("A", "12345678\u{7F}12345678", false),
        ("A", "12345678\u{1B}[0m12345678", false), ("A", "1234\t5678\t", true),
    ])
    func rejectsInvalidNamesAndValues(name: String, value: String, isValid: Bool) {
        let headers: HTTPHeaders = ["Fine": "1", HTTPHeaderName(name): value, "After": "2"]
        let invalid = headers.firstInvalidField
        #expect((invalid == nil) == isValid)
        if let invalid {
            #expect(invalid.name.rawValue == name)
            #expect(invalid.value == value)
        }
    }

    @Test func firstOfSeveralInvalidFieldsIsReported() {
        let headers: HTTPHeaders = ["A": "1", "B": "x\n", "C C": "2"]
        #expect(headers.firstInvalidField?.name == "B")
        #expect(HTTPHeaders().firstInvalidField == nil)
    }

    @Test(arguments: 0...UInt8.max)
    func tokenCharactersAreThoseOfTheStandard(byte: UInt8) {
        let allowed = "!#$%&'*+-.^_`|~0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
        #expect(byte.isTokenCharacter == allowed.utf8.contains(byte))
    }

    @Test(arguments: [
        ("A", "1", false), ("Long-Name", "", true), ("B", "é", false), ("C", " ", true), ("D", " \t", true),
    ])
    func lineOffsetsPointIntoTheBytes(name: String, value: String, isEmpty: Bool) {
        var headers: HTTPHeaders = ["Removed": "x", "Before": "0", HTTPHeaderName(name): value, "After": "2"]
        headers.remove("Removed")
        let line = headers.line(at: 1)
        #expect(String(decoding: headers.bytes[line.offset..<line.end], as: UTF8.self) == "\(name): \(value)")
        #expect(line.nameLength == name.utf8.count)
        #expect(line.isValueEmpty == isEmpty)
        #expect(headers.bytes[line.end] == 0)
    }

    @Test func receivedBytesEqualWrittenText() {
        var received = HTTPHeaders()
        for (name, value) in [("Server", "x"), ("Empty", ""), ("Text", "grün")] {
            Array(name.utf8).withUnsafeBytes { name in
                Array(value.utf8).withUnsafeBytes { value in received.append(name: name, value: value) }
            }
        }
        let written: HTTPHeaders = ["Server": "x", "Empty": "", "Text": "grün"]
        #expect(received == written)
        #expect(received.bytes == written.bytes)
    }

    @Test func invalidUTF8InAValueIsReplacedWhenRead() {
        var headers = HTTPHeaders()
        Array("Name".utf8).withUnsafeBytes { name in
            [UInt8(ascii: "a"), 0xFF].withUnsafeBytes { value in headers.append(name: name, value: value) }
        }
        headers.append("Next", "1")
        #expect(headers["name"] == "a\u{FFFD}")
        #expect(headers["next"] == "1")
    }
}

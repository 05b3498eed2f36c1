import Foundation
import SluiceHTTP
import Testing

/// Field values that are not UTF-8, as a header section stores them.
@Suite struct FieldValueTests {
    private static let latin = FieldValue(bytes: Array("\"caf".utf8) + [0xE9, UInt8(ascii: "\"")])
    private static let other = FieldValue(bytes: Array("\"caf".utf8) + [0xE8, UInt8(ascii: "\"")])

    private static func headers(_ value: FieldValue) -> HTTPHeaders {
        var headers: HTTPHeaders = ["A": "1"]
        headers.append("ETag", value: value)
        headers.append("B", "2")
        return headers
    }

    @Test func valuesArePreservedByteForByte() {
        let headers = Self.headers(Self.latin)
        #expect(headers.fieldValues(for: "etag") == [Self.latin])
        #expect(headers["ETag"] == "\"caf\u{FFFD}\"")
        #expect(headers.fieldValues(for: "A") == ["1"])
        #expect(headers.fieldValues(for: "C") == [])
    }

    @Test func sectionsAreComparedByTheBytesOfValues() {
        #expect(Self.headers(Self.latin) == Self.headers(Self.latin))
        #expect(Self.headers(Self.latin) != Self.headers(Self.other))
        #expect(Set([Self.headers(Self.latin), Self.headers(Self.other), Self.headers(Self.latin)]).count == 2)
        #expect(Array(Self.headers(Self.latin)) != Array(Self.headers(Self.other)))
        // Canonically equivalent in Unicode, but different bytes to a server.
        #expect(["A": "\u{E9}"] as HTTPHeaders != ["A": "e\u{301}"])
        #expect((["A": "x"] as HTTPHeaders) == ["a": "x"])
        #expect((["A": "x"] as HTTPHeaders).hashValue == (["a": "x"] as HTTPHeaders).hashValue)
        #expect((["A": "xy"] as HTTPHeaders) != ["Ax": "y"])
    }

    @Test func fieldsAreCopiedByteForByte() {
        var copy = HTTPHeaders()
        for field in Self.headers(Self.latin) { copy.append(field) }
        #expect(copy == Self.headers(Self.latin))
    }

    @Test func settingAValueReplacesAllFieldsOfTheName() {
        var headers: HTTPHeaders = ["ETag": "a", "A": "1", "ETag": "b"]
        headers.replaceValues(of: "ETag", with: Self.latin)
        #expect(headers.fieldValues(for: "ETag") == [Self.latin])
        headers.replaceValues(of: "ETag", with: "\"é\"")
        #expect(headers.values(for: "ETag") == ["\"é\""])
        #expect(headers.count == 2)
    }

    /// The bytes of a text, followed by others.
    private static func bytes(_ text: String, _ more: UInt8...) -> [UInt8] {
        var bytes = Array(text.utf8)
        bytes.append(contentsOf: more)
        return bytes
    }

    private static let targets: [([UInt8], String)] = [
        (bytes("/caf", 0xE9), "/caf%E9"),
        (bytes("/café"), "/café"),
        (bytes("/café", 0xE9, 0x2F), "/café%E9/"),
        (bytes("", 0xE2, 0x82, 0xAC, 0xE2, 0x82), "€%E2%82"),
        // Surrogates and overlong forms are not UTF-8.
        (bytes("", 0xED, 0xA0, 0x80, 0xC0, 0xAF), "%ED%A0%80%C0%AF"),
        (bytes("", 0xF0, 0x9F, 0x98, 0x80, 0xFF), "😀%FF"),
        (bytes("/a%20b c", 0x80), "/a%20b c%80"),
    ]

    @Test(arguments: targets)
    func invalidUTF8IsPercentEncodedInURIs(_ bytes: [UInt8], _ text: String) {
        #expect(FieldValue(bytes: bytes).uriText == text)
    }

    @Test(arguments: [latin, "\"a\"", "\"é\\\"", ""])
    func valuesRoundTripThroughJSON(_ value: FieldValue) throws {
        let json = try JSONEncoder().encode([value])
        #expect(try JSONDecoder().decode([FieldValue].self, from: json) == [value])
    }

    @Test func textIsEncodedAsAJSONString() throws {
        #expect(String(decoding: try JSONEncoder().encode(["a" as FieldValue]), as: UTF8.self) == #"["a"]"#)
    }

    @Test func descriptionsContainNoBytesOfTheValue() {
        var dumped = ""
        dump(FieldValue("secret"), to: &dumped)
        #expect(!dumped.contains("secret"))
        #expect(!"\(FieldValue("secret"))".contains("secret"))
    }
}

import HTTPTypes
import HTTPTypesConversion
import Sluice
import Testing

@Suite struct FieldConversionTests {
    /// Fields that both libraries accept, as pairs of the name and the value.
    static let fields: [[(String, String)]] = [
        [],
        [("Accept", "*/*")],
        [("X-Empty", "")],
        [("x-lower", "1"), ("X-UPPER", "2"), ("X-MiXeD", "3")],
        [("Set-Cookie", "a=1; Path=/"), ("Date", "now"), ("Set-Cookie", "b=2, 3"), ("set-cookie", "c=3")],
        [("Via", "1.1 a"), ("via", "1.1 b"), ("VIA", "1.1 c")],
        [("X-Text", "a \"quoted\" text,\twith a tab; ü 漢字 🙂")],
        [("!#$%&'*+-.^_`|~9", "token")],
    ]

    @Test(arguments: fields)
    func fieldsComeBackAsTheyWere(_ fields: [(String, String)]) throws {
        let headers = HTTPHeaders(fields.map { (HTTPHeaderName($0), $1) })
        let converted = try HTTPFields(headers)
        #expect(converted.map(\.name.rawName) == fields.map(\.0))
        #expect(converted.map(\.value) == fields.map(\.1))
        let back = try HTTPHeaders(converted)
        #expect(back.map(\.name.rawValue) == fields.map(\.0))
        #expect(back.map(\.value) == fields.map(\.1))
        #expect(back == headers)
    }

    @Test func repeatedFieldsAreFoundInAnyCase() throws {
        let headers: HTTPHeaders = ["Set-Cookie": "a=1", "SET-COOKIE": "b=2"]
        let fields = try HTTPFields(headers)
        #expect(fields[values: .setCookie] == ["a=1", "b=2"])
        #expect(try HTTPHeaders(fields).values(for: "set-cookie") == ["a=1", "b=2"])
    }

    @Test(arguments: [
        ("", "1", ConversionError.invalidFieldName("")),
        (":path", "/", .invalidFieldName(":path")),
        ("X Y", "1", .invalidFieldName("X Y")),
        ("X-Ü", "1", .invalidFieldName("X-Ü")),
        ("X-Lines", "a\r\nb", .invalidFieldValue(name: "X-Lines")),
        ("X-Null", "a\0b", .invalidFieldValue(name: "X-Null")),
        ("X-Control", "a\u{1}b", .invalidFieldValue(name: "X-Control")),
        ("X-Space", " a", .invalidFieldValue(name: "X-Space")),
        ("X-Tab", "a\t", .invalidFieldValue(name: "X-Tab")),
    ])
    func fieldsThatAreNotValidAreRefused(_ name: String, _ value: String, _ error: ConversionError) {
        let headers = HTTPHeaders([(HTTPHeaderName(name), value)])
        #expect(throws: error) { try HTTPFields(headers) }
    }

    @Test(arguments: [[0x61, 0x01, 0x62], [0x61, 0xFC, 0x62], [0xC0, 0x80]] as [[UInt8]])
    func bytesThatAreNotValidAreRefused(_ bytes: [UInt8]) throws {
        let name = try #require(HTTPField.Name("X-Bytes"))
        let fields: HTTPFields = [.accept: "*/*"]
        #expect(throws: ConversionError.invalidFieldValue(name: "X-Bytes")) {
            try HTTPHeaders(fields + [HTTPField(name: name, lenientValue: bytes)])
        }
    }

    @Test func tooManyFieldsAreRefused() {
        let headers = HTTPHeaders((0..<70_000).map { ("X-\($0)", "") })
        #expect(throws: ConversionError.tooManyFields(limit: 65_534)) { try HTTPFields(headers) }
    }
}

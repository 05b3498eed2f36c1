import Foundation
import Sluice
import Testing

@Suite struct StringSerializerTests {
    private static func response(_ contentTypes: [String], _ body: Data) -> ServerResponse {
        ServerResponse(
            request: HTTPRequest(scheme: "http", authority: "a.b", path: "/"),
            head: HTTPResponse(status: .ok, headers: HTTPHeaders(contentTypes.map { (.contentType, $0) })),
            body: body
        )
    }

    /// “Grüße, 世界 😀” in three encodings, created by Python's codecs.
    static let text = "Grüße, 世界 😀"
    static let utf8 = Data(base64Encoded: "R3LDvMOfZSwg5LiW55WMIPCfmIA=") ?? Data()
    static let utf16LittleEndian = Data(base64Encoded: "RwByAPwA3wBlACwAIAAWTkx1IAA92ADe") ?? Data()
    static let utf16BigEndian = Data(base64Encoded: "AEcAcgD8AN8AZQAsACBOFnVMACDYPd4A") ?? Data()
    static let marks = (utf8: Data([0xEF, 0xBB, 0xBF]), little: Data([0xFF, 0xFE]), big: Data([0xFE, 0xFF]))

    static let unicode: [([String], Data)] = [
        ([], utf8), (["text/plain"], utf8), (["text/plain; charset=utf-8"], utf8),
        ([#"text/plain;charset="UTF-8""#], utf8),
        (["TEXT/PLAIN; Charset=UTF8"], utf8), (["text/plain; charset="], utf8), ([#"text/plain; charset="""#], utf8),
        (["nonsense"], utf8), (["text/plain; charset"], utf8), (["text/plain; format=flowed;charset=utf-8;x=y"], utf8),
        ([], marks.utf8 + utf8), (["text/plain; charset=utf-16be"], marks.utf8 + utf8),
        (["text/plain; charset=klingon"], marks.utf8 + utf8),
        (["text/plain; charset=utf-16le"], utf16LittleEndian), (["text/plain; charset=utf-16"], utf16LittleEndian),
        (["text/plain; charset=utf-16be"], utf16BigEndian),
        ([], marks.little + utf16LittleEndian), ([], marks.big + utf16BigEndian),
        (["text/plain; charset=utf-16"], marks.big + utf16BigEndian),
        (["text/plain; charset=utf-8"], marks.little + utf16LittleEndian),
        (["text/plain; charset=windows-1251"], marks.big + utf16BigEndian),
        (["text/plain; charset=gbk", "text/plain"], utf8),
        (["text/plain; charset=gbk", "text/plain; charset=utf-8"], utf8),
        (["text/plain; charset=utf-8", "nonsense"], utf8),
    ]

    @Test(arguments: unicode)
    func prefersByteOrderMarkThenContentTypeThenUTF8(_ contentTypes: [String], _ body: Data) throws {
        #expect(try Self.response(contentTypes, body).string() == Self.text)
        let slice = (Data([1, 2]) + body)[2...]
        #expect(try Self.response(contentTypes, slice).string() == Self.text)
    }

    @Test func usesDefaultCharsetIfResponseNamesNone() throws {
        let body = Data([0xCF, 0xF0, 0xE8])
        func text(_ contentTypes: [String], _ body: Data) throws -> String {
            try Self.response(contentTypes, body).string(defaultCharset: "windows-1251")
        }
        #expect(try text(["text/plain"], body) == "При")
        #expect(try text(["text/plain; charset=iso-8859-1"], body) == "Ïðè")
        #expect(try text([], Self.marks.utf8 + Self.utf8) == Self.text)
        #expect(throws: SluiceError.self) { try Self.response([], body).string(defaultCharset: "klingon") }
    }

    @Test(arguments: [Data(), marks.utf8, marks.little, marks.big])
    func decodesEmptyBodyAsEmptyText(_ body: Data) throws {
        #expect(try Self.response(["text/plain"], body).string() == "")
        #expect(try Self.response(["text/plain; charset=gbk"], body).string() == "")
    }

    static let failures: [(String, Data, String, Int?, String)] = [
        ("text/plain", Data([0x41, 0xFF]), "utf-8", 1, "the byte at offset 1 is not valid utf-8"),
        ("text/plain", marks.utf8 + Data([0x41, 0xC3]), "utf-8", 4, "the byte at offset 4 is not valid utf-8"),
        ("text/plain", marks.big + Data([0xD8, 0x00]), "utf-16be", 2, "the byte at offset 2 is not valid utf-16be"),
        ("text/plain", Data([0xFF]), "utf-8", 0, "the byte at offset 0 is not valid utf-8"),
        (
            "text/plain; charset=SJIS", Data([0x41, 0x82]), "shift_jis", 1,
            "the byte at offset 1 is not valid shift_jis"
        ),
        ("text/plain; charset=klingon", Data([0x41]), "klingon", nil, "its charset “klingon” is unknown"),
        ("text/plain; charset='utf-8'", Data([0x41]), "'utf-8'", nil, "its charset “'utf-8'” is unknown"),
        ("text/plain; charset=utf-32", Data([0xFF, 0xFE, 0, 0, 0x41, 0, 0, 0]), "utf-32", nil, "its charset “utf-32”"),
        ("text/plain; charset=\"a\tü\"", Data([0x41]), "a??", nil, "its charset “a??” is unknown"),
        (
            "text/plain; charset=\(String(repeating: "x", count: 99))", Data(), String(repeating: "x", count: 40), nil,
            "is unknown"
        ),
    ]

    @Test(arguments: failures)
    func undecodableTextIsErrorNamingCharset(
        _ contentType: String,
        _ body: Data,
        _ charset: String,
        _ offset: Int?,
        _ reason: String
    ) throws {
        let error = #expect(throws: SluiceError.self) { try Self.response([contentType], body).string() }
        #expect(error?.code == .decodingFailed)
        #expect(error?.step == .serialization)
        #expect(error?.reason.hasPrefix("The response could not be decoded as text: ") == true)
        #expect(error?.reason.contains(reason) == true, "\(error?.reason ?? "")")
        let failure = try #require(error?.underlyingError as? TextFailure)
        #expect(failure.charset == charset)
        #expect(failure.offset == offset)
    }
}

import Foundation
import Testing

@testable import Sluice
@testable import SluiceHTTP

/// The charsets with several bytes for a character have the characters of the WHATWG Encoding Standard.
@Suite struct MultibyteCharsetTests {
    private func decode(_ label: String, _ bytes: [UInt8]) throws -> String {
        try #require(Charset(label: label)).decode(Data(bytes), from: 0)
    }

    /// SHA-256 digests of the characters of all bytes from 0x80, each followed by those of its pairs with a second byte
    /// from 0x30, as Chromium decodes them. An invalid sequence is an exclamation mark.
    static let digests = [
        ("gb18030", "2c08c3763bd355c70ce739b9e176caf2f8c8357c1dda64c3f720f8337ae0e4db"),
        ("shift_jis", "2f9244350133c6d307f2315369c53da8b43267084f5581f75f093dda04c89bd1"),
        ("euc-kr", "53c0af549a90f389334563b2204cc248262cdf1c3413646215c3196edec558db"),
        ("big5", "654419b07cf299b5d79fbb08a02abad31ec82e404baf38974b31fc29ce9eaefc"),
    ]

    #if os(Linux)
    @Test(arguments: digests)
    func allPairsHaveTheCharactersOfTheStandard(_ label: String, _ digest: String) throws {
        let charset = try #require(Charset(label: label))
        var listing: [String] = []
        for lead in UInt8(0x80)...0xFF {
            for bytes in [[lead]] + (UInt8(0x30)...0xFF).map({ [lead, $0] }) {
                let text = try? charset.decode(Data(bytes), from: 0)
                let codes = text.map { $0.unicodeScalars.map { String($0.value, radix: 16) }.joined(separator: "+") }
                listing.append(codes ?? "!")
            }
        }
        #expect(listing.count == 26_752)
        #expect(SystemSHA256.hexDigest(of: Array(listing.joined(separator: " ").utf8)) == digest)
    }

    @Test(
        arguments: [
            ("gbk", [0x80], "€"), ("gbk", [0x41, 0x80, 0x80, 0xC4, 0xE3, 0x80], "A€€你€"),
            ("gb2312", [0xA2, 0xE3], "€"),
            ("gb18030", [0x81, 0x80, 0x80], "亐€"), ("gb18030", [0x95, 0x32, 0x82, 0x36, 0x80], "𠀀€"),
            ("gb18030", [0x82, 0x35, 0x90, 0x37, 0xA3, 0xA0], "\u{9FB4}\u{3000}"),
            ("shift_jis", [0x80], "\u{80}"), ("shift_jis", [0x82, 0xA0, 0x80, 0xB1], "あ\u{80}ｱ"),
            ("shift_jis", [0x89, 0x80, 0x80], "園\u{80}"),
            ("big5", [0xA3, 0xE1, 0xA4, 0x40, 0xA1, 0xFE], "€一／"), ("big5", [0x88, 0x62, 0x41], "\u{CA}\u{304}A"),
        ] as [(String, [UInt8], String)]
    )
    func decodesCharactersThatTheSystemHasNot(_ label: String, _ bytes: [UInt8], _ text: String) throws {
        let decoded = try decode(label, bytes)
        #expect(Array(decoded.unicodeScalars) == Array(text.unicodeScalars))
        // Long enough for several pieces of the converter.
        #expect(
            try decode(label, Array(repeatElement(bytes, count: 9_000).joined())).utf8.count == text.utf8.count * 9_000
        )
    }

    @Test(
        arguments: [
            ("big5", [0x41, 0x80], 1), ("big5", [0xA4, 0x40, 0xA3, 0xE1, 0x80, 0x41], 4), ("euc-kr", [0x80], 0),
            ("gbk", [0x80, 0xFF], 1), ("gb18030", [0x80, 0x81, 0x30, 0x80], 1), ("shift_jis", [0x80, 0x41, 0xA0], 2),
            ("shift_jis", [0x80, 0x82], 1), ("gbk", [0x80, 0x41, 0x81], 2),
        ] as [(String, [UInt8], Int)]
    )
    func reportsOffsetAfterSuchACharacter(_ label: String, _ bytes: [UInt8], _ offset: Int) throws {
        let failure = #expect(throws: TextFailure.self) { try decode(label, bytes) }
        #expect(failure?.offset == offset)
    }
    #endif
}

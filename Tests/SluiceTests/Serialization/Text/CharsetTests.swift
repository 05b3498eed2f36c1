import Foundation
import SluiceTesting
import Testing

@testable import Sluice

/// Texts encoded by Python's codecs.
@Suite struct CharsetTests {
    static let examples = [
        ("windows-1251", "Привет, мир — «кавычки» №1", "z/Do4uXyLCDs6PAglyCr6uDi+/fq6LsguTE="),
        ("Windows-1251", "ё", "uA=="),
        ("cp1251", "Ђ", "gA=="),
        ("koi8-r", "Съешь ещё", "89/F29ggxd2j"),
        ("KOI8-U", "Їжак ґанок", "t9bByyCtwc7Pyw=="),
        ("iso-8859-5", "Привет", "v+DY0tXi"),
        ("ibm866", "Привет ░", "j+CooqXiILA="),
        ("x-mac-cyrillic", "Привет", "j/Do4uXy"),
        ("iso-8859-2", "Zażółć gęślą jaźń", "WmG/87PmIGfqtmyxIGphvPE="),
        ("windows-1250", "Příliš žluťoučký „kůň“", "UPjtbGmaIJ5sdZ1vdehr/SCEa/nykw=="),
        ("iso-8859-15", "prix: 5 € œuvre", "cHJpeDogNSCkIL11dnJl"),
        ("iso-8859-7", "Καλημέρα", "yuHr5+zd8eE="),
        ("windows-1253", "Καλημέρα", "yuHr5+zd8eE="),
        ("iso-8859-9", "İstanbul ğüş €", "3XN0YW5idWwg8Pz+IIA="),
        ("iso-8859-8-i", "שלום", "+ezl7Q=="),
        ("windows-1255", "שָלום", "+cjs5e0="),
        ("windows-1256", "سلام", "0+HH4w=="),
        ("windows-1257", "Ąžuolas", "wP51b2xhcw=="),
        ("windows-1258", "Tiế", "VGnq7A=="),
        ("tis-620", "สวัสดี", "ysfRyrTV"),
        ("macintosh", "Ça va – “oui” ∞", "gmEgdmEg0CDSb3Vp0yCw"),
        ("shift_jis", "こんにちは、世界。ｱｲｳ ①～", "grGC8YLJgr+CzYFBkKKKRYFCsbKzIIdAgWA="),
        ("Windows-31J", "髙﨑", "7uDtlQ=="),
        ("euc-jp", "こんにちは ｶﾅ", "pLOk86TLpMGkzyCOto7F"),
        ("iso-2022-jp", "漢字とABC", "GyRCNEE7eiRIGyhCQUJD"),
        ("gb18030", "你好，世界 𠀀 € ü", "xOO6w6OsysC95yCVMoI2IKLjIKi5"),
        ("gbk", "你好繁體", "xOO6w7ex83c="),
        ("gb2312", "镕", "6UY="),
        ("big5", "你好，世界", "p0GmbqFBpUCsyQ=="),
        ("big5-hkscs", "嘅咗", "ne+d9w=="),
        ("euc-kr", "안녕하세요", "vsiz58fPvLy/5A=="),
        ("ks_c_5601-1987", "똠방각하", "jGO55rCix88="),
    ]

    @Test(arguments: examples)
    func decodesCharsets(_ label: String, _ text: String, _ base64: String) throws {
        let charset = try #require(Charset(label: label))
        let data = try #require(Data(base64Encoded: base64))
        #expect(try charset.decode(data, from: 0) == text)
        // Long enough for several pieces of the converter, each of which starts at a different offset.
        let many = Data(repeatElement(data, count: 3000).joined())
        #expect(try charset.decode(Data([0x41]) + many, from: 1) == String(repeating: text, count: 3000))
        #expect(try charset.decode(Data(), from: 0) == "")
    }

    static let invalid: [(String, [UInt8], Int)] = [
        ("utf-8", [0x41, 0xFF], 1), ("utf-8", [0xC3], 0), ("utf-8", [0xE4, 0xB8], 0),
        ("utf-8", [0xC3, 0xBC, 0xC0, 0x80], 2),
        ("utf-8", [0xED, 0xA0, 0x80], 0), ("utf-8", [0xF4, 0x90, 0x80, 0x80], 0), ("utf-8", [0x80], 0),
        ("utf-16le", [0x41], 0), ("utf-16le", [0x41, 0, 0x42], 2), ("utf-16le", [0x41, 0, 0x00, 0xD8], 2),
        ("utf-16le", [0x00, 0xDC, 0x41, 0], 0), ("utf-16be", [0, 0x41, 0xD8, 0x00, 0, 0x41], 2),
        ("utf-16be", [0xD8, 0x3D, 0xDE, 0x00, 0xDE, 0x00], 4), ("utf-16be", [0xD8, 0x3D, 0xDE], 0),
        ("shift_jis", [0x41, 0x82], 1), ("shift_jis", [0x41, 0x42, 0x82, 0x20], 2), ("euc-kr", [0xB0], 0),
        ("gb18030", [0x41, 0x81, 0x30], 1), ("gb18030", [0xFF], 0), ("iso-8859-7", [0xAE], 0),
        ("windows-1251", [0x41, 0x98], 1),
        ("iso-2022-jp", [0x1B, 0x24, 0x42, 0x34, 0x41, 0x7A], 5), ("euc-jp", [0xA4], 0),
        ("big5", [0x41, 0xA4, 0x20], 1),
    ]

    @Test(arguments: invalid)
    func reportsOffsetOfFirstInvalidByte(_ label: String, _ bytes: [UInt8], _ offset: Int) throws {
        let charset = try #require(Charset(label: label))
        for start in [0, 3] {
            let data = Data([1, 2, 3].prefix(start)) + Data(bytes)
            let failure = #expect(throws: TextFailure.self) { try charset.decode(data, from: start) }
            #expect(failure?.charset == charset.name)
            #expect(failure?.offset == start + offset)
            #expect(failure?.description.contains(charset.name) == true)
        }
    }

    @Test func everyCharsetDecodesASCII() throws {
        let labels = """
            866 l2 l3 l4 cyrillic arabic greek visual logical l6 iso8859-13 iso8859-14 l9 iso-8859-16 koi koi8-ru mac \
            dos-874 cp1250 cp1251 latin1 cp1253 l5 cp1255 cp1256 cp1257 cp1258 x-mac-ukrainian chinese gb18030 cn-big5 \
            x-euc-jp csiso2022jp sjis korean utf8
            """
        let names = try labels.split(separator: " ").map { label in
            let charset = try #require(Charset(label: String(label)), "\(label)")
            #expect(try charset.decode(Data("abc".utf8), from: 0) == "abc", "\(label)")
            #expect(Charset(label: charset.name) == charset)
            return charset.name
        }
        #expect(Set(names).count == names.count)
    }

    @Test(arguments: [
        "iso-8859-1", "ISO-8859-1", "latin1", "us-ascii", "ascii", "windows-1252", "cp1252", " \tLatin1\n",
    ])
    func decodesLatin1AsWindows1252(_ label: String) throws {
        let charset = try #require(Charset(label: label))
        #expect(charset.name == "windows-1252")
        let text = try charset.decode(Data(0...255), from: 0)
        #expect(text.unicodeScalars.count == 256)
        let scalars = text.unicodeScalars.map(\.value)
        #expect(Array(scalars[..<0x80]) == Array(0..<0x80))
        #expect(Array(scalars[0xA0...]) == Array(0xA0...0xFF))
        #expect(text.contains("€") && text.contains("“”•–—") && text.hasSuffix("þÿ"))
        #expect([0x81, 0x8D, 0x8F, 0x90, 0x9D].allSatisfy { scalars[$0] == UInt32($0) })
        #expect(scalars[0x80] == 0x20AC && scalars[0x9F] == 0x178 && scalars[0x95] == 0x2022)
    }

    @Test(arguments: [
        "", " ", "klingon", "utf-7", "utf-32", "replacement", "x-user-defined", "hz-gb-2312", "iso-2022-kr",
        "utf-8//IGNORE",
        "../../lib", "'utf-8'", "ucs-4", "ibm1364", "utf–8", "\u{212A}oi8-r",
    ])
    func rejectsUnknownLabels(_ label: String) {
        #expect(Charset(label: label) == nil)
    }

    @Test func randomBytesDoNotTrapOrHang() {
        var generator = SeededGenerator(seed: 1252)
        for (label, _, _) in Self.examples + [("utf-8", "", ""), ("utf-16", "", ""), ("utf-16be", "", "")] {
            for _ in 0..<200 {
                let count = Int.random(in: 0..<64, using: &generator)
                let bytes = (0..<count).map { _ in UInt8.random(in: .min ... .max, using: &generator) }
                let start = Int.random(in: 0..<8, using: &generator)
                do throws(TextFailure) {
                    _ = try Charset(label: label)?.decode(Data(bytes), from: start)
                } catch {
                    let offset = error.offset ?? -1
                    #expect(offset >= start && offset < count, "\(label) \(bytes)")
                }
            }
        }
    }
}

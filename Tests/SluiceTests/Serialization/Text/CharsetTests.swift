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

    /// The characters of the bytes 0x80 to 0xFF in the charsets where the tables of glibc differ from those of the WHATWG
    /// Encoding Standard, as Chromium decodes them. U+FFFD stands for an invalid byte.
    static let upperHalves = [
        (
            "koi8-u",
            """
            ─│┌┐└┘├┤┬┴┼▀▄█▌▐░▒▓⌠■∙√≈≤≥\u{A0}⌡°²·÷═║╒ёє╔ії╗╘╙╚╛ґў╞╟╠╡ЁЄ╣ІЇ╦╧╨╩╪ҐЎ©юабцдефгхийклмнопярстужвьыз\
            шэщчъЮАБЦДЕФГХИЙКЛМНОПЯРСТУЖВЬЫЗШЭЩЧЪ
            """
        ),
        (
            "macintosh",
            """
            ÄÅÇÉÑÖÜáàâäãåçéèêëíìîïñóòôöõúùûü†°¢£§•¶ß®©™´¨≠ÆØ∞±≤≥¥µ∂∑∏π∫ªºΩæø¿¡¬√ƒ≈∆«»…\u{A0}ÀÃÕŒœ–—“”‘’÷◊ÿŸ⁄\
            €‹›ﬁﬂ‡·‚„‰ÂÊÁËÈÍÎÏÌÓÔ\u{F8FF}ÒÚÛÙıˆ˜¯˘˙˚¸˝˛ˇ
            """
        ),
        (
            "windows-874",
            """
            €\u{81}\u{82}\u{83}\u{84}…\u{86}\u{87}\u{88}\u{89}\u{8A}\u{8B}\u{8C}\u{8D}\u{8E}\u{8F}\u{90}‘’“”\
            •–—\u{98}\u{99}\u{9A}\u{9B}\u{9C}\u{9D}\u{9E}\u{9F}\u{A0}\u{E01}\u{E02}\u{E03}\u{E04}\u{E05}\
            \u{E06}\u{E07}\u{E08}\u{E09}\u{E0A}\u{E0B}\u{E0C}\u{E0D}\u{E0E}\u{E0F}\u{E10}\u{E11}\u{E12}\
            \u{E13}\u{E14}\u{E15}\u{E16}\u{E17}\u{E18}\u{E19}\u{E1A}\u{E1B}\u{E1C}\u{E1D}\u{E1E}\u{E1F}\
            \u{E20}\u{E21}\u{E22}\u{E23}\u{E24}\u{E25}\u{E26}\u{E27}\u{E28}\u{E29}\u{E2A}\u{E2B}\u{E2C}\
            \u{E2D}\u{E2E}\u{E2F}\u{E30}\u{E31}\u{E32}\u{E33}\u{E34}\u{E35}\u{E36}\u{E37}\u{E38}\u{E39}\
            \u{E3A}\u{FFFD}\u{FFFD}\u{FFFD}\u{FFFD}\u{E3F}\u{E40}\u{E41}\u{E42}\u{E43}\u{E44}\u{E45}\u{E46}\
            \u{E47}\u{E48}\u{E49}\u{E4A}\u{E4B}\u{E4C}\u{E4D}\u{E4E}\u{E4F}\u{E50}\u{E51}\u{E52}\u{E53}\
            \u{E54}\u{E55}\u{E56}\u{E57}\u{E58}\u{E59}\u{E5A}\u{E5B}\u{FFFD}\u{FFFD}\u{FFFD}\u{FFFD}
            """
        ),
        (
            "windows-1250",
            """
            €\u{81}‚\u{83}„…†‡\u{88}‰Š‹ŚŤŽŹ\u{90}‘’“”•–—\u{98}™š›śťžź\u{A0}ˇ˘Ł¤Ą¦§¨©Ş«¬\u{AD}®Ż°±˛ł´µ¶·¸ąş»Ľ\
            ˝ľżŔÁÂĂÄĹĆÇČÉĘËĚÍÎĎĐŃŇÓÔŐÖ×ŘŮÚŰÜÝŢßŕáâăäĺćçčéęëěíîďđńňóôőö÷řůúűüýţ˙
            """
        ),
        (
            "windows-1251",
            """
            ЂЃ‚ѓ„…†‡€‰Љ‹ЊЌЋЏђ‘’“”•–—\u{98}™љ›њќћџ\u{A0}ЎўЈ¤Ґ¦§Ё©Є«¬\u{AD}®Ї°±Ііґµ¶·ё№є»јЅѕїАБВГДЕЖЗИЙКЛМНОПР\
            СТУФХЦЧШЩЪЫЬЭЮЯабвгдежзийклмнопрстуфхцчшщъыьэюя
            """
        ),
        (
            "windows-1253",
            """
            €\u{81}‚ƒ„…†‡\u{88}‰\u{8A}‹\u{8C}\u{8D}\u{8E}\u{8F}\u{90}‘’“”•–—\u{98}™\u{9A}›\u{9C}\u{9D}\u{9E}\
            \u{9F}\u{A0}΅Ά£¤¥¦§¨©\u{FFFD}«¬\u{AD}®―°±²³΄µ¶·ΈΉΊ»Ό½ΎΏΐΑΒΓΔΕΖΗΘΙΚΛΜΝΞΟΠΡ\u{FFFD}ΣΤΥΦΧΨΩΪΫάέήίΰα\
            βγδεζηθικλμνξοπρςστυφχψωϊϋόύώ\u{FFFD}
            """
        ),
        (
            "windows-1254",
            """
            €\u{81}‚ƒ„…†‡ˆ‰Š‹Œ\u{8D}\u{8E}\u{8F}\u{90}‘’“”•–—˜™š›œ\u{9D}\u{9E}Ÿ\u{A0}¡¢£¤¥¦§¨©ª«¬\u{AD}®¯°±²\
            ³´µ¶·¸¹º»¼½¾¿ÀÁÂÃÄÅÆÇÈÉÊËÌÍÎÏĞÑÒÓÔÕÖ×ØÙÚÛÜİŞßàáâãäåæçèéêëìíîïğñòóôõö÷øùúûüışÿ
            """
        ),
        (
            "windows-1255",
            """
            €\u{81}‚ƒ„…†‡ˆ‰\u{8A}‹\u{8C}\u{8D}\u{8E}\u{8F}\u{90}‘’“”•–—˜™\u{9A}›\u{9C}\u{9D}\u{9E}\u{9F}\
            \u{A0}¡¢£₪¥¦§¨©×«¬\u{AD}®¯°±²³´µ¶·¸¹÷»¼½¾¿\u{5B0}\u{5B1}\u{5B2}\u{5B3}\u{5B4}\u{5B5}\u{5B6}\
            \u{5B7}\u{5B8}\u{5B9}\u{5BA}\u{5BB}\u{5BC}\u{5BD}\u{5BE}\u{5BF}\u{5C0}\u{5C1}\u{5C2}\u{5C3}\
            \u{5F0}\u{5F1}\u{5F2}\u{5F3}\u{5F4}\u{FFFD}\u{FFFD}\u{FFFD}\u{FFFD}\u{FFFD}\u{FFFD}\u{FFFD}\
            \u{5D0}\u{5D1}\u{5D2}\u{5D3}\u{5D4}\u{5D5}\u{5D6}\u{5D7}\u{5D8}\u{5D9}\u{5DA}\u{5DB}\u{5DC}\
            \u{5DD}\u{5DE}\u{5DF}\u{5E0}\u{5E1}\u{5E2}\u{5E3}\u{5E4}\u{5E5}\u{5E6}\u{5E7}\u{5E8}\u{5E9}\
            \u{5EA}\u{FFFD}\u{FFFD}\u{200E}\u{200F}\u{FFFD}
            """
        ),
        (
            "windows-1257",
            """
            €\u{81}‚\u{83}„…†‡\u{88}‰\u{8A}‹\u{8C}¨ˇ¸\u{90}‘’“”•–—\u{98}™\u{9A}›\u{9C}¯˛\u{9F}\u{A0}\u{FFFD}\
            ¢£¤\u{FFFD}¦§Ø©Ŗ«¬\u{AD}®Æ°±²³´µ¶·ø¹ŗ»¼½¾æĄĮĀĆÄÅĘĒČÉŹĖĢĶĪĻŠŃŅÓŌÕÖ×ŲŁŚŪÜŻŽßąįāćäåęēčéźėģķīļšńņóōõ\
            ö÷ųłśūüżž˙
            """
        ),
        (
            "windows-1258",
            """
            €\u{81}‚ƒ„…†‡ˆ‰\u{8A}‹Œ\u{8D}\u{8E}\u{8F}\u{90}‘’“”•–—˜™\u{9A}›œ\u{9D}\u{9E}Ÿ\u{A0}¡¢£¤¥¦§¨©ª«¬\
            \u{AD}®¯°±²³´µ¶·¸¹º»¼½¾¿ÀÁÂĂÄÅÆÇÈÉÊË\u{300}ÍÎÏĐÑ\u{309}ÓÔƠÖ×ØÙÚÛÜƯ\u{303}ßàáâăäåæçèéêë\u{301}íîï\
            đñ\u{323}óôơö÷øùúûüư₫ÿ
            """
        ),
        (
            "x-mac-cyrillic",
            """
            АБВГДЕЖЗИЙКЛМНОПРСТУФХЦЧШЩЪЫЬЭЮЯ†°Ґ£§•¶І®©™Ђђ≠Ѓѓ∞±≤≥іµґЈЄєЇїЉљЊњјЅ¬√ƒ≈∆«»…\u{A0}ЋћЌќѕ–—“”‘’÷„ЎўЏ\
            џ№Ёёяабвгдежзийклмнопрстуфхцчшщъыьэю€
            """
        ),
    ]

    @Test(arguments: upperHalves)
    func singleByteCharsetsHaveTheCharactersOfTheStandard(_ label: String, _ characters: String) throws {
        let charset = try #require(Charset(label: label))
        #expect(characters.unicodeScalars.count == 128)
        for (byte, expected) in zip(UInt8(0x80)...0xFF, characters.unicodeScalars) {
            let text = try? charset.decode(Data([0x41, byte]), from: 0)
            #expect(
                text.map { Array($0.unicodeScalars) } == (expected == "\u{FFFD}" ? nil : ["A", expected]),
                "\(byte)"
            )
        }
    }

    @Test func eucJPHasTheCharactersOfTheStandard() throws {
        let charset = try #require(Charset(label: "euc-jp"))
        // NEC's characters, the extensions of IBM, which glibc has in the private area, a half-width one, JIS X 0212.
        let bytes: [UInt8] = [0xAD, 0xA1, 0xF9, 0xA1, 0xFC, 0xFE, 0x8E, 0xB1, 0x8F, 0xA2, 0xC3, 0x8F, 0xB0, 0xA1, 0x41]
        let text = try charset.decode(Data(bytes), from: 0)
        #expect(text == "①纊＂ｱ¦丂A")
        let triples = Data(repeatElement([0x8F, 0xB0, 0xA1, 0xAD, 0xA1], count: 2000).joined())
        #expect(try charset.decode(triples, from: 0) == String(repeating: "丂①", count: 2000))
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
        ("windows-1253", [0x41, 0xD2], 1), ("euc-jp", [0xA4, 0xA2, 0x8E, 0xB1, 0x41, 0xFE, 0xFE], 5),
        ("euc-jp", [0xA4, 0xA2, 0x8F, 0xB0, 0xA1, 0x41, 0xFE, 0xFE], 6), ("euc-jp", [0x41, 0x8E, 0xE0], 1),
        ("euc-jp", [0x8F, 0xB0], 0), ("euc-jp", [0x8F, 0xFE, 0xFE], 0), ("euc-jp", [0x41, 0x80], 1),
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

    /// Comparing such a text with another takes more than a second, because Swift sorts the combining characters.
    @Test(.timeLimit(.minutes(1))) func combiningCharactersInALabelAreNotSorted() {
        let label = "latin1" + String(repeating: "\u{301}\u{323}", count: 60_000)
        for _ in 0..<20 { #expect(Charset(label: label) == nil) }
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

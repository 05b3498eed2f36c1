import SluiceFoundation
import SluiceHTTP

/// A character encoding of the WHATWG Encoding Standard.
struct Charset: Sendable, Hashable {
    enum Decoder: Sendable, Hashable {
        case utf8
        case utf16(isBigEndian: Bool)
        /// An encoding with one byte for each character, with its name for glibc's iconv.
        case singleByte(String)
        case eucJP(String)
        /// Another encoding with several bytes for a character, with its name for glibc's iconv.
        case multibyte(String)
    }

    /// The name in the standard, in lowercase.
    let name: String
    let decoder: Decoder

    static let utf8 = Charset(name: "utf-8", decoder: .utf8)
    static let utf16LittleEndian = Charset(name: "utf-16le", decoder: .utf16(isBigEndian: false))
    static let utf16BigEndian = Charset(name: "utf-16be", decoder: .utf16(isBigEndian: true))

    /// Decodes the bytes from an offset, which may be past the end.
    func decode(_ data: Data, from start: Int) throws(TextFailure) -> String {
        let conversion = data.dropFirst(start).withUnsafeBytes { (bytes: UnsafeRawBufferPointer) -> TextConversion in
            switch decoder {
            case .utf8: UnicodeConversion.utf8(bytes)
            case .utf16(let isBigEndian): UnicodeConversion.utf16(bytes, isBigEndian: isBigEndian)
            case .singleByte(let converter): SingleByteCharset.decode(bytes, named: name, iconvName: converter)
            case .eucJP(let converter): EUCJPDecoder.decode(bytes, named: name, iconvName: converter)
            case .multibyte(let converter): MultibyteCharset.decode(bytes, named: name, iconvName: converter)
            }
        }
        switch conversion {
        case .text(let text): return text
        case .invalid(let offset): throw .invalid(self, at: offset.map { $0 + start })
        case .unavailable: throw .unavailable(self)
        }
    }
}

/// A byte order mark, which identifies the Unicode encoding of a text (WHATWG Encoding §6).
struct ByteOrderMark {
    let charset: Charset
    /// The length in bytes.
    let length: Int

    /// Finds the mark at the start of the data; nil if there is none.
    init?(of data: Data) {
        if data.starts(with: [0xEF, 0xBB, 0xBF]) {
            charset = .utf8
            length = 3
        } else if data.starts(with: [0xFE, 0xFF]) {
            charset = .utf16BigEndian
            length = 2
        } else if data.starts(with: [0xFF, 0xFE]), !data.dropFirst(2).starts(with: [0, 0]) {
            // FF FE 00 00 is the mark of UTF-32. Read as UTF-16, every other character of that text would be NUL.
            charset = .utf16LittleEndian
            length = 2
        } else {
            return nil
        }
    }
}

// MARK: - Labels

extension Charset {
    /// Finds an encoding by one of its labels. ASCII case and surrounding whitespace are ignored (WHATWG Encoding
    /// §4.2).
    ///
    /// The standard's `replacement`, which represents unsafe encodings, and `x-user-defined` are not supported.
    init?(label: String) {
        let isSpace = { (byte: UInt8) in [0x09, 0x0A, 0x0C, 0x0D, 0x20].contains(byte) }
        var bytes = label.utf8.drop(while: isSpace)
        while let last = bytes.last, isSpace(last) { bytes = bytes.dropLast() }
        // Comparing a text normalizes it, which takes quadratic time for many combining characters in a row.
        guard bytes.allSatisfy({ $0 < 0x80 }) else { return nil }
        let name = String(decoding: bytes.map(\.asciiLowercased), as: UTF8.self)
        if name == Charset.utf8.name {
            self = .utf8
        } else if let charset = Charset.byLabel[name] {
            self = charset
        } else {
            return nil
        }
    }

    private static let byLabel: [String: Charset] = {
        var charsets: [String: Charset] = [:]
        let builtIn: [(Charset, String)] = [
            (.utf8, "unicode-1-1-utf-8 unicode11utf8 unicode20utf8 utf8 x-unicode20utf8"),
            (.utf16BigEndian, "unicodefffe"),
            (.utf16LittleEndian, "csunicode iso-10646-ucs-2 ucs-2 unicode unicodefeff utf-16"),
            (Charset(name: "euc-jp", decoder: .eucJP("EUC-JP-MS")), "cseucpkdfmtjapanese x-euc-jp"),
            (
                Charset(name: "windows-1252", decoder: .singleByte("CP1252")),
                """
                ansi_x3.4-1968 ascii cp1252 cp819 csisolatin1 ibm819 iso-8859-1 iso-ir-100 iso8859-1 iso88591 iso_8859-1 \
                iso_8859-1:1987 l1 latin1 us-ascii x-cp1252
                """
            ),
        ]
        let singleByteCharsets = Self.singleByte.map {
            (Charset(name: $0.name, decoder: .singleByte($0.iconv)), $0.labels)
        }
        let multibyteCharsets = Self.multibyte.map {
            (Charset(name: $0.name, decoder: .multibyte($0.iconv)), $0.labels)
        }
        for (charset, labels) in builtIn + singleByteCharsets + multibyteCharsets {
            charsets[charset.name] = charset
            for label in labels.split(separator: " ") { charsets[String(label)] = charset }
        }
        return charsets
    }()

    /// The encodings with one byte for each character: the name in the standard, the name for glibc's iconv, and the other
    /// labels. Some iconv names are those of Microsoft's supersets, which browsers use too.
    private static let singleByte: [(name: String, iconv: String, labels: String)] = [
        ("ibm866", "IBM866", "866 cp866 csibm866"),
        (
            "iso-8859-2", "ISO-8859-2",
            "csisolatin2 iso-ir-101 iso8859-2 iso88592 iso_8859-2 iso_8859-2:1987 l2 latin2"
        ),
        (
            "iso-8859-3", "ISO-8859-3",
            "csisolatin3 iso-ir-109 iso8859-3 iso88593 iso_8859-3 iso_8859-3:1988 l3 latin3"
        ),
        (
            "iso-8859-4", "ISO-8859-4",
            "csisolatin4 iso-ir-110 iso8859-4 iso88594 iso_8859-4 iso_8859-4:1988 l4 latin4"
        ),
        (
            "iso-8859-5", "ISO-8859-5",
            "csisolatincyrillic cyrillic iso-ir-144 iso8859-5 iso88595 iso_8859-5 iso_8859-5:1988"
        ),
        (
            "iso-8859-6", "ISO-8859-6",
            """
            arabic asmo-708 csiso88596e csiso88596i csisolatinarabic ecma-114 iso-8859-6-e iso-8859-6-i iso-ir-127 \
            iso8859-6 iso88596 iso_8859-6 iso_8859-6:1987
            """
        ),
        (
            "iso-8859-7", "ISO-8859-7",
            """
            csisolatingreek ecma-118 elot_928 greek greek8 iso-ir-126 iso8859-7 iso88597 iso_8859-7 iso_8859-7:1987 \
            sun_eu_greek
            """
        ),
        (
            "iso-8859-8", "ISO-8859-8",
            """
            csiso88598e csisolatinhebrew hebrew iso-8859-8-e iso-ir-138 iso8859-8 iso88598 iso_8859-8 iso_8859-8:1988 \
            visual
            """
        ),
        ("iso-8859-8-i", "ISO-8859-8", "csiso88598i logical"),
        ("iso-8859-10", "ISO-8859-10", "csisolatin6 iso-ir-157 iso8859-10 iso885910 l6 latin6"),
        ("iso-8859-13", "ISO-8859-13", "iso8859-13 iso885913"),
        ("iso-8859-14", "ISO-8859-14", "iso8859-14 iso885914"),
        ("iso-8859-15", "ISO-8859-15", "csisolatin9 iso8859-15 iso885915 iso_8859-15 l9"),
        ("iso-8859-16", "ISO-8859-16", ""),
        ("koi8-r", "KOI8-R", "cskoi8r koi koi8 koi8_r"),
        ("koi8-u", "KOI8-U", "koi8-ru"),
        ("macintosh", "MACINTOSH", "csmacintosh mac x-mac-roman"),
        ("windows-874", "CP874", "dos-874 iso-8859-11 iso8859-11 iso885911 tis-620"),
        ("windows-1250", "CP1250", "cp1250 x-cp1250"),
        ("windows-1251", "CP1251", "cp1251 x-cp1251"),
        ("windows-1253", "CP1253", "cp1253 x-cp1253"),
        (
            "windows-1254", "CP1254",
            "cp1254 csisolatin5 iso-8859-9 iso-ir-148 iso8859-9 iso88599 iso_8859-9 iso_8859-9:1989 l5 latin5 x-cp1254"
        ),
        ("windows-1255", "CP1255", "cp1255 x-cp1255"),
        ("windows-1256", "CP1256", "cp1256 x-cp1256"),
        ("windows-1257", "CP1257", "cp1257 x-cp1257"),
        ("windows-1258", "CP1258", "cp1258 x-cp1258"),
        ("x-mac-cyrillic", "MAC-UK", "x-mac-ukrainian"),
    ]

    /// The encodings whose characters have several bytes.
    private static let multibyte: [(name: String, iconv: String, labels: String)] = [
        ("gbk", "GB18030", "chinese csgb2312 csiso58gb231280 gb2312 gb_2312 gb_2312-80 iso-ir-58 x-gbk"),
        ("gb18030", "GB18030", ""),
        ("big5", "BIG5-HKSCS", "big5-hkscs cn-big5 csbig5 x-x-big5"),
        ("iso-2022-jp", "ISO-2022-JP", "csiso2022jp"),
        ("shift_jis", "CP932", "csshiftjis ms932 ms_kanji shift-jis sjis windows-31j x-sjis"),
        (
            "euc-kr", "CP949",
            "cseuckr csksc56011987 iso-ir-149 korean ks_c_5601-1987 ks_c_5601-1989 ksc5601 ksc_5601 windows-949"
        ),
    ]
}

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
        ("iso-8859-2", "ISO-8859-2", "csisolatin2 iso-ir-101 iso8859-2 iso88592 iso_8859-2 iso_8859-2:1987 l2 latin2"),
        ("iso-8859-3", "ISO-8859-3", "csisolatin3 iso-ir-109 iso8859-3 iso88593 iso_8859-3 iso_8859-3:1988 l3 latin3"),
        ("iso-8859-4", "ISO-8859-4", "csisolatin4 iso-ir-110 iso8859-4 iso88594 iso_8859-4 iso_8859-4:1988 l4 latin4"),
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

// MARK: - Multibyte charset

/// A charset whose characters have up to four bytes (WHATWG Encoding §10 to §13). The characters are the system's, except
/// where the standard has others.
struct MultibyteCharset: Sendable {
    private enum Form {
        /// Two bytes, or four if the second is a digit (§10.2).
        case gb18030
        /// One byte for half-width kana, else two (§12.3).
        case shiftJIS
        /// Two bytes (§11.1, §13.1).
        case pairs
    }

    private let form: Form
    /// The characters that the system has not, or has others for; nil where the standard has none.
    private let corrections: [UInt32: Unicode.Scalar?]

    private init(_ form: Form, _ corrections: [UInt32: Unicode.Scalar?]) {
        self.form = form
        self.corrections = corrections
    }

    private static let gb18030 = MultibyteCharset(.gb18030, corrections(gb18030Characters))
    private static let shiftJIS = MultibyteCharset(.shiftJIS, corrections("80 80"))
    private static let big5 = MultibyteCharset(.pairs, corrections(big5Characters).merging([0x80: nil]) { $1 })

    /// The charset with a name in the standard; nil if the system has the characters of the standard, or a state.
    private static func named(_ name: String) -> MultibyteCharset? {
        switch name {
        case "gbk", "gb18030": gb18030
        case "shift_jis": shiftJIS
        case "big5": big5
        default: nil
        }
    }

    static func decode(_ bytes: UnsafeRawBufferPointer, named name: String, iconvName: String) -> TextConversion {
        guard let converter = SystemConverter(named: name, iconvName: iconvName) else { return .unavailable }
        guard let charset = MultibyteCharset.named(name) else { return converter.decode(bytes) }
        var text = ""
        var start = 0
        var position = 0
        while position < bytes.count {
            let length = min(charset.length(ofCharacterAt: position, in: bytes), bytes.count - position)
            let code = bytes[position..<(position + length)].reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
            if code >= 0x80, let correction = charset.corrections[code] {
                if let failure = append(bytes[start..<position], to: &text, converter) {
                    return failure.shifted(by: start)
                }
                guard let correction else { return .invalid(at: position) }
                text.unicodeScalars.append(correction)
                start = position + length
            }
            position += length
        }
        if let failure = append(bytes[start...], to: &text, converter) { return failure.shifted(by: start) }
        return .text(text)
    }

    /// Appends the characters that the system decodes. Returns the failure, if any.
    private static func append(
        _ bytes: Slice<UnsafeRawBufferPointer>,
        to text: inout String,
        _ converter: borrowing SystemConverter
    ) -> TextConversion? {
        if bytes.isEmpty { return nil }
        let conversion = converter.decode(UnsafeRawBufferPointer(rebasing: bytes))
        guard case .text(let part) = conversion else { return conversion }
        text += part
        return nil
    }

    /// Returns the number of bytes of a character, valid or not.
    private func length(ofCharacterAt position: Int, in bytes: UnsafeRawBufferPointer) -> Int {
        let lead = bytes[position]
        if lead <= 0x80 || lead == 0xFF { return 1 }
        switch form {
        case .gb18030:
            return position + 1 < bytes.count && 0x30...0x39 ~= bytes[position + 1] ? 4 : 2
        case .shiftJIS: return 0xA0...0xDF ~= lead || lead >= 0xFD ? 1 : 2
        case .pairs: return 2
        }
    }

    /// Reads pairs of a code and its character, both in hexadecimal.
    private static func corrections(_ table: String) -> [UInt32: Unicode.Scalar?] {
        let numbers = table.split(separator: " ").compactMap { UInt32($0, radix: 16) }
        return stride(from: 0, to: numbers.count - 1, by: 2).reduce(into: [:]) { corrections, index in
            corrections.updateValue(Unicode.Scalar(numbers[index + 1]), forKey: numbers[index])
        }
    }

    private static let gb18030Characters = """
        80 20ac a3a0 3000 fe51 e816 fe52 e817 fe53 e818 fe6c e831 fe76 e83b fe91 e855 82359037 9fb4 82359038 \
        9fb5 82359039 9fb6 82359130 9fb7 82359131 9fb8 82359132 9fb9 82359133 9fba 82359134 9fbb 84318236 \
        fe10 84318237 fe11 84318238 fe12 84318239 fe13 84318330 fe14 84318331 fe15 84318332 fe16 84318333 \
        fe17 84318334 fe18 84318335 fe19
        """

    private static let big5Characters = """
        8e69 7bb8 8e6f 7c06 8e7e 7cce 8eab 7dd2 8eb4 7e1d 8ecd 8005 8ed0 8028 8f57 83c1 8f69 84a8 8f6e 840f \
        8fcb 89a6 8fcc 89a9 8ffe 8d77 906d 90fd 907a 92b9 90dc 975c 90f1 97ff 91bf 9f16 9244 8503 92af 5159 \
        92b0 515b 92b1 515d 92b2 515e 92c8 936e 92d1 7479 9447 6d67 94ca 799b 95d9 9097 9644 975d 96ed 701e \
        96fc 5b28 9b76 7201 9b78 77d7 9b7b 7e87 9bc6 99d6 9bde 91d4 9bec 60de 9bf6 6fb6 9c42 8f36 9c53 4fbb \
        9c62 71df 9c68 9104 9c6b 9df0 9c77 83cf 9cbc 5c10 9cbd 79e3 9cd0 5a67 9d57 8f0b 9d5a 7b51 9dc4 62d0 \
        9ea9 6062 9eef 75f9 9efd 6c4a 9f60 9b2e 9f66 9f17 9fcb 50ed 9fd8 5f0c a063 880f a077 62ce a0d5 7468 \
        a0df 7162 a0e4 7250 a145 2027 a14e fe51 a15a 2574 a1c2 af a1c3 ffe3 a1c5 2cd a1e3 ff5e a1f2 2295 \
        a1f3 2299 a1fe ff0f a240 ff3c a241 2215 a242 fe68 a244 ffe5 a246 ffe0 a247 ffe1 a2cc 5341 a2ce 5345 \
        a3c0 2400 a3c1 2401 a3c2 2402 a3c3 2403 a3c4 2404 a3c5 2405 a3c6 2406 a3c7 2407 a3c8 2408 a3c9 2409 \
        a3ca 240a a3cb 240b a3cc 240c a3cd 240d a3ce 240e a3cf 240f a3d0 2410 a3d1 2411 a3d2 2412 a3d3 2413 \
        a3d4 2414 a3d5 2415 a3d6 2416 a3d7 2417 a3d8 2418 a3d9 2419 a3da 241a a3db 241b a3dc 241c a3dd 241d \
        a3de 241e a3df 241f a3e0 2421 a3e1 20ac c6cf 5ef4 c6d3 65e0 c6d5 7676 c6d7 96b6 c6de 3003 c6df 4edd \
        fa5f 5029 fa66 507d fabd 5305 fac5 5344 fad5 537f fb48 5605 fbb8 5a77 fbf3 5e75 fbf9 5ed0 fc4f 5f58 \
        fc6c 60a4 fcb9 6490 fce2 6674 fcf1 675e fdb7 6c9c fdb8 6e1d fdbb 6e2f fdf1 716e fe52 732a fe6f 745c \
        feaa 74e9 fedd 7809
        """
}

extension TextConversion {
    /// The same result for a part of a text that begins at an offset.
    fileprivate func shifted(by start: Int) -> TextConversion {
        guard case .invalid(let offset?) = self else { return self }
        return .invalid(at: offset + start)
    }
}

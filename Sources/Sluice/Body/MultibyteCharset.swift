import SluiceHTTP

/// A charset whose characters have up to four bytes (WHATWG Encoding §10 to §13). The characters are the system's, except
/// where the standard has others.
struct MultibyteCharset: Sendable {
    /// The forms of characters.
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
    private static let big5 = MultibyteCharset(
        .pairs,
        corrections(big5Characters).merging([0x80: nil]) { $1 }
    )

    /// The charset with a name in the standard; nil if the system has the characters of the standard, or a state.
    private static func named(_ name: String) -> MultibyteCharset? {
        switch name {
        case "gbk", "gb18030": gb18030
        case "shift_jis": shiftJIS
        case "big5": big5
        default: nil
        }
    }

    /// Decodes a text.
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

import SluiceFoundation
import SluiceHTTP
import SluiceLibc

/// The result of decoding bytes.
enum TextConversion {
    case text(String)
    /// The bytes are invalid, with the offset of the first invalid byte if it is known.
    case invalid(at: Int?)
    /// The system has no converter for the encoding.
    case unavailable
}

/// Decodes UTF-8 and UTF-16 without replacing invalid bytes.
enum UnicodeConversion {
    static func utf8(_ bytes: UnsafeRawBufferPointer) -> TextConversion {
        if let text = String(validating: bytes, as: UTF8.self) { return .text(text) }
        return .invalid(at: invalidUnit(in: bytes, UTF8.ForwardParser(), length: \.count))
    }

    static func utf16(_ bytes: UnsafeRawBufferPointer, isBigEndian: Bool) -> TextConversion {
        let units = (0..<bytes.count / 2).lazy.map { index in
            let first = UInt16(bytes[2 * index])
            let second = UInt16(bytes[2 * index + 1])
            return isBigEndian ? first << 8 | second : second << 8 | first
        }
        guard let text = String(validating: units, as: UTF16.self) else {
            return .invalid(at: invalidUnit(in: units, UTF16.ForwardParser(), length: \.count) * 2)
        }
        return bytes.count % 2 == 0 ? .text(text) : .invalid(at: bytes.count - 1)
    }

    /// Returns the offset of the first invalid code unit, or the number of units if all are valid.
    private static func invalidUnit<Parser: Unicode.Parser>(
        in units: some Sequence<Parser.Encoding.CodeUnit>,
        _ parser: Parser,
        length: (Parser.Encoding.EncodedScalar) -> Int
    ) -> Int {
        var parser = parser
        var iterator = units.makeIterator()
        var offset = 0
        while case .valid(let scalar) = parser.parseScalar(from: &iterator) { offset += length(scalar) }
        return offset
    }
}

/// A charset with one byte for each character (WHATWG Encoding §9). The characters are the system's, except where the
/// standard has others.
struct SingleByteCharset: Sendable {
    /// The characters of the bytes 0x80 to 0xFF; nil where the standard has none.
    private let characters: [Unicode.Scalar?]

    /// Reads the characters from the system; nil if it has no converter.
    private init?(named name: String, iconvName: String) {
        guard let converter = SystemConverter(named: name, iconvName: iconvName) else { return nil }
        let others = Self.corrections[name] ?? [:]
        var characters: [Unicode.Scalar?] = []
        for byte in UInt8(0x80)...0xFF {
            let conversion = withUnsafeBytes(of: byte) { bytes in converter.decode(bytes) }
            switch conversion {
            case .unavailable: return nil
            case .text(let text): characters.append(others[byte] ?? text.unicodeScalars.first)
            case .invalid:
                // The standard keeps the controls of the Windows charsets that Microsoft has not assigned.
                let isControl = name.hasPrefix("windows-") && byte < 0xA0
                characters.append(others[byte] ?? (isControl ? Unicode.Scalar(byte) : nil))
            }
        }
        self.characters = characters
    }

    private static let corrections: [String: [UInt8: Unicode.Scalar]] = [
        "koi8-u": [0xAE: "\u{45E}", 0xBE: "\u{40E}"],
        "macintosh": [0xC6: "\u{2206}", 0xF0: "\u{F8FF}"],
        "windows-1255": [0xCA: "\u{5BA}"],
        "x-mac-cyrillic": [0xFF: "\u{20AC}"],
    ]

    /// The charsets that were used before, by name.
    private static let known = Locked<[String: SingleByteCharset]>([:])

    static func decode(_ bytes: UnsafeRawBufferPointer, named name: String, iconvName: String) -> TextConversion {
        let known = known.withLock { $0[name] }
        guard let charset = known ?? SingleByteCharset(named: name, iconvName: iconvName) else { return .unavailable }
        if known == nil { Self.known.withLock { $0[name] = charset } }
        var text: [UInt8] = []
        text.reserveCapacity(bytes.count)
        for (offset, byte) in bytes.enumerated() {
            if byte < 0x80 {
                text.append(byte)
            } else if let scalar = charset.characters[Int(byte) - 0x80] {
                text += UTF8.encode(scalar) ?? UTF8.encodedReplacementCharacter
            } else {
                return .invalid(at: offset)
            }
        }
        return .text(String(decoding: text, as: UTF8.self))
    }
}

/// EUC-JP (WHATWG Encoding §12.1). Its two-byte characters are those of Shift_JIS in another form. The system's EUC-JP has
/// other characters in their place.
struct EUCJPDecoder: ~Copyable {
    private var text = ""
    /// The converters of the characters in Shift_JIS and of those of JIS X 0212, once they are needed.
    private var shiftedConverter: SystemConverter?
    private var tripleConverter: SystemConverter?
    /// The characters from ``start`` on, in Shift_JIS.
    private var shifted: [UInt8] = []
    private var start = 0

    static func decode(_ bytes: UnsafeRawBufferPointer, named name: String, iconvName: String) -> TextConversion {
        var decoder = EUCJPDecoder()
        var offset = 0
        while offset < bytes.count {
            let lead = bytes[offset]
            let length = lead < 0x80 ? 1 : lead == 0x8F ? 3 : 2
            let character = UnsafeRawBufferPointer(rebasing: bytes[offset..<min(offset + length, bytes.count)])
            let isComplete = character.count == length && character.dropFirst().allSatisfy { 0xA1...0xFE ~= $0 }
            var failure: TextConversion?
            switch lead {
            case 0..<0x80: decoder.shifted.append(lead)
            case 0x8E where isComplete && character[1] <= 0xDF: decoder.shifted.append(character[1])
            case 0xA1...0xFE where isComplete: decoder.appendPair(lead, character[1])
            // The standard has none of the characters that the system adds in the last rows.
            case 0x8F where isComplete && character[1] < 0xF3:
                failure = decoder.flush()
                decoder.start = offset
                failure = failure ?? decoder.appendTriple(character, named: name, iconvName: iconvName)
                decoder.start = offset + length
            default: failure = decoder.flush() ?? .invalid(at: offset)
            }
            if let failure { return failure }
            offset += length
        }
        return decoder.flush() ?? .text(decoder.text)
    }

    private mutating func appendPair(_ lead: UInt8, _ trail: UInt8) {
        let index = (Int(lead) - 0xA1) * 94 + Int(trail) - 0xA1
        let (row, column) = index.quotientAndRemainder(dividingBy: 188)
        shifted.append(UInt8(row + (row < 0x1F ? 0x81 : 0xC1)))
        shifted.append(UInt8(column + (column < 0x3F ? 0x40 : 0x41)))
    }

    /// Appends a character of JIS X 0212. Returns the failure, if any.
    private mutating func appendTriple(
        _ character: UnsafeRawBufferPointer,
        named name: String,
        iconvName: String
    ) -> TextConversion? {
        if tripleConverter == nil { tripleConverter = SystemConverter(named: name, iconvName: iconvName) }
        let conversion = tripleConverter?.decode(character) ?? .unavailable
        guard case .text(let part) = conversion else {
            return if case .invalid = conversion { .invalid(at: start) } else { conversion }
        }
        // The system has the full-width form of U+00A6.
        text += part == "\u{FFE4}" ? "\u{A6}" : part
        return nil
    }

    /// Decodes the characters in Shift_JIS. Returns the failure, if any.
    private mutating func flush() -> TextConversion? {
        if shifted.isEmpty { return nil }
        if shiftedConverter == nil { shiftedConverter = SystemConverter(named: "shift_jis", iconvName: "CP932") }
        defer { shifted.removeAll(keepingCapacity: true) }
        let conversion = shifted.withUnsafeBytes { bytes in shiftedConverter?.decode(bytes) ?? .unavailable }
        switch conversion {
        case .text(let part):
            text += part
            return nil
        case .invalid(let index):
            return .invalid(at: index.map { offset(of: $0) })
        case .unavailable: return .unavailable
        }
    }

    /// Returns the offset in EUC-JP of a byte in Shift_JIS.
    private func offset(of index: Int) -> Int {
        var offset = start
        var position = 0
        while position < index {
            let byte = shifted[position]
            position += byte < 0x80 || 0xA1...0xDF ~= byte ? 1 : 2
            offset += byte < 0x80 ? 1 : 2
        }
        return offset
    }
}

#if canImport(Glibc) || canImport(Musl)
/// A converter of iconv, for any number of texts in one charset.
struct SystemConverter: ~Copyable {
    private let converter: iconv_t

    /// Opens a converter; nil if the system has none. The names come from the table in ``Charset``, never from a
    /// server.
    init?(named _: String, iconvName: String) {
        let converter = iconv_open("UTF-8", iconvName)
        // `iconv_open` returns -1 as a pointer on failure.
        guard let converter, Int(bitPattern: converter) != -1 else { return nil }
        self.converter = converter
    }

    deinit {
        iconv_close(converter)
    }

    /// Decodes a whole text.
    borrowing func decode(_ bytes: UnsafeRawBufferPointer) -> TextConversion {
        // A call without buffers resets the state that an earlier text has left.
        iconv(converter, nil, nil, nil, nil)
        // The parameter type is `char **` for historical reasons; iconv does not write to the input.
        var input = UnsafeMutablePointer(mutating: bytes.assumingMemoryBound(to: CChar.self).baseAddress)
        var inputLeft = bytes.count
        var output: [UInt8] = []
        output.reserveCapacity(bytes.count &+ bytes.count / 2)
        var chunk = [UInt8](repeating: 0, count: min(16 << 10, 64 + 4 * bytes.count))
        var isFlushing = bytes.isEmpty
        while true {
            let before = inputLeft
            var written = 0
            let result = chunk.withUnsafeMutableBytes { chunk in
                var target = chunk.assumingMemoryBound(to: CChar.self).baseAddress
                var targetLeft = chunk.count
                // A call without input flushes the characters that iconv holds back, because some charsets combine
                // characters.
                let result =
                    isFlushing
                    ? iconv(converter, nil, nil, &target, &targetLeft)
                    : iconv(converter, &input, &inputLeft, &target, &targetLeft)
                let reason = errno
                written = chunk.count - targetLeft
                return (isError: result == -1, isOutOfRoom: reason == E2BIG)
            }
            output += chunk[..<written]
            if result.isError {
                // Stop if there is no progress, to avoid an endless loop.
                guard result.isOutOfRoom, written > 0 || inputLeft < before else {
                    return .invalid(at: bytes.count - inputLeft)
                }
            } else if isFlushing {
                return String(validating: output, as: UTF8.self).map(TextConversion.text) ?? .invalid(at: nil)
            } else {
                isFlushing = true
            }
        }
    }
}
#else
/// A converter of Foundation, for any number of texts in one charset.
struct SystemConverter: ~Copyable {
    private let encoding: String.Encoding

    /// Finds the encoding by its name in the standard; nil if the system has none.
    init?(named name: String, iconvName _: String) {
        let encoding = CFStringConvertIANACharSetNameToEncoding(name as CFString)
        guard encoding != kCFStringEncodingInvalidId else { return nil }
        self.encoding = String.Encoding(rawValue: CFStringConvertEncodingToNSStringEncoding(encoding))
    }

    /// Decodes a whole text. Foundation does not report the offset of an invalid byte.
    borrowing func decode(_ bytes: UnsafeRawBufferPointer) -> TextConversion {
        String(data: Data(bytes), encoding: encoding).map(TextConversion.text) ?? .invalid(at: nil)
    }
}
#endif

/// The reason a body cannot be decoded as text: the underlying error of ``SluiceError/Code/decodingFailed``.
package struct TextFailure: DescribedError, Sendable, Hashable {
    /// The name of the charset in the WHATWG Encoding Standard, or the label in the response if it is unknown.
    package let charset: String
    /// The offset of the first invalid byte; nil if the charset is unknown or has no converter, or the system does not
    /// report the offset.
    package let offset: Int?
    /// The problem, phrased as the rest of a sentence.
    package let reason: String

    /// The failure for a charset that is not in the Encoding Standard.
    static func unknown(_ label: String) -> TextFailure {
        // The label comes from the server and is written to logs.
        let name = String(label.unicodeScalars.prefix(40).map { (" "..."~").contains($0) ? Character($0) : "?" })
        return TextFailure(charset: name, offset: nil, reason: "its charset “\(name)” is unknown")
    }

    static func invalid(_ charset: Charset, at offset: Int?) -> TextFailure {
        let subject = offset.map { "the byte at offset \($0)" } ?? "it"
        return TextFailure(charset: charset.name, offset: offset, reason: "\(subject) is not valid \(charset.name)")
    }

    static func unavailable(_ charset: Charset) -> TextFailure {
        let reason =
            "this system has no converter for its charset “\(charset.name)” (on Fedora and RHEL, glibc-gconv-extra may have it)"
        return TextFailure(charset: charset.name, offset: nil, reason: reason)
    }

    /// A one-sentence description without any of the text.
    package var description: String { "The response could not be decoded as text: \(reason)." }
}

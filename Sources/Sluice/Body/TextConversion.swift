#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Foundation
#endif

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

/// Decodes windows-1252, which has a character for every byte (WHATWG Encoding §9.1).
enum Windows1252 {
    static func decode(_ bytes: UnsafeRawBufferPointer) -> String {
        var text: [UInt8] = []
        text.reserveCapacity(bytes.count)
        for byte in bytes {
            if byte < 0x80 {
                text.append(byte)
            } else {
                let scalar = byte > 0x9F ? Unicode.Scalar(byte) : upperControls[Int(byte) - 0x80]
                text += UTF8.encode(scalar) ?? UTF8.encodedReplacementCharacter
            }
        }
        return String(decoding: text, as: UTF8.self)
    }

    /// The characters for the bytes 0x80 to 0x9F, which are controls in Latin-1. Five of them remain controls.
    private static let upperControls = Array(
        ("\u{20AC}\u{81}\u{201A}\u{192}\u{201E}\u{2026}\u{2020}\u{2021}\u{2C6}\u{2030}\u{160}\u{2039}\u{152}\u{8D}"
            + "\u{17D}\u{8F}\u{90}\u{2018}\u{2019}\u{201C}\u{201D}\u{2022}\u{2013}\u{2014}\u{2DC}\u{2122}\u{161}\u{203A}"
            + "\u{153}\u{9D}\u{17E}\u{178}")
            .unicodeScalars
    )
}

/// Decodes the charsets that the system supports.
enum SystemConversion {
    #if canImport(Glibc) || canImport(Musl)
    /// Decodes with iconv. Its names come from the table in ``Charset``, never from a server.
    static func decode(_ bytes: UnsafeRawBufferPointer, named _: String, iconvName: String) -> TextConversion {
        let converter = iconv_open("UTF-8", iconvName)
        // `iconv_open` returns -1 as a pointer on failure.
        guard let converter, Int(bitPattern: converter) != -1 else { return .unavailable }
        defer { iconv_close(converter) }
        // The parameter type is `char **` for historical reasons; iconv does not write to the input.
        var input = UnsafeMutablePointer(mutating: bytes.assumingMemoryBound(to: CChar.self).baseAddress)
        var inputLeft = bytes.count
        var output: [UInt8] = []
        output.reserveCapacity(bytes.count &+ bytes.count / 2)
        var chunk = [UInt8](repeating: 0, count: 16 << 10)
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
    #else
    /// Decodes with Foundation by the standard's name. Foundation does not report the offset of an invalid byte.
    static func decode(_ bytes: UnsafeRawBufferPointer, named name: String, iconvName _: String) -> TextConversion {
        let encoding = CFStringConvertIANACharSetNameToEncoding(name as CFString)
        guard encoding != kCFStringEncodingInvalidId else { return .unavailable }
        let converted = CFStringConvertEncodingToNSStringEncoding(encoding)
        let text = String(data: Data(bytes), encoding: String.Encoding(rawValue: converted))
        return text.map(TextConversion.text) ?? .invalid(at: nil)
    }
    #endif
}

/// The reason a body cannot be decoded as text: the underlying error of ``SluiceError/Code/decodingFailed``.
public struct TextFailure: Error, Sendable, Hashable, CustomStringConvertible {
    /// The name of the charset in the WHATWG Encoding Standard, or the label in the response if it is unknown.
    public let charset: String
    /// The offset of the first invalid byte; nil if the charset is unknown or has no converter, or the system does not
    /// report the offset.
    public let offset: Int?
    /// The problem, phrased as the rest of a sentence.
    public let reason: String

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
        let reason = "this system has no converter for its charset “\(charset.name)”"
        return TextFailure(charset: charset.name, offset: nil, reason: reason)
    }

    /// A one-sentence description without any of the text.
    public var description: String { "The response could not be decoded as text: \(reason)." }
}

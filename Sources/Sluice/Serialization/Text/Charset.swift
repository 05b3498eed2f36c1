#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// A character encoding of the WHATWG Encoding Standard.
struct Charset: Sendable, Hashable {
    enum Decoder: Sendable, Hashable {
        case utf8
        case utf16(isBigEndian: Bool)
        case windows1252
        /// One that the system converts, by the name it has for glibc's iconv.
        case iconv(String)
    }

    /// The name in the standard, in small letters.
    let name: String
    let decoder: Decoder

    static let utf8 = Charset(name: "utf-8", decoder: .utf8)
    static let utf16LittleEndian = Charset(name: "utf-16le", decoder: .utf16(isBigEndian: false))
    static let utf16BigEndian = Charset(name: "utf-16be", decoder: .utf16(isBigEndian: true))

    /// Decodes what comes from an offset on, which may be behind the end.
    func decode(_ data: Data, from start: Int) throws(TextFailure) -> String {
        let conversion = data.dropFirst(start).withUnsafeBytes { (bytes: UnsafeRawBufferPointer) -> TextConversion in
            switch decoder {
            case .utf8: UnicodeConversion.utf8(bytes)
            case .utf16(let isBigEndian): UnicodeConversion.utf16(bytes, isBigEndian: isBigEndian)
            case .windows1252: .text(Windows1252.decode(bytes))
            case .iconv(let converter): SystemConversion.decode(bytes, named: name, iconvName: converter)
            }
        }
        switch conversion {
        case .text(let text): return text
        case .invalid(let offset): throw .invalid(self, at: offset.map { $0 + start })
        case .unavailable: throw .unavailable(self)
        }
    }
}

/// What came of decoding bytes.
enum TextConversion {
    case text(String)
    /// The first byte that is not valid, where it is known.
    case invalid(at: Int?)
    /// The system has no such converter.
    case unavailable
}

/// The mark that says at a text's beginning which encoding of Unicode it is in (WHATWG Encoding §6).
struct ByteOrderMark {
    let charset: Charset
    /// In bytes.
    let length: Int

    /// Looks for a mark; nil if there is none.
    init?(of data: Data) {
        if data.starts(with: [0xEF, 0xBB, 0xBF]) {
            charset = .utf8
            length = 3
        } else if data.starts(with: [0xFE, 0xFF]) {
            charset = .utf16BigEndian
            length = 2
        } else if data.starts(with: [0xFF, 0xFE]), !data.dropFirst(2).starts(with: [0, 0]) {
            // With two zeros it would be UTF-32's, and read as UTF-16 give every other character as NUL.
            charset = .utf16LittleEndian
            length = 2
        } else {
            return nil
        }
    }
}

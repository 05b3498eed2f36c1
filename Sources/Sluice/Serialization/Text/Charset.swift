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
        /// An encoding that the system converts, with its name for glibc's iconv.
        case iconv(String)
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

/// The result of decoding bytes.
enum TextConversion {
    case text(String)
    /// The bytes are invalid, with the offset of the first invalid byte if it is known.
    case invalid(at: Int?)
    /// The system has no converter for the encoding.
    case unavailable
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

import SluiceTesting

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The bytes of an input, consumed from the front. Most targets read text, so that seeds can be written by hand.
struct FuzzInput {
    private(set) var rest: ArraySlice<UInt8>
    /// A generator seeded from all bytes, so that the same input is always cut in the same way.
    var random: SeededGenerator

    init(_ bytes: UnsafeRawBufferPointer) {
        rest = Array(bytes)[...]
        random = SeededGenerator(
            seed: bytes.reduce(14_695_981_039_346_656_037) { ($0 ^ UInt64($1)) &* 1_099_511_628_211 }
        )
    }

    var isEmpty: Bool { rest.isEmpty }
    /// The remaining bytes as text. Invalid UTF-8 becomes U+FFFD.
    var text: String { String(decoding: rest, as: UTF8.self) }
    /// The remaining bytes.
    var data: Data { Data(rest) }

    /// Removes and returns the next byte; nil at the end.
    mutating func byte() -> UInt8? { rest.popFirst() }

    /// Removes the next byte and returns its value as a digit: 0 to 9 for a digit, 0 at the end.
    mutating func digit() -> Int { Int((byte() ?? UInt8(ascii: "0")) &- UInt8(ascii: "0")) }

    /// Removes and returns the bytes up to the next line feed, and removes the line feed.
    mutating func line() -> String {
        let line = rest.prefix { $0 != 10 }
        rest = rest[line.endIndex...].dropFirst()
        return String(decoding: line, as: UTF8.self)
    }

    /// Removes and returns the remaining lines; an empty array at the end.
    mutating func lines() -> [String] {
        var lines: [String] = []
        while !isEmpty { lines.append(line()) }
        return lines
    }

    /// Returns the remaining bytes in pieces of random lengths, some of which are empty.
    mutating func pieces() -> [Data] {
        var pieces: [Data] = []
        while !rest.isEmpty {
            let longest = Bool.random(using: &random) ? 3 : rest.count
            let piece = rest.prefix(Int.random(in: 0...longest, using: &random))
            pieces.append(Data(piece))
            rest = rest[piece.endIndex...]
        }
        return pieces
    }
}

/// Returns a text as a quoted string (RFC 9110 §5.6.4).
func quoted(_ text: String) -> String {
    var bytes: [UInt8] = [0x22]
    for byte in text.utf8 {
        if byte == 0x22 || byte == 0x5C { bytes.append(0x5C) }
        bytes.append(byte)
    }
    return String(decoding: bytes + [0x22], as: UTF8.self)
}

/// Returns a text with all bytes but letters and digits percent-encoded (RFC 3986 §2.1).
func percentEncoded(_ text: String) -> String {
    let digits = Array("0123456789abcdef".utf8)
    var bytes: [UInt8] = []
    for byte in text.utf8 {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"):
            bytes.append(byte)
        default:
            bytes += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
        }
    }
    return String(decoding: bytes, as: UTF8.self)
}

extension String {
    /// Returns true if both have the same bytes; `==` also accepts canonical equivalents.
    func isSame(as other: String) -> Bool { utf8.elementsEqual(other.utf8) }

    /// Returns true if a text occurs in this one, byte for byte.
    func containsBytes(of text: String) -> Bool {
        let (own, wanted) = (Array(utf8), Array(text.utf8))
        guard let first = wanted.first, own.count >= wanted.count else { return wanted.isEmpty }
        return (0...(own.count - wanted.count)).contains { own[$0] == first && own[$0...].starts(with: wanted) }
    }
}

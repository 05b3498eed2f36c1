/// The limit on combining characters in a row in the name of a member.
///
/// Swift and Foundation compare names in normalized form (UAX #15). For that, they sort the combining characters after a letter, in quadratic
/// time: a name of 125 KiB takes seconds, which no time-out ends.
enum JSONMarks {
    /// UAX #15 §13 expects at most 30 in meaningful text.
    static let limit = 128
    /// The reason that a syntax error states.
    static let reason = "a member name has more than \(limit) combining characters in a row"

    /// Returns true if a string has no more combining characters in a row than the limit. The bytes are those of a valid string in a JSON text.
    static func areFew(in text: UnsafeBufferPointer<UInt8>) -> Bool {
        var (index, run) = (0, 0)
        while index < text.count {
            let scalar = next(in: text, &index)
            let isMark = scalar >= 0x300 && Unicode.Scalar(scalar)?.properties.canonicalCombiningClass != .notReordered
            run = isMark ? run + 1 : 0
            if run > limit { return false }
        }
        return true
    }

    /// Returns the scalar at an index, which moves to the next one. An escape other than `\u` counts as a letter.
    private static func next(in text: UnsafeBufferPointer<UInt8>, _ index: inout Int) -> UInt32 {
        let byte = text[index]
        if byte == UInt8(ascii: "\\") {
            guard let unit = unit(in: text, at: index) else {
                index += 2
                return 0
            }
            index += 6
            guard unit >> 10 == 0xD800 >> 10, let low = Self.unit(in: text, at: index) else { return unit }
            index += 6
            return 0x10000 + (unit & 0x3FF) << 10 + low & 0x3FF
        }
        let count = byte < 0x80 ? 1 : byte < 0xE0 ? 2 : byte < 0xF0 ? 3 : 4
        var scalar = count == 1 ? UInt32(byte) : UInt32(byte) & (0x7F >> UInt32(count))
        for offset in 1..<max(1, count) where index + offset < text.count {
            scalar = scalar << 6 | UInt32(text[index + offset] & 0x3F)
        }
        index += count
        return scalar
    }

    /// Returns the UTF-16 code unit of a `\u` escape, or nil if there is no such escape at the index.
    private static func unit(in text: UnsafeBufferPointer<UInt8>, at index: Int) -> UInt32? {
        guard index + 6 <= text.count, text[index] == UInt8(ascii: "\\"), text[index + 1] == UInt8(ascii: "u") else {
            return nil
        }
        return UInt32(String(decoding: text[index + 2..<index + 6], as: UTF8.self), radix: 16)
    }
}

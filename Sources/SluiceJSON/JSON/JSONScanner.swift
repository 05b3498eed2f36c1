/// Finds the end of a string or number and validates it.
///
/// The text must be followed by a zero byte, which is invalid in strings and numbers.
enum JSONScanner {
    typealias Failure = JSONParser.Failure

    /// Finds the end of a number (RFC 8259 §6).
    ///
    /// - Parameters:
    ///   - bytes: The text.
    ///   - start: The offset of the sign or the first digit.
    /// - Returns: The offset after the number, and true if it has neither fraction nor exponent.
    /// - Throws: The syntax error in the number.
    static func number(in bytes: UnsafePointer<UInt8>, from start: Int) throws(Failure) -> (end: Int, isInteger: Bool) {
        var position = start
        if bytes[position] == UInt8(ascii: "-") { position &+= 1 }
        if bytes[position] == UInt8(ascii: "0") {
            position &+= 1
            if bytes[position].isDecimalDigit { throw Failure("a number must not have leading zeros", at: start) }
        } else {
            position = try digits(in: bytes, from: position)
        }
        var isInteger = true
        if bytes[position] == UInt8(ascii: ".") {
            isInteger = false
            position = try digits(in: bytes, from: position &+ 1)
        }
        if bytes[position] | 0x20 == UInt8(ascii: "e") {
            isInteger = false
            position &+= 1
            if bytes[position] == UInt8(ascii: "+") || bytes[position] == UInt8(ascii: "-") { position &+= 1 }
            position = try digits(in: bytes, from: position)
        }
        return (position, isInteger)
    }

    @inline(__always)
    private static func digits(in bytes: UnsafePointer<UInt8>, from start: Int) throws(Failure) -> Int {
        guard bytes[start].isDecimalDigit else { throw Failure("a digit is expected", at: start) }
        var position = start &+ 1
        while bytes[position].isDecimalDigit { position &+= 1 }
        return position
    }

    /// Finds the end of a string (RFC 8259 §7).
    ///
    /// - Parameters:
    ///   - bytes: The text.
    ///   - start: The offset of the opening quotation mark.
    ///   - length: The length of the text. At least seven bytes after it must be readable.
    /// - Returns: The offset after the string. `isPlain` is true if it has no escapes, and `isASCII` if its bytes are all
    ///   ASCII.
    /// - Throws: The syntax error in the string.
    static func string(
        in bytes: UnsafePointer<UInt8>,
        from start: Int,
        length: Int
    ) throws(Failure) -> (end: Int, isPlain: Bool, isASCII: Bool) {
        var position = start &+ 1
        var isPlain = true
        var isASCII = true
        while true {
            position = pastOrdinaryBytes(in: bytes, from: position)
            switch bytes[position] {
            case UInt8(ascii: "\""):
                return (position &+ 1, isPlain, isASCII)
            case UInt8(ascii: "\\"):
                isPlain = false
                position = try escape(in: bytes, from: position)
            case 0x80...:
                isASCII = false
                repeat {
                    position = try scalar(in: bytes, from: position)
                } while bytes[position] >= 0x80
            default:
                guard position < length else { throw Failure("it ends within a string", at: position) }
                throw Failure("a control character in a string must be escaped", at: position)
            }
        }
    }

    /// Skips ASCII characters other than quotation marks, backslashes and control characters, eight bytes at a time.
    @inline(__always)
    private static func pastOrdinaryBytes(in bytes: UnsafePointer<UInt8>, from start: Int) -> Int {
        var position = start
        while true {
            let word = UInt64(littleEndian: UnsafeRawPointer(bytes + position).loadUnaligned(as: UInt64.self))
            // The high bit marks a byte that was found. A borrow can set a wrong bit only above a correct one.
            let quotes = word ^ 0x2222_2222_2222_2222
            let backslashes = word ^ 0x5C5C_5C5C_5C5C_5C5C
            let found =
                ((quotes &- 0x0101_0101_0101_0101) & ~quotes)
                | ((backslashes &- 0x0101_0101_0101_0101) & ~backslashes)
                | ((word &- 0x2020_2020_2020_2020) & ~word)
                | word
            let marks = found & 0x8080_8080_8080_8080
            if marks != 0 { return position &+ marks.trailingZeroBitCount / 8 }
            position &+= 8
        }
    }

    /// Skips an escape. A surrogate pair is skipped as a whole.
    private static func escape(in bytes: UnsafePointer<UInt8>, from start: Int) throws(Failure) -> Int {
        switch bytes[start + 1] {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"), UInt8(ascii: "b"), UInt8(ascii: "f"),
            UInt8(ascii: "n"), UInt8(ascii: "r"), UInt8(ascii: "t"):
            return start + 2
        case UInt8(ascii: "u"):
            let unit = try codeUnit(in: bytes, from: start + 2)
            guard unit & 0xF800 == 0xD800 else { return start + 6 }
            guard unit & 0xFC00 == 0xD800,
                bytes[start + 6] == UInt8(ascii: "\\"), bytes[start + 7] == UInt8(ascii: "u"),
                try codeUnit(in: bytes, from: start + 8) & 0xFC00 == 0xDC00
            else { throw Failure("a surrogate is unpaired", at: start) }
            return start + 12
        default:
            throw Failure("an escape sequence is not valid", at: start)
        }
    }

    private static func codeUnit(in bytes: UnsafePointer<UInt8>, from start: Int) throws(Failure) -> UInt32 {
        var unit: UInt32 = 0
        for position in start..<(start + 4) {
            guard let digit = Character(Unicode.Scalar(bytes[position])).hexDigitValue else {
                throw Failure("four hexadecimal digits are expected", at: start)
            }
            unit = unit << 4 | UInt32(digit)
        }
        return unit
    }

    /// Skips a multibyte scalar (RFC 3629 §4).
    @inline(__always)
    private static func scalar(in bytes: UnsafePointer<UInt8>, from start: Int) throws(Failure) -> Int {
        // The range of the second byte excludes overlong forms, surrogates and values above U+10FFFF.
        let (length, second): (Int, ClosedRange<UInt8>)
        switch bytes[start] {
        case 0xC2...0xDF: (length, second) = (2, 0x80...0xBF)
        case 0xE0: (length, second) = (3, 0xA0...0xBF)
        case 0xED: (length, second) = (3, 0x80...0x9F)
        case 0xE1...0xEF: (length, second) = (3, 0x80...0xBF)
        case 0xF0: (length, second) = (4, 0x90...0xBF)
        case 0xF1...0xF3: (length, second) = (4, 0x80...0xBF)
        case 0xF4: (length, second) = (4, 0x80...0x8F)
        default: throw Failure("a string is not valid UTF-8", at: start)
        }
        guard second.contains(bytes[start + 1]),
            length < 3 || bytes[start + 2] & 0xC0 == 0x80,
            length < 4 || bytes[start + 3] & 0xC0 == 0x80
        else { throw Failure("a string is not valid UTF-8", at: start) }
        return start + length
    }
}

extension UInt8 {
    /// True for `0`…`9`.
    @inline(__always) var isDecimalDigit: Bool { self &- UInt8(ascii: "0") < 10 }
}

extension BidirectionalCollection<UInt8> where SubSequence == Self {
    /// The bytes without leading and trailing spaces, tabs and line breaks.
    var trimmingWhiteSpace: Self {
        let isSpace = { (byte: UInt8) in byte == 0x20 || (0x09...0x0D).contains(byte) }
        var rest = drop(while: isSpace)
        while let byte = rest.last, isSpace(byte) { rest.removeLast() }
        return rest
    }
}

// MARK: - JSON marks

/// The limit on combining characters in a row in the name of a member.
///
/// Swift and Foundation compare names in normalized form (UAX #15). For that, they sort the combining characters after a letter, in quadratic
/// time: a name of 125 KiB takes seconds, which no time-out ends.
enum JSONMarks {
    /// UAX #15 §13 expects at most 30 in meaningful text.
    static let limit = 128
    /// The end of the error message for a text over the limit.
    static let excess = "more than \(limit) combining characters in a row"

    /// Returns the offset at which a text exceeds the limit; nil if it does not. The bytes are those of a string in a JSON text, or of a
    /// text that may not be valid.
    static func offsetOfExcess(in text: UnsafeBufferPointer<UInt8>) -> Int? {
        var (index, run) = (0, 0)
        while index < text.count {
            let start = index
            if text[index] < 0x80, text[index] != UInt8(ascii: "\\") {
                index += 1
                run = 0
                continue
            }
            let scalar = next(in: text, &index)
            let isMark = scalar >= 0x300 && Unicode.Scalar(scalar)?.properties.canonicalCombiningClass != .notReordered
            run = isMark ? run + 1 : 0
            if run > limit { return start }
        }
        return nil
    }

    /// Returns true if a text exceeds the limit.
    static func isExceeded(by text: String) -> Bool {
        var text = text
        return text.utf8.count > limit && text.withUTF8 { offsetOfExcess(in: $0) != nil }
    }

    /// Returns the scalar at an index, which moves to the next one. An escape other than `\u` counts as a letter. An escaped line break,
    /// which JSON5 omits, counts as a combining character.
    private static func next(in text: UnsafeBufferPointer<UInt8>, _ index: inout Int) -> UInt32 {
        let byte = text[index]
        if byte == UInt8(ascii: "\\") {
            guard let unit = unit(in: text, at: index) else {
                let isBreak = index + 1 < text.count && [0x0A, 0x0D].contains(text[index + 1])
                index += 2
                return isBreak ? 0x300 : 0
            }
            index += 6
            guard unit >> 10 == 0xD800 >> 10, let low = Self.unit(in: text, at: index) else { return unit }
            index += 6
            return 0x10000 + (unit & 0x3FF) << 10 + low & 0x3FF
        }
        let count = byte < 0xC0 ? 1 : byte < 0xE0 ? 2 : byte < 0xF0 ? 3 : 4
        var scalar = count == 1 ? UInt32(byte) : UInt32(byte) & (0x7F >> UInt32(count))
        let end = min(index + count, text.count)
        index += 1
        while index < end, text[index] & 0xC0 == 0x80 {
            scalar = scalar << 6 | UInt32(text[index] & 0x3F)
            index += 1
        }
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

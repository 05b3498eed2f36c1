/// Writes lower-case hexadecimal numbers and separators into a string of known length.
package struct HexText {
    private var bytes: UnsafeMutableBufferPointer<UInt8>
    private var count = 0

    /// Creates a string.
    ///
    /// - Parameters:
    ///   - length: The length of the string; further characters are dropped.
    ///   - write: Writes the contents.
    /// - Returns: The string.
    package static func text(length: Int, _ write: (inout HexText) -> Void) -> String {
        String(unsafeUninitializedCapacity: length) { buffer in
            var text = HexText(bytes: UnsafeMutableBufferPointer(rebasing: buffer[..<length]))
            write(&text)
            return text.count
        }
    }

    /// Calls a closure with the bytes of a text, which need no allocation.
    ///
    /// - Parameters:
    ///   - length: The length of the text; further characters are dropped.
    ///   - write: Writes the contents.
    ///   - body: Called with the bytes.
    package static func withBytes(
        length: Int,
        _ write: (inout HexText) -> Void,
        _ body: (UnsafeRawBufferPointer) -> Void
    ) {
        withUnsafeTemporaryAllocation(of: UInt8.self, capacity: length) { buffer in
            var text = HexText(bytes: buffer)
            write(&text)
            body(UnsafeRawBufferPointer(rebasing: UnsafeRawBufferPointer(buffer)[..<text.count]))
        }
    }

    /// Returns bytes as two digits each.
    package static func text(of bytes: ArraySlice<UInt8>) -> String {
        text(length: 2 * bytes.count) { text in for byte in bytes { text.append(UInt64(byte), digits: 2) } }
    }

    private init(bytes: UnsafeMutableBufferPointer<UInt8>) {
        self.bytes = bytes
    }

    /// Appends the lowest digits of a number, most significant digit first.
    package mutating func append(_ number: UInt64, digits: Int) {
        var left = digits
        while left >= 8, count + 8 <= bytes.count {
            left -= 8
            let text = Self.eightDigits(UInt32(truncatingIfNeeded: number >> (4 * left)))
            UnsafeMutableRawBufferPointer(rebasing: UnsafeMutableRawBufferPointer(bytes)[count..<count + 8])
                .storeBytes(of: text.bigEndian, as: UInt64.self)
            count += 8
        }
        while left > 0 {
            left -= 1
            let value = UInt8(truncatingIfNeeded: number >> (4 * left)) & 0xF
            append(value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "a") + value - 10)
        }
    }

    /// Returns the ASCII characters of eight digits, the first in the highest byte. Computes all of them at once.
    private static func eightDigits(_ number: UInt32) -> UInt64 {
        var digits = UInt64(number)
        digits = (digits | digits << 16) & 0x0000_FFFF_0000_FFFF
        digits = (digits | digits << 8) & 0x00FF_00FF_00FF_00FF
        digits = (digits | digits << 4) & 0x0F0F_0F0F_0F0F_0F0F
        // 1 in the byte of each digit that is a letter.
        let letters = (digits + 0x0606_0606_0606_0606) >> 4 & 0x0101_0101_0101_0101
        return digits + 0x3030_3030_3030_3030 + letters * UInt64(UInt8(ascii: "a") - UInt8(ascii: "0") - 10)
    }

    package mutating func append(_ text: StaticString) {
        text.withUTF8Buffer { for byte in $0 { append(byte) } }
    }

    private mutating func append(_ byte: UInt8) {
        guard count < bytes.count else { return }
        bytes.initializeElement(at: count, to: byte)
        count += 1
    }
}

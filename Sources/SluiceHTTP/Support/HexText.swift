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

    /// Returns bytes as two digits each.
    package static func text(of bytes: ArraySlice<UInt8>) -> String {
        text(length: 2 * bytes.count) { text in for byte in bytes { text.append(UInt64(byte), digits: 2) } }
    }

    private init(bytes: UnsafeMutableBufferPointer<UInt8>) {
        self.bytes = bytes
    }

    /// Appends the lowest digits of a number, most significant digit first.
    package mutating func append(_ number: UInt64, digits: Int) {
        for digit in (0..<digits).reversed() {
            let value = UInt8(truncatingIfNeeded: number >> (4 * digit)) & 0xF
            append(value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "a") + value - 10)
        }
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

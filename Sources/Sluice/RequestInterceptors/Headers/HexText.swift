/// Numbers in base 16, small letters, and what stands between them.
struct HexText: CustomStringConvertible {
    private var bytes: [UInt8] = []

    init(capacity: Int) {
        bytes.reserveCapacity(capacity)
    }

    /// Appends the lowest digits of a number, the highest first.
    mutating func append(_ number: UInt64, digits: Int) {
        for digit in (0..<digits).reversed() {
            let value = UInt8(truncatingIfNeeded: number >> (4 * digit)) & 0xF
            bytes.append(value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "a") + value - 10)
        }
    }

    mutating func append(_ text: StaticString) {
        text.withUTF8Buffer { bytes.append(contentsOf: $0) }
    }

    var description: String { String(decoding: bytes, as: UTF8.self) }
}

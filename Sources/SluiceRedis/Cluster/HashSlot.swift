import SluiceFoundation

/// A hash slot of a cluster: one of 16,384 parts of the key space, each of which belongs to one primary.
package struct HashSlot: Sendable, Hashable {
    /// The number of slots of each cluster.
    package static let count = 16_384

    /// The number of the slot, from 0 to 16,383.
    package let number: Int

    /// Creates a slot from its number, or returns nil if there is no such slot.
    package init?(_ number: Int) {
        guard (0..<HashSlot.count).contains(number) else { return nil }
        self.number = number
    }

    /// Computes the slot of a key: the CRC16 of its hash tag, or of the whole key if it has none, modulo 16,384.
    ///
    /// A hash tag is the part between the first `{` and the next `}`, unless it is empty. Keys with the same tag have the same slot.
    package init(key: Data) {
        number = key.withUnsafeBytes { Int(HashSlot.crc16(HashSlot.tag(of: $0))) % HashSlot.count }
    }

    private static func tag(of key: UnsafeRawBufferPointer) -> Slice<UnsafeRawBufferPointer> {
        let whole = key[...]
        guard let open = whole.firstIndex(of: UInt8(ascii: "{")) else { return whole }
        let rest = whole[(open + 1)...]
        guard let close = rest.firstIndex(of: UInt8(ascii: "}")), close > rest.startIndex else { return whole }
        return rest[..<close]
    }

    /// Computes the CRC16 of the cluster specification (XMODEM: polynomial 0x1021, initial value 0, no reflection).
    private static func crc16(_ bytes: Slice<UnsafeRawBufferPointer>) -> UInt16 {
        bytes.reduce(0) { crc, byte in crc << 8 ^ table[Int(UInt8(crc >> 8) ^ byte)] }
    }

    private static let table: [UInt16] = (0..<256).map { index in
        (0..<8).reduce(UInt16(index) << 8) { crc, _ in crc & 0x8000 == 0 ? crc << 1 : crc << 1 ^ 0x1021 }
    }
}

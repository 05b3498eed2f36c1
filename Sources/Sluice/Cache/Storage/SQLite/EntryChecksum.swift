import CZlib

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The CRC-32 of an entry's key and variant, followed by its head and body. It detects data of another key and data
/// mixed from two entries.
struct EntryChecksum: Sendable {
    private var sum: UInt

    /// Creates the checksum of a key.
    init(_ key: CacheKey, variant: String) {
        sum = crc32_z(0, nil, 0)
        for field in [key.partition, key.name, variant] {
            var field = field
            field.withUTF8 { bytes in
                // Includes the lengths, so that “ab” and “c” differ from “a” and “bc”.
                withUnsafeBytes(of: UInt64(bytes.count).littleEndian) { add($0) }
                add(UnsafeRawBufferPointer(bytes))
            }
        }
        withUnsafeBytes(of: Int64(key.space.rawValue).littleEndian) { add($0) }
    }

    mutating func add(_ bytes: UnsafeRawBufferPointer) {
        // A null pointer would reset the checksum in zlib.
        guard let base = bytes.bindMemory(to: UInt8.self).baseAddress, !bytes.isEmpty else { return }
        sum = crc32_z(sum, base, z_size_t(bytes.count))
    }

    var value: Int64 { Int64(UInt32(truncatingIfNeeded: sum)) }

    /// Returns the checksum of a key and its expiration, which changes while the data does not.
    func seal(until expires: Double?) -> Int64 {
        var seal = self
        withUnsafeBytes(of: (expires ?? .nan).bitPattern.littleEndian) { seal.add($0) }
        return seal.value
    }
}

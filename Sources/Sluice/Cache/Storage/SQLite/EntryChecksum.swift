import CZlib

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The CRC-32 of an entry's key and variant, and then of its head and body: what lies under another's key, or is of two entries, does not
/// match.
struct EntryChecksum: Sendable {
    private var sum: UInt

    /// Of a key alone.
    init(_ key: CacheKey, variant: String) {
        sum = crc32_z(0, nil, 0)
        for field in [key.partition, key.name, variant] {
            var field = field
            field.withUTF8 { bytes in
                // Lengths, so that “ab” and “c” are not “a” and “bc”.
                withUnsafeBytes(of: UInt64(bytes.count).littleEndian) { add($0) }
                add(UnsafeRawBufferPointer(bytes))
            }
        }
        withUnsafeBytes(of: Int64(key.space.rawValue).littleEndian) { add($0) }
    }

    mutating func add(_ bytes: UnsafeRawBufferPointer) {
        // zlib takes a null pointer for the wish to begin again.
        guard let base = bytes.bindMemory(to: UInt8.self).baseAddress, !bytes.isEmpty else { return }
        sum = crc32_z(sum, base, z_size_t(bytes.count))
    }

    var value: Int64 { Int64(UInt32(truncatingIfNeeded: sum)) }

    /// The checksum of a key and of when its entry is gone, which changes while the entry does not.
    func seal(until expires: Double?) -> Int64 {
        var seal = self
        withUnsafeBytes(of: (expires ?? .nan).bitPattern.littleEndian) { seal.add($0) }
        return seal.value
    }
}

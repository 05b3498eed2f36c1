#if os(Linux)
import CSSL

/// A hash function of Digest authentication (RFC 7616 §6.1), the weakest first.
package enum DigestHash: Int, Sendable, CaseIterable, Comparable {
    case md5
    case sha256
    /// SHA-512/256 (FIPS 180-4 §5.3.6), which is not a truncated SHA-512.
    case sha512t256

    /// The hash functions that OpenSSL provides. In FIPS mode, MD5 is missing.
    private static let available = Set(allCases.filter { $0.hex(of: "") != nil })

    /// True if OpenSSL provides the function.
    package var isAvailable: Bool { DigestHash.available.contains(self) }

    /// Returns the hash as lower-case hexadecimal digits, or nil if OpenSSL does not provide it.
    package func hex(of bytes: UnsafeRawBufferPointer) -> String? {
        let function =
            switch self {
            case .md5: EVP_md5()
            case .sha256: EVP_sha256()
            case .sha512t256: EVP_sha512_256()
            }
        var digest = [UInt8](repeating: 0, count: Int(EVP_MAX_MD_SIZE))
        var count: UInt32 = 0
        guard EVP_Digest(bytes.baseAddress, bytes.count, &digest, &count, function, nil) == 1 else {
            // The error must not remain in the queue of the thread, where the next TLS call would find it.
            ERR_clear_error()
            return nil
        }
        return DigestHash.hex(digest.prefix(Int(count)))
    }

    /// Returns the hash of a text in UTF-8.
    package func hex(of text: String) -> String? {
        var text = text
        return text.withUTF8 { hex(of: UnsafeRawBufferPointer($0)) }
    }

    /// Returns bytes as lower-case hexadecimal digits.
    static func hex(_ bytes: some Collection<UInt8>) -> String {
        let digits: StaticString = "0123456789abcdef"
        return String(unsafeUninitializedCapacity: bytes.count * 2) { buffer in
            var position = 0
            for byte in bytes {
                buffer[position] = digits.utf8Start[Int(byte >> 4)]
                buffer[position + 1] = digits.utf8Start[Int(byte & 15)]
                position += 2
            }
            return position
        }
    }

    package static func < (lhs: DigestHash, rhs: DigestHash) -> Bool { lhs.rawValue < rhs.rawValue }
}
#endif

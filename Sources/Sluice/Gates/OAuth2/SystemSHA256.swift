#if canImport(CryptoKit)
import CryptoKit
#else
import CCrypto
#endif
#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// SHA-256 (FIPS 180-4) from the system's library.
enum SystemSHA256 {
    /// Returns the 32 bytes of the digest; nil if the library fails, as OpenSSL may without its providers.
    static func digest(of data: [UInt8]) -> [UInt8]? {
        #if canImport(CryptoKit)
        Array(SHA256.hash(data: data))
        #else
        var digest = [UInt8](repeating: 0, count: 32)
        return sluice_sha256(data, data.count, &digest) == 1 ? digest : nil
        #endif
    }

    /// Returns the digest in 64 hexadecimal digits.
    static func hexDigest(of data: Data) -> String? {
        digest(of: [UInt8](data)).map { digest in
            HexText.text(length: 64) { text in for byte in digest { text.append(UInt64(byte), digits: 2) } }
        }
    }
}

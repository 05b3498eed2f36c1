#if canImport(CryptoKit)
import CryptoKit
#else
import CCrypto
#endif

/// The SHA-256 of bytes (FIPS 180-4), by the system's library.
enum SystemSHA256 {
    /// The 32 bytes; nil where the library refuses, as OpenSSL may without its providers.
    static func digest(of data: [UInt8]) -> [UInt8]? {
        #if canImport(CryptoKit)
        Array(SHA256.hash(data: data))
        #else
        var digest = [UInt8](repeating: 0, count: 32)
        return sluice_sha256(data, data.count, &digest) == 1 ? digest : nil
        #endif
    }
}

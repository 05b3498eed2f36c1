import SluiceFoundation

#if canImport(CryptoKit)
import CryptoKit
#else
import CCrypto

/// OpenSSL's functions for hashes and ciphers. The first use loads the library. If it is missing, they return failures.
package var crypto: sluice_crypto { sluice_crypto().pointee }
#endif

/// SHA-256 (FIPS 180-4) from the system's library.
package enum SystemSHA256 {
    /// Returns the 32 bytes of the digest; nil if the library fails, as OpenSSL may without its providers.
    package static func digest(of data: [UInt8]) -> [UInt8]? {
        #if canImport(CryptoKit)
        Array(SHA256.hash(data: data))
        #else
        var digest = [UInt8](repeating: 0, count: 32)
        return crypto.EVP_Digest(data, data.count, &digest, nil, crypto.EVP_sha256(), nil) == 1 ? digest : nil
        #endif
    }

    /// Returns the digest in 64 hexadecimal digits; nil if the library fails.
    package static func hexDigest(of data: [UInt8]) -> String? {
        digest(of: data).map { HexText.text(of: $0[...]) }
    }

    /// Returns the digest in 64 hexadecimal digits.
    package static func hexDigest(of data: Data) -> String? {
        hexDigest(of: [UInt8](data))
    }

    private static let pieceSize = 256 << 10

    /// Returns the SHA-256 of bytes that a function supplies piece by piece.
    ///
    /// - Parameter next: Fills the buffer as far as it can and returns the number of bytes; 0 at the end.
    /// - Returns: The 32 bytes of the digest; nil if the system's library fails.
    /// - Throws: The error of the function.
    package static func digest<Failure: Error>(
        reading next: (UnsafeMutableRawBufferPointer) throws(Failure) -> Int
    ) throws(Failure) -> [UInt8]? {
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: pieceSize, alignment: 64)
        defer { buffer.deallocate() }
        let stream = SHA256Stream()
        while true {
            let count = try next(buffer)
            if count <= 0 { return stream.digest }
            stream.append(UnsafeRawBufferPointer(rebasing: buffer.prefix(count)))
        }
    }
}

/// The SHA-256 of messages with the same beginning, which is hashed once.
package final class SHA256Prefix: Sendable {
    #if canImport(CryptoKit)
    private let hash: SHA256

    /// Creates a digest.
    ///
    /// - Parameter prefix: The beginning of all messages.
    package init?(_ prefix: [UInt8]) {
        var hash = SHA256()
        hash.update(data: prefix)
        self.hash = hash
    }

    /// Hashes a message.
    ///
    /// - Parameter feed: Calls its argument with the pieces of the message after the prefix.
    /// - Returns: The 32 bytes of the digest; nil if the system's library fails.
    package func digest(_ feed: ((UnsafeRawBufferPointer) -> Void) -> Void) -> [UInt8]? {
        var hash = hash
        feed { hash.update(bufferPointer: $0) }
        return Array(hash.finalize())
    }
    #else
    /// Never changed after `init`. OpenSSL allows any number of threads to copy a context at the same time.
    private nonisolated(unsafe) let context: OpaquePointer

    /// Creates a digest; nil if the system's library fails.
    ///
    /// - Parameter prefix: The beginning of all messages.
    package init?(_ prefix: [UInt8]) {
        guard let context = crypto.EVP_MD_CTX_new() else { return nil }
        self.context = context
        guard crypto.EVP_DigestInit_ex(context, crypto.EVP_sha256(), nil) == 1,
            crypto.EVP_DigestUpdate(context, prefix, prefix.count) == 1
        else { return nil }
    }

    deinit {
        crypto.EVP_MD_CTX_free(context)
    }

    /// Hashes a message.
    ///
    /// - Parameter feed: Calls its argument with the pieces of the message after the prefix.
    /// - Returns: The 32 bytes of the digest; nil if the system's library fails.
    package func digest(_ feed: ((UnsafeRawBufferPointer) -> Void) -> Void) -> [UInt8]? {
        guard let copy = crypto.EVP_MD_CTX_new() else { return nil }
        defer { crypto.EVP_MD_CTX_free(copy) }
        // A copy needs no look-up of the algorithm, which takes longer than a short message.
        var isHashed = crypto.EVP_MD_CTX_copy_ex(copy, context) == 1
        feed { bytes in isHashed = isHashed && crypto.EVP_DigestUpdate(copy, bytes.baseAddress, bytes.count) == 1 }
        var digest = [UInt8](repeating: 0, count: 32)
        return isHashed && crypto.EVP_DigestFinal_ex(copy, &digest, nil) == 1 ? digest : nil
    }
    #endif
}

/// A SHA-256 of bytes that arrive piece by piece.
package final class SHA256Stream {
    #if canImport(CryptoKit)
    private var hash = SHA256()

    /// Creates the digest of no bytes.
    package init() {}

    /// Adds bytes.
    package func append(_ bytes: UnsafeRawBufferPointer) {
        hash.update(bufferPointer: bytes)
    }

    /// The 32 bytes of the digest of the bytes so far.
    package var digest: [UInt8]? { Array(hash.finalize()) }
    #else
    private let context = crypto.EVP_MD_CTX_new()
    private var hasFailed = false

    /// Creates the digest of no bytes.
    package init() {
        hasFailed = context == nil || crypto.EVP_DigestInit_ex(context, crypto.EVP_sha256(), nil) != 1
    }

    deinit {
        crypto.EVP_MD_CTX_free(context)
    }

    /// Adds bytes.
    package func append(_ bytes: UnsafeRawBufferPointer) {
        guard !hasFailed else { return }
        hasFailed = crypto.EVP_DigestUpdate(context, bytes.baseAddress, bytes.count) != 1
    }

    /// The 32 bytes of the digest of the bytes so far; nil if the library fails.
    package var digest: [UInt8]? {
        guard !hasFailed, let copy = crypto.EVP_MD_CTX_new() else { return nil }
        defer { crypto.EVP_MD_CTX_free(copy) }
        var digest = [UInt8](repeating: 0, count: 32)
        let isHashed =
            crypto.EVP_MD_CTX_copy_ex(copy, context) == 1 && crypto.EVP_DigestFinal_ex(copy, &digest, nil) == 1
        return isHashed ? digest : nil
    }
    #endif

    /// Adds bytes.
    package func append(_ bytes: Data) {
        bytes.withUnsafeBytes { append($0) }
    }

    /// The digest of the bytes so far in 64 hexadecimal digits; nil if the library fails.
    package var hexDigest: String? { digest.map { HexText.text(of: $0[...]) } }
}

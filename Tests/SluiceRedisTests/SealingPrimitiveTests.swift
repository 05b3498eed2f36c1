#if os(Linux)
import SluiceRedis
import Testing

/// The algorithms against published vectors.
struct SealingPrimitiveTests {
    /// RFC 4231 §4.
    @Test(arguments: [
        (
            String(repeating: "0b", count: 20), "4869205468657265",
            "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7"
        ),
        (
            "4a656665", "7768617420646f2079612077616e7420666f72206e6f7468696e673f",
            "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"
        ),
        (
            String(repeating: "aa", count: 20), String(repeating: "dd", count: 50),
            "773ea91e36800e46854db8ebd09181a72959098b3ef8c122d9635514ced565fe"
        ),
    ])
    func hashEqualsThatOfTheStandard(key: String, message: String, digest: String) {
        #expect(KeyedHash(key: bytes(key)).digest(of: bytes(message)) == bytes(digest))
    }

    /// The test cases 13 to 16 of McGrew and Viega, The Galois/Counter Mode of Operation, appendix B.
    @Test(arguments: [
        (
            String(repeating: "00", count: 32), String(repeating: "00", count: 12), "", "",
            "530f8afbc74536b9a963b4f1c4cb738b"
        ),
        (
            String(repeating: "00", count: 32), String(repeating: "00", count: 12), String(repeating: "00", count: 16),
            "",
            "cea7403d4d606b6e074ec5d3baf39d18d0d1c8a799996bf0265b98b5d48ab919"
        ),
        (
            "feffe9928665731c6d6a8f9467308308feffe9928665731c6d6a8f9467308308", "cafebabefacedbaddecaf888",
            "d9313225f88406e5a55909c5aff5269a86a7a9531534f7da2e4c303d8a318a721c3c0c95956809532fcf0e2449a6b525b16aedf5aa0de657ba637b39",
            "feedfacedeadbeeffeedfacedeadbeefabaddad2",
            "522dc1f099567d07f47f37a32a84427d643a8cdcbfe5c0c97598a2bd2555d1aa8cb08e48590dbb3da7b08b1056828838c5f61e6393ba7a0abcc9f66276fc6ece0f4e1768cddf8853bb2d551b"
        ),
    ])
    func cipherEqualsThatOfTheStandard(key: String, nonce: String, message: String, context: String, sealed: String) {
        let (key, nonce, context) = (bytes(key), bytes(nonce), bytes(context))
        let result = AuthenticatedCipher.seal(bytes(message), key: key, nonce: nonce, context: context)
        #expect(result == bytes(sealed))
        #expect(
            AuthenticatedCipher.open(bytes(sealed)[...], key: key, nonce: nonce, context: context) == bytes(message)
        )
        #expect(AuthenticatedCipher.open(bytes(sealed)[...], key: key, nonce: nonce, context: context + [0]) == nil)
    }

    @Test func keysOfAnotherSizeAreRefused() {
        let nonce = [UInt8](repeating: 0, count: 12)
        #expect(AuthenticatedCipher.seal([], key: [1, 2], nonce: nonce, context: []) == nil)
        #expect(
            AuthenticatedCipher.open([1, 2], key: [UInt8](repeating: 0, count: 32), nonce: nonce, context: []) == nil
        )
    }

    private func bytes(_ hex: String) -> [UInt8] {
        let digits = Array(hex)
        return stride(from: 0, to: digits.count - 1, by: 2).compactMap { UInt8(String(digits[$0...$0 + 1]), radix: 16) }
    }
}
#endif

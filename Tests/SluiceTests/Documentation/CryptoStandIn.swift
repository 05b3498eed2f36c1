#if !canImport(CryptoKit)
import Foundation
import SluiceHTTP

// The declarations of swift-crypto that the article on signing uses. The package has no dependencies, so its tests have none.

struct SHA256 {
    private var bytes: [UInt8] = []

    static func hash(data: Data) -> [UInt8] {
        var hash = SHA256()
        hash.update(data: data)
        return hash.finalize()
    }

    mutating func update(data: Data) { bytes += data }

    func finalize() -> [UInt8] { SystemSHA256.digest(of: bytes) ?? [] }
}

struct SymmetricKey {
    let data: Data
}

/// The keyed hash of RFC 2104, for keys of up to one block.
enum HMAC<Hash> {
    static func authenticationCode(for data: Data, using key: SymmetricKey) -> [UInt8] {
        let block = key.data + Data(count: 64 - key.data.count)
        let inner = SHA256.hash(data: Data(block.map { $0 ^ 0x36 }) + data)
        return SHA256.hash(data: Data(block.map { $0 ^ 0x5C }) + inner)
    }
}
#endif

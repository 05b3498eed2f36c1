import SluiceHTTP

/// HMAC-SHA256 (RFC 2104) with a key of 32 bytes.
package struct KeyedHash: Sendable {
    private static let blockSize = 64

    private let inner: [UInt8]
    private let outer: [UInt8]

    /// Creates a hash. A key of more than 64 bytes would have to be hashed first, which no caller needs.
    package init(key: [UInt8]) {
        let padded = key.prefix(Self.blockSize) + [UInt8](repeating: 0, count: max(0, Self.blockSize - key.count))
        inner = padded.map { $0 ^ 0x36 }
        outer = padded.map { $0 ^ 0x5C }
    }

    /// Returns the 32 bytes for a message, or nil if the system's library fails.
    package func digest(of message: [UInt8]) -> [UInt8]? {
        SystemSHA256.digest(of: inner + message).flatMap { SystemSHA256.digest(of: outer + $0) }
    }

    /// Compares bytes in time that depends only on their number.
    package static func areEqual(_ left: some Collection<UInt8>, _ right: some Collection<UInt8>) -> Bool {
        left.count == right.count && zip(left, right).reduce(UInt8(0)) { $0 | ($1.0 ^ $1.1) } == 0
    }
}

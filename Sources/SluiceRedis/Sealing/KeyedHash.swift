import SluiceHTTP

/// HMAC-SHA256 (RFC 2104) with a key of 32 bytes.
package struct KeyedHash: Sendable {
    private static let blockSize = 64

    private let inner: SHA256Prefix?
    private let outer: SHA256Prefix?

    /// Creates a hash. A key of more than 64 bytes would have to be hashed first, which no caller needs.
    package init(key: [UInt8]) {
        let padded = key.prefix(Self.blockSize) + [UInt8](repeating: 0, count: max(0, Self.blockSize - key.count))
        inner = SHA256Prefix(padded.map { $0 ^ 0x36 })
        outer = SHA256Prefix(padded.map { $0 ^ 0x5C })
    }

    /// Returns the 32 bytes for a message, or nil if the system's library fails.
    package func digest(of message: [UInt8]) -> [UInt8]? {
        digest { add in message.withUnsafeBytes(add) }
    }

    /// Hashes a message that consists of pieces.
    ///
    /// - Parameter feed: Calls its argument with the pieces.
    /// - Returns: The 32 bytes; nil if the system's library fails.
    func digest(_ feed: ((UnsafeRawBufferPointer) -> Void) -> Void) -> [UInt8]? {
        guard let digest = inner?.digest(feed) else { return nil }
        return outer?.digest { add in digest.withUnsafeBytes(add) }
    }

    /// Compares bytes in time that depends only on their number.
    package static func areEqual(_ left: some Collection<UInt8>, _ right: some Collection<UInt8>) -> Bool {
        left.count == right.count && zip(left, right).reduce(UInt8(0)) { $0 | ($1.0 ^ $1.1) } == 0
    }
}

/// The end of a gzip stream as it travels, which tells whether all of it is there.
struct GzipEnd {
    /// The last four bytes: how many bytes the stream holds, modulo 2^32 (RFC 1952 §2.3.1).
    private var length: UInt32 = 0
    private(set) var count: Int64 = 0

    mutating func take(_ bytes: UnsafeRawBufferPointer) {
        for byte in bytes.suffix(4) { length = length >> 8 | UInt32(byte) << 24 }
        count += Int64(bytes.count)
    }

    /// Whether so many bytes decoded are not all that the stream holds.
    func isCutShort(decoded: Int64) -> Bool {
        // A head and an end alone are 18 bytes.
        count < 18 || length != UInt32(truncatingIfNeeded: decoded)
    }
}

/// The end of a gzip stream as it travels, which tells whether all of it is there.
struct GzipEnd {
    /// The last four bytes: how many bytes the stream holds, modulo 2^32 (RFC 1952 §2.3.1).
    private var length: UInt32 = 0
    private(set) var count: Int64 = 0
    /// How many bytes belong to the body, where its head says so; more may come behind it.
    private let announced: Int64?

    init(announced: Int64? = nil) {
        self.announced = announced
    }

    mutating func take(_ bytes: UnsafeRawBufferPointer) {
        let left = announced.map { Int(clamping: max(0, $0 - count)) } ?? bytes.count
        let bytes = bytes.prefix(left)
        for byte in bytes.suffix(4) { length = length >> 8 | UInt32(byte) << 24 }
        count += Int64(bytes.count)
    }

    /// Whether so many bytes decoded are not all that the stream holds.
    func isCutShort(decoded: Int64) -> Bool {
        // A head and an end alone are 18 bytes.
        count < 18 || length != UInt32(truncatingIfNeeded: decoded)
    }
}

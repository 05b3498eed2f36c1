#if os(Linux)

/// A reader of the frame headers in received bytes (RFC 9113 §4.1).
///
/// nghttp2 reports no frame that it ignores, such as DATA on a stream that the client has reset.
struct FrameScanner {
    struct Header: Equatable {
        var length: Int
        var type: UInt8
        var stream: Int32
    }

    private static let size = 9

    private var header: [UInt8] = []
    /// The number of payload bytes of the current frame that have not been received.
    private var payload = 0

    init() {
        header.reserveCapacity(FrameScanner.size)
    }

    /// Passes the header of each frame that begins in the bytes to `body`, once the whole header is received.
    mutating func scan(_ bytes: UnsafeRawBufferPointer, _ body: (Header) -> Void) {
        var position = 0
        while true {
            let skipped = min(payload, bytes.count - position)
            payload -= skipped
            position += skipped
            guard position < bytes.count else { return }
            let part = min(FrameScanner.size - header.count, bytes.count - position)
            header.append(contentsOf: bytes[position..<position + part])
            position += part
            guard header.count == FrameScanner.size else { return }
            payload = Int(header[0]) << 16 | Int(header[1]) << 8 | Int(header[2])
            let stream = header[5...].reduce(0) { $0 << 8 | UInt32($1) } & 0x7fff_ffff
            body(Header(length: payload, type: header[3], stream: Int32(stream)))
            header.removeAll(keepingCapacity: true)
        }
    }
}
#endif

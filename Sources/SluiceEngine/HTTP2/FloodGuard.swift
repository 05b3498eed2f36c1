#if os(Linux)
import SluiceHTTP

/// A token bucket that detects a flood of frames without content for a request.
///
/// Each such frame takes a token. Tokens return over time, and with frames that have content. A conforming server never takes all tokens.
/// A server that floods the client with settings, pings, priorities, resets or empty frames soon does (CVE-2019-9512, CVE-2019-9515,
/// CVE-2019-9518).
struct FloodGuard {
    /// The initial and maximum number of tokens.
    static let capacity = 1000
    /// The number of tokens that return per second.
    static let refill = 100
    /// The number of tokens that a frame with content returns.
    static let reward = 2

    /// The maximum number of WINDOW_UPDATE frames that take no token.
    static let updateCapacity = 1 << 16

    private var tokens = FloodGuard.capacity
    private var refilled: MonotonicTime
    /// The number of WINDOW_UPDATE frames that take no token.
    private var updates = 0
    /// The number of sent bytes that have not been counted in ``updates``.
    private var sentBytes = 0

    init(at now: MonotonicTime) {
        refilled = now
    }

    /// Returns tokens for a frame with content for a request, or for a sent piece of a request body.
    mutating func reward() {
        tokens = min(FloodGuard.capacity, tokens + FloodGuard.reward)
    }

    /// Allows one WINDOW_UPDATE frame for each KiB of a request body. A server may send two for each 4 KiB that it reads, one of the stream
    /// and one of the connection, and those for a whole window after the end of the body.
    mutating func rewardSent(_ bytes: Int) {
        reward()
        sentBytes += bytes
        updates = min(FloodGuard.updateCapacity, updates + sentBytes >> 10)
        sentBytes &= 1023
    }

    /// Takes a token for a WINDOW_UPDATE frame, unless sent bytes allow it. Returns false if there is none.
    mutating func takeUpdate(at now: MonotonicTime) -> Bool {
        guard updates > 0 else { return takeToken(at: now) }
        updates -= 1
        return true
    }

    /// Takes a token for a frame without content. Returns false if there is none.
    mutating func takeToken(at now: MonotonicTime) -> Bool {
        let milliseconds = now.since(refilled).nanoseconds / 1_000_000
        if milliseconds >= 10 {
            tokens = min(FloodGuard.capacity, tokens + Int(clamping: milliseconds) * FloodGuard.refill / 1000)
            refilled = now
        }
        guard tokens > 0 else { return false }
        tokens -= 1
        return true
    }
}

// MARK: - Frame scanner

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

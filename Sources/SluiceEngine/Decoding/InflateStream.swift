#if os(Linux)
import CZlib

/// A decoder for `gzip` and `deflate` that uses zlib.
///
/// A `gzip` body has one or more members (RFC 1952 §2.2), which are all decoded. Zero bytes after the last one are ignored as padding.
/// Any other bytes are an error.
///
/// A `deflate` body has the zlib format. If its first two bytes are not a zlib header (RFC 1950 §2.2), the body is decoded as raw deflate
/// data, which some servers send. Up to four bytes after raw data are ignored, because some of these servers append a zlib checksum.
final class InflateStream: CodingStream {
    private enum Framing { case gzip, zlib, raw }

    private enum State {
        /// No byte has been decoded.
        case start
        /// One byte of a `deflate` body has been consumed. The second one determines the format.
        case secondByte(first: UInt8)
        case stream
        /// The end mark of a member, or of a `deflate` body, has been decoded.
        case afterStream
        /// A zero byte has followed the last member.
        case padding
    }

    private static let rawTrailerSize = 4

    private let stream: UnsafeMutablePointer<z_stream>
    private var framing: Framing
    private var state = State.start
    private var trailerSize = 0

    var isComplete: Bool {
        switch state {
        case .start, .afterStream, .padding: true
        case .secondByte, .stream: false
        }
    }

    /// Creates a decoder, or returns nil if memory is short.
    init?(gzip: Bool) {
        let stream = UnsafeMutablePointer<z_stream>.allocate(capacity: 1)
        stream.initialize(to: z_stream())
        // 15 bits select the largest window. Adding 16 selects the gzip format instead of zlib.
        let size = Int32(MemoryLayout<z_stream>.size)
        guard inflateInit2_(stream, gzip ? 15 + 16 : 15, ZLIB_VERSION, size) == Z_OK else {
            stream.deallocate()
            return nil
        }
        self.stream = stream
        framing = gzip ? .gzip : .zlib
    }

    deinit {
        inflateEnd(stream)
        stream.deallocate()
    }

    func decode(_ input: UnsafeRawBufferPointer, into output: UnsafeMutableRawBufferPointer) -> CodingProgress {
        var progress = CodingProgress()
        while progress.failure == nil {
            if case .stream = state {
                inflate(input, into: output, &progress)
                if case .stream = state { return progress }
            }
            guard progress.consumed < input.count else { return progress }
            let byte = input[progress.consumed]
            switch state {
            case .start where framing == .gzip:
                state = .stream
            case .start:
                progress.consumed += 1
                state = .secondByte(first: byte)
            case .secondByte(let first):
                begin(first, byte)
                inflate(first, &progress)
            case .stream:
                break
            case .afterStream:
                continueAfterStream(with: byte, &progress)
            case .padding:
                if byte == 0 { progress.consumed += 1 } else { progress.failure = .trailingData }
            }
        }
        return progress
    }

    private func continueAfterStream(with byte: UInt8, _ progress: inout CodingProgress) {
        switch framing {
        case .gzip where byte == 0:
            state = .padding
        case .gzip where byte == 0x1F:
            inflateReset(stream)
            state = .stream
        case .raw where trailerSize < InflateStream.rawTrailerSize:
            trailerSize += 1
            progress.consumed += 1
        case .gzip, .zlib, .raw:
            progress.failure = .trailingData
        }
    }

    /// Determines the format of a `deflate` body from its first two bytes. A zlib header has compression method 8, a window of at most
    /// 32 KiB, and is a multiple of 31.
    private func begin(_ first: UInt8, _ second: UInt8) {
        let isHeader = first & 0x0F == 8 && first >> 4 <= 7 && (Int(first) << 8 + Int(second)) % 31 == 0
        if !isHeader {
            framing = .raw
            inflateReset2(stream, -15)
        }
        state = .stream
    }

    /// Decodes the first byte of a body, which produces no output in either format.
    private func inflate(_ first: UInt8, _ progress: inout CodingProgress) {
        var noOutput: UInt8 = 0
        withUnsafeBytes(of: first) { input in
            withUnsafeMutableBytes(of: &noOutput) { output in
                var ignored = CodingProgress()
                inflate(input, into: output, &ignored)
                progress.failure = ignored.failure
            }
        }
    }

    private func inflate(
        _ input: UnsafeRawBufferPointer,
        into output: UnsafeMutableRawBufferPointer,
        _ progress: inout CodingProgress
    ) {
        let (left, free) = (input.count - progress.consumed, output.count - progress.produced)
        guard free > 0, let target = output.baseAddress else { return }
        // zlib only reads from this address. It requires an address even for no bytes.
        let source = left > 0 ? input.baseAddress.map { $0 + progress.consumed } : UnsafeRawPointer(target)
        stream.pointee.next_in = UnsafeMutablePointer(mutating: source?.assumingMemoryBound(to: UInt8.self))
        stream.pointee.avail_in = UInt32(left)
        stream.pointee.next_out = (target + progress.produced).assumingMemoryBound(to: UInt8.self)
        stream.pointee.avail_out = UInt32(free)
        let result = CZlib.inflate(stream, Z_NO_FLUSH)
        progress.consumed += left - Int(stream.pointee.avail_in)
        progress.produced += free - Int(stream.pointee.avail_out)
        progress.hasMore = stream.pointee.avail_out == 0
        switch result {
        case Z_OK: break
        case Z_BUF_ERROR where left == 0: break
        case Z_STREAM_END: state = .afterStream
        case Z_MEM_ERROR: progress.failure = .noMemory
        default: progress.failure = .damaged
        }
    }
}
#endif

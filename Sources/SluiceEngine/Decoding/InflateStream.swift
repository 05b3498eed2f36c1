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

    private enum Place {
        /// No byte has been received.
        case start
        /// One byte of a `deflate` body has been received, which does not determine its format.
        case secondByte(first: UInt8)
        case inside
        case behindEnd
        case inPadding
    }

    private static let rawTrailerSize = 4

    private let stream: UnsafeMutablePointer<z_stream>
    private var framing: Framing
    private var place = Place.start
    private var trailerSize = 0

    var isComplete: Bool {
        switch place {
        case .start, .behindEnd, .inPadding: true
        case .secondByte, .inside: false
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
        while progress.flaw == nil {
            if case .inside = place {
                inflate(input, into: output, &progress)
                if case .inside = place { return progress }
            }
            guard progress.taken < input.count else { return progress }
            let byte = input[progress.taken]
            switch place {
            case .start where framing == .gzip:
                place = .inside
            case .start:
                progress.taken += 1
                place = .secondByte(first: byte)
            case .secondByte(let first):
                begin(first, byte)
                inflate(first, &progress)
            case .inside:
                break
            case .behindEnd:
                continueBehindEnd(with: byte, &progress)
            case .inPadding:
                if byte == 0 { progress.taken += 1 } else { progress.flaw = .trailingData }
            }
        }
        return progress
    }

    private func continueBehindEnd(with byte: UInt8, _ progress: inout CodingProgress) {
        switch framing {
        case .gzip where byte == 0:
            place = .inPadding
        case .gzip where byte == 0x1F:
            inflateReset(stream)
            place = .inside
        case .raw where trailerSize < InflateStream.rawTrailerSize:
            trailerSize += 1
            progress.taken += 1
        case .gzip, .zlib, .raw:
            progress.flaw = .trailingData
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
        place = .inside
    }

    /// Decodes the first byte of a body, which produces no output in either format.
    private func inflate(_ first: UInt8, _ progress: inout CodingProgress) {
        var noOutput: UInt8 = 0
        withUnsafeBytes(of: first) { input in
            withUnsafeMutableBytes(of: &noOutput) { output in
                var ignored = CodingProgress()
                inflate(input, into: output, &ignored)
                progress.flaw = ignored.flaw
            }
        }
    }

    private func inflate(
        _ input: UnsafeRawBufferPointer,
        into output: UnsafeMutableRawBufferPointer,
        _ progress: inout CodingProgress
    ) {
        let (left, free) = (input.count - progress.taken, output.count - progress.made)
        guard free > 0, let target = output.baseAddress else { return }
        // zlib only reads from this address. It requires an address even for no bytes.
        let source = left > 0 ? input.baseAddress.map { $0 + progress.taken } : UnsafeRawPointer(target)
        stream.pointee.next_in = UnsafeMutablePointer(mutating: source?.assumingMemoryBound(to: UInt8.self))
        stream.pointee.avail_in = UInt32(left)
        stream.pointee.next_out = (target + progress.made).assumingMemoryBound(to: UInt8.self)
        stream.pointee.avail_out = UInt32(free)
        let result = CZlib.inflate(stream, Z_NO_FLUSH)
        progress.taken += left - Int(stream.pointee.avail_in)
        progress.made += free - Int(stream.pointee.avail_out)
        progress.hasMore = stream.pointee.avail_out == 0
        switch result {
        case Z_OK: break
        case Z_BUF_ERROR where left == 0: break
        case Z_STREAM_END: place = .behindEnd
        case Z_MEM_ERROR: progress.flaw = .noMemory
        default: progress.flaw = .damaged
        }
    }
}
#endif

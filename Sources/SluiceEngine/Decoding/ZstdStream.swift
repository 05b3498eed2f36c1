#if os(Linux)
import CZstd

/// A decoder for `zstd` that uses libzstd. It accepts any number of frames, including skippable ones (RFC 8878 §3.1).
///
/// The header of each frame is checked before libzstd receives it, for two reasons. libzstd decodes a short frame in one step without
/// checking its window limit, so the result would depend on how the body is split. It may also support formats older than the standard.
final class ZstdStream: CodingStream {
    /// The binary logarithm of the largest window, 8 MiB (RFC 9659 §3).
    private static let windowLog: Int32 = 23

    private let context: OpaquePointer
    private var header = ZstdFrameHeader()
    private var hasDecodedFrame = false

    var isComplete: Bool { header.count == 0 }

    /// Creates a decoder, or returns nil if memory is short.
    init?() {
        guard let context = ZSTD_createDCtx() else { return nil }
        guard ZSTD_isError(ZSTD_DCtx_setParameter(context, ZSTD_d_windowLogMax, ZstdStream.windowLog)) == 0 else {
            ZSTD_freeDCtx(context)
            return nil
        }
        self.context = context
    }

    deinit { ZSTD_freeDCtx(context) }

    func decode(_ input: UnsafeRawBufferPointer, into output: UnsafeMutableRawBufferPointer) -> CodingProgress {
        var source = ZSTD_inBuffer(src: input.baseAddress, size: input.count, pos: 0)
        var target = ZSTD_outBuffer(dst: output.baseAddress, size: output.count, pos: 0)
        var failure: ContentDecoder.Failure?
        repeat {
            let rest = UnsafeRawBufferPointer(rebasing: input[source.pos...])
            // Between frames, libzstd has no output and treats a call without input as an error.
            if rest.isEmpty, header.count == 0 { break }
            failure = header.check(rest, isFirst: !hasDecodedFrame)
            if failure != nil { break }
            let before = (source.pos, target.pos)
            let result = ZSTD_decompressStream(context, &target, &source)
            if ZSTD_isError(result) != 0 {
                failure = ZstdStream.failure(result)
                break
            }
            header.advance(by: source.pos - before.0)
            if result == 0 {
                header = ZstdFrameHeader()
                hasDecodedFrame = true
            }
            if (source.pos, target.pos) == before { break }
        } while source.pos < source.size && target.pos < target.size
        return CodingProgress(
            consumed: source.pos,
            produced: target.pos,
            hasMore: target.pos == target.size,
            failure: failure
        )
    }

    private static func failure(_ result: Int) -> ContentDecoder.Failure {
        switch ZSTD_getErrorCode(result) {
        case ZSTD_error_frameParameter_windowTooLarge: .windowTooLarge
        case ZSTD_error_memory_allocation: .noMemory
        default: .damaged
        }
    }
}

/// The part of a frame header that determines if the frame is decoded (RFC 8878 §3.1.1.1 and §3.1.2).
private struct ZstdFrameHeader {
    private static let magic: [UInt8] = [0x28, 0xB5, 0x2F, 0xFD]
    /// The magic number of a skippable frame. Its first byte may be any from 0x50 to 0x5F.
    private static let skippableMagic: [UInt8] = [0x50, 0x2A, 0x4D, 0x18]
    private static let descriptorIndex = 4

    /// The number of consumed bytes of the frame.
    private(set) var count = 0
    private var isSkippable = false
    private var hasWindowDescriptor = false

    mutating func advance(by consumed: Int) { count += consumed }

    /// Checks the next bytes. Bytes that were not consumed may be passed again.
    ///
    /// - Parameters:
    ///   - bytes: The bytes from the first unconsumed one.
    ///   - isFirst: True if no frame has been decoded. Otherwise bytes that start no frame are trailing data.
    /// - Returns: The reason to refuse the frame, or nil.
    mutating func check(_ bytes: UnsafeRawBufferPointer, isFirst: Bool) -> ContentDecoder.Failure? {
        var index = count
        for byte in bytes {
            if index > ZstdFrameHeader.descriptorIndex + 1 { break }
            if index == 0 { isSkippable = byte & 0xF0 == ZstdFrameHeader.skippableMagic[0] }
            if index < ZstdFrameHeader.descriptorIndex {
                let expected = isSkippable ? ZstdFrameHeader.skippableMagic : ZstdFrameHeader.magic
                let isExpected = index == 0 && isSkippable || byte == expected[index]
                if !isExpected { return isFirst ? .damaged : .trailingData }
            } else if isSkippable {
                break
            } else if index == ZstdFrameHeader.descriptorIndex {
                // Without the Single_Segment_flag a Window_Descriptor follows.
                hasWindowDescriptor = byte & 0x20 == 0
            } else if hasWindowDescriptor {
                // The high bits are the exponent, the low bits the mantissa: an exponent of 13 with no mantissa is 8 MiB.
                if byte > 13 << 3 { return .windowTooLarge }
            }
            index += 1
        }
        return nil
    }
}
#endif

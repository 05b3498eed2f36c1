#if os(Linux)
import CBrotli
import CZstd

/// The functions of libbrotlidec. The first use loads the library. If it is missing, they return failures.
var brotli: sluice_brotli { sluice_brotli().pointee }
/// The functions of libzstd. The first use loads the library. If it is missing, they return failures.
var zstd: sluice_zstd { sluice_zstd().pointee }

/// A decoder of one coding, or of two in a row. The sizes of the two buffers bound the work of one call.
protocol CodingStream: AnyObject {
    /// False after the first byte until the end mark of the stream.
    var isComplete: Bool { get }

    /// Decodes until `input` is consumed, `output` is full, or the data is invalid.
    ///
    /// Call it with input, or without input if the previous call set `hasMore`.
    func decode(_ input: UnsafeRawBufferPointer, into output: UnsafeMutableRawBufferPointer) -> CodingProgress
}

/// The result of one call of a ``CodingStream``.
struct CodingProgress {
    /// The number of bytes consumed from the input.
    var consumed = 0
    /// The number of bytes written to the output. Valid even if an error follows them.
    var produced = 0
    /// The number of bytes between two codings.
    var intermediate = 0
    /// True if the next call may produce output without more input.
    var hasMore = false
    var failure: ContentDecoder.Failure?
}

/// Two decoders in a row with a buffer between them. One call runs each of them at most once.
final class ChainedStream: CodingStream {
    private let first: any CodingStream
    private let second: any CodingStream
    private let buffer: UnsafeMutableRawBufferPointer
    /// The part of the buffer that `second` has not consumed.
    private var unread = 0..<0
    private var firstHasMore = false
    private var secondHasMore = false
    private var firstFailure: ContentDecoder.Failure?

    var isComplete: Bool { unread.isEmpty && first.isComplete && second.isComplete }

    /// Creates a chain. `second` decodes the output of `first`.
    init(_ first: any CodingStream, _ second: any CodingStream, bufferSize: Int) {
        self.first = first
        self.second = second
        buffer = .allocate(byteCount: bufferSize, alignment: 16)
    }

    deinit { buffer.deallocate() }

    func decode(_ input: UnsafeRawBufferPointer, into output: UnsafeMutableRawBufferPointer) -> CodingProgress {
        var progress = CodingProgress()
        if unread.isEmpty, firstFailure == nil, !input.isEmpty || firstHasMore {
            let step = first.decode(input, into: buffer)
            unread = 0..<step.produced
            (firstHasMore, firstFailure) = (step.hasMore, step.failure)
            progress.consumed = step.consumed
            progress.intermediate = step.produced
        }
        if !unread.isEmpty || secondHasMore {
            let step = second.decode(UnsafeRawBufferPointer(rebasing: buffer[unread]), into: output)
            unread = (unread.lowerBound + step.consumed)..<unread.upperBound
            secondHasMore = step.hasMore
            progress.produced = step.produced
            progress.failure = step.failure
        }
        if progress.failure == nil, unread.isEmpty, !secondHasMore { progress.failure = firstFailure }
        progress.hasMore = firstHasMore || secondHasMore || !unread.isEmpty || firstFailure != nil
        return progress
    }
}

// MARK: - Brotli stream

/// A decoder for `br` that uses libbrotlidec. The window is at most 16 MiB (RFC 7932 §9.1). Large-window streams are refused.
final class BrotliStream: CodingStream {
    private let state: OpaquePointer
    private var hasBegun = false
    private var hasEnded = false

    var isComplete: Bool { hasEnded || !hasBegun }

    /// Creates a decoder, or returns nil if memory is short or the library is missing.
    init?() {
        guard let state = brotli.BrotliDecoderCreateInstance(nil, nil, nil) else { return nil }
        self.state = state
    }

    deinit { brotli.BrotliDecoderDestroyInstance(state) }

    func decode(_ input: UnsafeRawBufferPointer, into output: UnsafeMutableRawBufferPointer) -> CodingProgress {
        if hasEnded { return CodingProgress(failure: input.isEmpty ? nil : .trailingData) }
        hasBegun = hasBegun || !input.isEmpty
        var source = input.baseAddress?.assumingMemoryBound(to: UInt8.self)
        var target = output.baseAddress?.assumingMemoryBound(to: UInt8.self)
        var (left, free) = (input.count, output.count)
        let result = brotli.BrotliDecoderDecompressStream(state, &left, &source, &free, &target, nil)
        var progress = CodingProgress(consumed: input.count - left, produced: output.count - free, hasMore: free == 0)
        switch result {
        case BROTLI_DECODER_RESULT_SUCCESS:
            hasEnded = true
            if left > 0 { progress.failure = .trailingData }
        case BROTLI_DECODER_RESULT_NEEDS_MORE_INPUT, BROTLI_DECODER_RESULT_NEEDS_MORE_OUTPUT:
            break
        default:
            progress.failure = failure
        }
        return progress
    }

    private var failure: ContentDecoder.Failure {
        let code = brotli.BrotliDecoderGetErrorCode(state)
        // The error codes of the format are greater than the error codes of memory allocation.
        if code.rawValue <= BROTLI_DECODER_ERROR_ALLOC_CONTEXT_MODES.rawValue,
            code.rawValue > BROTLI_DECODER_ERROR_UNREACHABLE.rawValue
        {
            return .noMemory
        }
        return code == BROTLI_DECODER_ERROR_FORMAT_WINDOW_BITS ? .windowTooLarge : .damaged
    }
}

// MARK: - Zstd stream

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

    /// Creates a decoder, or returns nil if memory is short or the library is missing.
    init?() {
        guard let context = zstd.ZSTD_createDCtx() else { return nil }
        guard zstd.ZSTD_isError(zstd.ZSTD_DCtx_setParameter(context, ZSTD_d_windowLogMax, ZstdStream.windowLog)) == 0
        else {
            _ = zstd.ZSTD_freeDCtx(context)
            return nil
        }
        self.context = context
    }

    deinit { _ = zstd.ZSTD_freeDCtx(context) }

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
            let result = zstd.ZSTD_decompressStream(context, &target, &source)
            if zstd.ZSTD_isError(result) != 0 {
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
        switch zstd.ZSTD_getErrorCode(result) {
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

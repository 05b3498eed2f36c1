#if os(Linux)
import CBrotli

/// A decoder for `br` that uses libbrotlidec. The window is at most 16 MiB (RFC 7932 §9.1). Large-window streams are refused.
final class BrotliStream: CodingStream {
    private let state: OpaquePointer
    private var hasBegun = false
    private var hasEnded = false

    var isComplete: Bool { hasEnded || !hasBegun }

    /// Creates a decoder, or returns nil if memory is short.
    init?() {
        guard let state = BrotliDecoderCreateInstance(nil, nil, nil) else { return nil }
        self.state = state
    }

    deinit { BrotliDecoderDestroyInstance(state) }

    func decode(_ input: UnsafeRawBufferPointer, into output: UnsafeMutableRawBufferPointer) -> CodingProgress {
        if hasEnded { return CodingProgress(failure: input.isEmpty ? nil : .trailingData) }
        hasBegun = hasBegun || !input.isEmpty
        var source = input.baseAddress?.assumingMemoryBound(to: UInt8.self)
        var target = output.baseAddress?.assumingMemoryBound(to: UInt8.self)
        var (left, free) = (input.count, output.count)
        let result = BrotliDecoderDecompressStream(state, &left, &source, &free, &target, nil)
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
        let code = BrotliDecoderGetErrorCode(state)
        // The error codes of the format are greater than the error codes of memory allocation.
        if code.rawValue <= BROTLI_DECODER_ERROR_ALLOC_CONTEXT_MODES.rawValue,
            code.rawValue > BROTLI_DECODER_ERROR_UNREACHABLE.rawValue
        {
            return .noMemory
        }
        return code == BROTLI_DECODER_ERROR_FORMAT_WINDOW_BITS ? .windowTooLarge : .damaged
    }
}
#endif

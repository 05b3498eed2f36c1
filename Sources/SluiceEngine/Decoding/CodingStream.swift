#if os(Linux)
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
#endif

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
    var taken = 0
    /// The number of bytes written to the output. Valid even if an error follows them.
    var made = 0
    /// True if the next call may produce output without more input.
    var hasMore = false
    var flaw: ContentDecoder.Flaw?
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
    private var firstFlaw: ContentDecoder.Flaw?

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
        if unread.isEmpty, firstFlaw == nil, !input.isEmpty || firstHasMore {
            let step = first.decode(input, into: buffer)
            unread = 0..<step.made
            (firstHasMore, firstFlaw) = (step.hasMore, step.flaw)
            progress.taken = step.taken
        }
        if !unread.isEmpty || secondHasMore {
            let step = second.decode(UnsafeRawBufferPointer(rebasing: buffer[unread]), into: output)
            unread = (unread.lowerBound + step.taken)..<unread.upperBound
            secondHasMore = step.hasMore
            progress.made = step.made
            progress.flaw = step.flaw
        }
        if progress.flaw == nil, unread.isEmpty, !secondHasMore { progress.flaw = firstFlaw }
        progress.hasMore = firstHasMore || secondHasMore || !unread.isEmpty || firstFlaw != nil
        return progress
    }
}
#endif

#if os(Linux)
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

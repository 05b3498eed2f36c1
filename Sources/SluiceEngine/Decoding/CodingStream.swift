#if os(Linux)
/// A decoder of one coding, or of two in a row. The sizes of the two buffers bound the work of one call.
protocol CodingStream: AnyObject {
    /// False while a stream has begun and its end mark has not been reached; true before the first byte.
    var isComplete: Bool { get }

    /// Decodes until `input` is used up, `output` is full, or the data turn out to be flawed.
    ///
    /// To be called with input, or without if the call before said `hasMore`.
    func decode(_ input: UnsafeRawBufferPointer, into output: UnsafeMutableRawBufferPointer) -> CodingProgress
}

/// The result of one call of a ``CodingStream``.
struct CodingProgress {
    /// The number of bytes taken from the input.
    var taken = 0
    /// The number of bytes written to the output, valid even if a flaw was found behind them.
    var made = 0
    /// True if the next call may make output without more input.
    var hasMore = false
    var flaw: ContentDecoder.Flaw?
}
#endif

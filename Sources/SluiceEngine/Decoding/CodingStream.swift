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
#endif

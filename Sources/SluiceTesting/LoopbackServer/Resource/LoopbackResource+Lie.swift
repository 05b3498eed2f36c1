extension LoopbackResource {
    /// A fault of a file server.
    public enum Lie: Sendable, Hashable {
        /// The `Content-Range` names the wrong bytes. Its first and last position are shifted by the given number.
        case shiftedRange(by: Int)
        /// The `Content-Range` has the wrong complete length. Nil stands for `*`, an unknown length, which is valid
        /// (RFC 9110 §14.4).
        case total(Int64?)
        /// A 206 response has no `Content-Range`.
        case noContentRange
        /// A request for the whole file is answered with 206 and the given range.
        case unaskedPart(Range<Int>)
        /// A part is shorter than requested by the given number of bytes. Its `Content-Length` matches the bytes sent.
        case shortPart(by: Int)
        /// A part is sent although the `If-Range` field does not match the current representation.
        case ignoringIfRange
    }
}

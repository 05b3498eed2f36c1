extension LoopbackResource {
    /// Something that a server of files gets wrong.
    public enum Lie: Sendable, Hashable {
        /// The `Content-Range` names other bytes than are sent: first and last are off by so many.
        case shiftedRange(by: Int)
        /// The `Content-Range` names another length of the whole file; nil is `*`, which is no lie but a server that
        /// does not know (RFC 9110 §14.4).
        case total(Int64?)
        /// A 206 has no `Content-Range`.
        case noContentRange
        /// A request for the whole file is answered with 206 and a part of it.
        case unaskedPart(Range<Int>)
        /// A part ends so many bytes early, with a `Content-Length` that fits what is sent.
        case shortPart(by: Int)
        /// A part is sent although `If-Range` names another state of the file.
        case ignoringIfRange
    }
}

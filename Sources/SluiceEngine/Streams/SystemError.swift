#if os(Linux)
import Glibc

/// An error number of the system's, the underlying error of a failure to connect.
public struct SystemError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The value of `errno`.
    public let number: Int32

    /// The system's words for it.
    public var description: String { String(cString: strerror(number)) }

    /// The same words for the middle of a sentence.
    var words: String { description.lowercased() }
}
#endif

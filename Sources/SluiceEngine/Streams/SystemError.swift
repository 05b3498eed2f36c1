#if os(Linux)
import Glibc

/// An error number of the system, used as the underlying error of a failed connection attempt.
public struct SystemError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The value of `errno`.
    public let number: Int32

    /// The message of the system.
    public var description: String { String(cString: strerror(number)) }

    /// The message in lower case, for the middle of a sentence.
    var words: String { description.lowercased() }
}
#endif

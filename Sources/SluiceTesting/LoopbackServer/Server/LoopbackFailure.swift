#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// An error that prevents a ``LoopbackServer`` from starting.
public struct LoopbackFailure: Error, Sendable, CustomStringConvertible {
    /// The failed system call and the error message of the system.
    public let description: String

    /// Creates a failure, by default with the current `errno`.
    init(_ call: String, errno code: Int32 = errno) {
        description = "The loopback server cannot start: \(call) failed with \(String(cString: strerror(code)))."
    }
}

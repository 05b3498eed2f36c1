#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// Why a ``LoopbackServer`` cannot start.
public struct LoopbackFailure: Error, Sendable, CustomStringConvertible {
    /// What failed and what the system said to it.
    public let description: String

    /// Takes the reason from `errno`.
    init(_ call: String, errno code: Int32 = errno) {
        description = "The loopback server cannot start: \(call) failed with \(String(cString: strerror(code)))."
    }
}

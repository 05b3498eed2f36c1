#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

extension RequestLog {
    /// Writes to standard error, each entry in one piece, so that entries of several clients and processes do not mix.
    public static let standardError: Destination = { text in
        var line = text + "\n"
        line.withUTF8 { bytes in
            var rest = UnsafeRawBufferPointer(bytes)
            while !rest.isEmpty {
                let count = write(STDERR_FILENO, rest.baseAddress, rest.count)
                // A failure to write the log must not affect the request.
                if count < 0, errno != EINTR { return }
                rest = UnsafeRawBufferPointer(rebasing: rest.dropFirst(max(0, count)))
            }
        }
    }
}

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// A lock on a file, held until it is released. The system releases it when the process ends.
final class CacheLock: Sendable {
    private let descriptor: Int32

    private init(descriptor: Int32) {
        self.descriptor = descriptor
    }

    /// Waits for the lock.
    ///
    /// - Parameters:
    ///   - path: The lock file. It is created if necessary and never removed.
    ///   - patience: The maximum time to wait, in milliseconds.
    /// - Returns: The lock.
    /// - Throws: An error if the lock cannot be taken in time.
    static func take(_ path: String, patience: Int) throws(SystemFailure) -> CacheLock {
        let descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, S_IRUSR | S_IWUSR)
        guard descriptor >= 0 else { throw SystemFailure(number: errno) }
        for waited in 0... {
            if flock(descriptor, LOCK_EX | LOCK_NB) == 0 { break }
            guard errno == EWOULDBLOCK || errno == EINTR, waited < patience else {
                let error = errno
                close(descriptor)
                throw SystemFailure(number: error)
            }
            usleep(1000)
        }
        return CacheLock(descriptor: descriptor)
    }

    deinit {
        flock(descriptor, LOCK_UN)
        close(descriptor)
    }
}

import SluiceFoundation

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// A lock on a file that excludes other processes, and other locks of this one. It is held until it is deallocated. The
/// system releases it when the process ends.
package final class FileLock: Sendable {
    /// The result of an attempt to take a lock.
    package enum Attempt: Sendable {
        case taken(FileLock)
        /// Another lock on the file is held.
        case busy
        /// The file cannot be opened or locked. The number is an `errno` value.
        case failed(Int32)
    }

    private let descriptor: Int32

    private init(descriptor: Int32) {
        self.descriptor = descriptor
    }

    /// Takes the lock if it is free. Does not wait.
    ///
    /// - Parameter path: The lock file. It is created if necessary, for its owner only, and never removed: a process
    ///   that waits for the old file and one that has created a new file would both hold a lock.
    /// - Returns: The lock, or the reason for not taking it.
    package static func attempt(_ path: String) -> Attempt {
        let descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, S_IRUSR | S_IWUSR)
        guard descriptor >= 0 else { return .failed(errno) }
        if SystemFile.uninterrupted({ Int(flock(descriptor, LOCK_EX | LOCK_NB)) }) == 0 {
            return .taken(FileLock(descriptor: descriptor))
        }
        let error = errno
        close(descriptor)
        return error == EWOULDBLOCK ? .busy : .failed(error)
    }

    deinit {
        // Also for copies of the descriptor in child processes.
        flock(descriptor, LOCK_UN)
        close(descriptor)
    }
}

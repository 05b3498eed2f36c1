import SluiceHTTP

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// Lets a process that exits wait until its stores have written what they have.
///
/// Handlers of `exit` run while other threads go on, so the stores' tasks end by themselves; the exiting thread only waits, and not for
/// long: a disk may not answer.
enum WriteBehindExit {
    private static let limitMilliseconds = 2000
    private static let writing = Locked(0)

    private static let registration: Void = {
        atexit { WriteBehindExit.wait() }
    }()

    /// Makes sure that the process waits at its end.
    static func register() {
        registration
    }

    /// Notes that a store begins to write.
    static func enter() {
        writing.withLock { $0 += 1 }
    }

    /// Notes that a store has written all it had.
    static func leave() {
        writing.withLock { $0 -= 1 }
    }

    private static func wait() {
        for _ in 0..<limitMilliseconds where writing.withLock({ $0 > 0 }) { usleep(1000) }
    }
}

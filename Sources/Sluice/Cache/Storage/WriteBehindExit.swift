import SluiceHTTP

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// Delays the exit of the process until the stores have written their changes.
///
/// `atexit` handlers run while other threads continue, so that the tasks of the stores can finish. The exiting thread
/// only waits, for a limited time, because the disk may not respond.
enum WriteBehindExit {
    private static let limitMilliseconds = 2000
    private static let writing = Locked(0)

    private static let registration: Void = {
        atexit { WriteBehindExit.wait() }
    }()

    /// Registers the exit handler.
    static func register() {
        registration
    }

    /// Records that a store begins to write.
    static func enter() {
        writing.withLock { $0 += 1 }
    }

    /// Records that a store has written all changes.
    static func leave() {
        writing.withLock { $0 -= 1 }
    }

    private static func wait() {
        for _ in 0..<limitMilliseconds where writing.withLock({ $0 > 0 }) { usleep(1000) }
    }
}

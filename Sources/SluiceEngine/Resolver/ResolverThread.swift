#if os(Linux)
import Glibc

/// A detached thread for look-ups. The process does not wait for it to end.
enum ResolverThread {
    /// The stack size, which must suffice for the name service modules of the C library. Only the pages in use consume memory.
    private static var stackSize: Int { 512 << 10 }

    private final class Body: Sendable {
        let run: @Sendable () -> Void

        init(_ run: @escaping @Sendable () -> Void) {
            self.run = run
        }
    }

    /// Starts a thread named `sluice-dns` that runs a closure.
    ///
    /// - Returns: False if the system cannot start a thread. The closure is not called then.
    static func start(_ run: @escaping @Sendable () -> Void) -> Bool {
        var attributes = pthread_attr_t()
        guard pthread_attr_init(&attributes) == 0 else { return false }
        defer { pthread_attr_destroy(&attributes) }
        pthread_attr_setdetachstate(&attributes, Int32(PTHREAD_CREATE_DETACHED))
        pthread_attr_setstacksize(&attributes, stackSize)
        // The new thread inherits the signal mask, so the program's signal handlers never run on it.
        var blocked = sigset_t()
        var previous = sigset_t()
        sigfillset(&blocked)
        for fault in [SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT] { sigdelset(&blocked, fault) }
        pthread_sigmask(SIG_SETMASK, &blocked, &previous)
        defer { pthread_sigmask(SIG_SETMASK, &previous, nil) }
        var thread = pthread_t()
        let body = Unmanaged.passRetained(Body(run))
        let result = pthread_create(
            &thread,
            &attributes,
            { body in
                ResolverThread.setName("sluice-dns")
                if let body { Unmanaged<Body>.fromOpaque(body).takeRetainedValue().run() }
                return nil
            },
            body.toOpaque()
        )
        if result != 0 { body.release() }
        return result == 0
    }

    /// Names the calling thread for ps(1) and debuggers. The C library declares pthread_setname_np only with `_GNU_SOURCE`.
    private static func setName(_ name: StaticString) {
        let file = open("/proc/thread-self/comm", O_WRONLY | O_CLOEXEC)
        guard file >= 0 else { return }
        _ = write(file, name.utf8Start, name.utf8CodeUnitCount)
        close(file)
    }
}
#endif

#if os(Linux)
import CLinux
import Glibc

/// A detached thread of the engine. The process does not wait for it to end.
///
/// The thread blocks all signals except those that a fault raises, so the program's signal handlers never run on it.
enum DetachedThread {
    private final class Body: Sendable {
        let name: String
        let run: @Sendable () -> Void

        init(_ name: String, _ run: @escaping @Sendable () -> Void) {
            self.name = name
            self.run = run
        }
    }

    /// Starts a thread that runs a closure.
    ///
    /// - Parameters:
    ///   - name: The name of the thread for ps(1) and debuggers, of at most 15 bytes.
    ///   - stackSize: The size of the stack in bytes, or nil for the system's default.
    ///   - run: The closure.
    /// - Returns: False if the system cannot start a thread. The closure is not called then.
    static func start(_ name: String, stackSize: Int? = nil, _ run: @escaping @Sendable () -> Void) -> Bool {
        var attributes = pthread_attr_t()
        guard pthread_attr_init(&attributes) == 0 else { return false }
        defer { pthread_attr_destroy(&attributes) }
        pthread_attr_setdetachstate(&attributes, Int32(PTHREAD_CREATE_DETACHED))
        if let stackSize { pthread_attr_setstacksize(&attributes, stackSize) }
        // The new thread inherits the signal mask of this one.
        var blocked = sigset_t()
        var previous = sigset_t()
        sigfillset(&blocked)
        for fault in [SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT] { sigdelset(&blocked, fault) }
        pthread_sigmask(SIG_SETMASK, &blocked, &previous)
        defer { pthread_sigmask(SIG_SETMASK, &previous, nil) }
        var thread = pthread_t()
        let body = Unmanaged.passRetained(Body(name, run))
        let result = pthread_create(
            &thread,
            &attributes,
            { body in
                guard let body else { return nil }
                let thread = Unmanaged<Body>.fromOpaque(body).takeRetainedValue()
                sluice_set_thread_name(thread.name)
                thread.run()
                return nil
            },
            body.toOpaque()
        )
        if result != 0 { body.release() }
        return result == 0
    }
}
#endif

#if os(Linux)
import CCurl
import Glibc
import SluiceHTTP

/// The process's one engine: a thread that belongs to the process and ends with it.
enum Engine {
    /// Where commands go; nil where the system would give no thread or descriptor.
    static let mailbox: EngineMailbox? = start()

    static let unavailable = SluiceError(
        .internalFailure,
        "The network engine could not start: the system gave no thread, descriptor or memory."
    )

    private static func start() -> EngineMailbox? {
        guard curl_global_init(Int(CURL_GLOBAL_DEFAULT)) == CURLE_OK, let mailbox = EngineMailbox() else { return nil }
        var thread = pthread_t()
        let context = Unmanaged.passRetained(mailbox)
        let status = pthread_create(
            &thread,
            nil,
            { context in
                guard let context else { return nil }
                let mailbox = Unmanaged<EngineMailbox>.fromOpaque(context).takeRetainedValue()
                sluice_name_thread("sluice")
                // Signals are for the program's own threads; a broken pipe must not kill it from here.
                var signals = sigset_t()
                sigfillset(&signals)
                pthread_sigmask(SIG_SETMASK, &signals, nil)
                EngineLoop(mailbox: mailbox)?.run()
                return nil
            },
            context.toOpaque()
        )
        guard status == 0 else {
            context.release()
            return nil
        }
        pthread_detach(thread)
        // OpenSSL tears itself down in an exit handler it registered above; a transfer that still ran would crash
        // there. Handlers run last in, first out, so this one halts the engine before.
        atexit { Engine.halt() }
        return mailbox
    }

    private static func halt() {
        guard let mailbox else { return }
        let halted = ExitLatch()
        mailbox.post(.halt(halted))
        halted.wait(seconds: 1)
    }
}

/// A flag that one thread waits for, with a limit, while the process exits and nothing may suspend.
final class ExitLatch: Sendable {
    private let descriptor = eventfd(0, Int32(EFD_CLOEXEC))

    deinit {
        close(descriptor)
    }

    func signal() {
        eventfd_write(descriptor, 1)
    }

    func wait(seconds: Int32) {
        var poll = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        _ = Glibc.poll(&poll, 1, seconds * 1000)
    }
}
#endif

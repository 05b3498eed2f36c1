import Dispatch
import Synchronization

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// Stops the downloads on the first SIGINT or SIGTERM. The second signal ends the process.
final class Interruption {
    private final class Flag: Sendable {
        let isSet = Atomic(false)
    }

    private let flag = Flag()
    private let sources: [any DispatchSourceSignal]

    /// Starts listening for the signals.
    ///
    /// - Parameter stop: Called once, on the first signal.
    init(_ stop: @escaping @Sendable () -> Void) {
        sources = [SIGINT, SIGTERM].map { number in
            // A dispatch source also sees ignored signals. Ignoring them only disables their default action.
            signal(number, SIG_IGN)
            return DispatchSource.makeSignalSource(signal: number, queue: .global())
        }
        for source in sources {
            let number = Int32(source.handle)
            source.setEventHandler { [flag] in
                guard !flag.isSet.exchange(true, ordering: .relaxed) else { return Interruption.end(by: number) }
                for number in [SIGINT, SIGTERM] { signal(number, SIG_DFL) }
                stop()
            }
            source.activate()
        }
    }

    /// Ends the process by a signal.
    ///
    /// On Linux, Dispatch blocks a signal in each thread that receives it. Once all threads block the signal, its default
    /// action no longer happens, and only the dispatch source sees it.
    private static func end(by number: Int32) {
        var signals = sigset_t()
        sigemptyset(&signals)
        sigaddset(&signals, number)
        pthread_sigmask(SIG_UNBLOCK, &signals, nil)
        raise(number)
    }

    deinit {
        for source in sources { source.cancel() }
    }

    /// True if a signal has arrived.
    var hasHappened: Bool { flag.isSet.load(ordering: .relaxed) }
}

import Dispatch
import Synchronization

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// The first Ctrl-C, or SIGTERM, ends the work in good order; the second ends the process.
final class Interruption: Sendable {
    private let isInterrupted = Atomic(false)
    private let sources: [any DispatchSourceSignal]

    /// Begins to listen.
    ///
    /// - Parameter stop: Called once, on the first signal.
    init(_ stop: @escaping @Sendable () -> Void) {
        sources = [SIGINT, SIGTERM].map { number in
            // The source sees the signal whether or not it is ignored; only its default action must not come first.
            signal(number, SIG_IGN)
            return DispatchSource.makeSignalSource(signal: number, queue: .global())
        }
        for source in sources {
            source.setEventHandler { [self] in
                guard !isInterrupted.exchange(true, ordering: .relaxed) else { return }
                for number in [SIGINT, SIGTERM] { signal(number, SIG_DFL) }
                stop()
            }
            source.activate()
        }
    }

    /// Whether there has been a signal.
    var hasHappened: Bool { isInterrupted.load(ordering: .relaxed) }
}

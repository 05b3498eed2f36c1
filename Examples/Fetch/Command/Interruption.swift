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
final class Interruption {
    private final class Flag: Sendable {
        let isSet = Atomic(false)
    }

    private let flag = Flag()
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
            source.setEventHandler { [flag] in
                guard !flag.isSet.exchange(true, ordering: .relaxed) else { return }
                for number in [SIGINT, SIGTERM] { signal(number, SIG_DFL) }
                stop()
            }
            source.activate()
        }
    }

    deinit {
        for source in sources { source.cancel() }
    }

    /// Whether there has been a signal.
    var hasHappened: Bool { flag.isSet.load(ordering: .relaxed) }
}

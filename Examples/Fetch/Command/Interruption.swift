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
    private final class FirstSignal: Sendable {
        let number = Atomic<Int32>(0)
    }

    private let first = FirstSignal()
    private let sources: [any DispatchSourceSignal]

    /// Listens for the signals from now on. A signal before that ends the process.
    ///
    /// A signal that is ignored from the start, as the shell arranges for a command in the background of a script, stays ignored.
    ///
    /// - Parameters:
    ///   - stop: Called once, on the first signal.
    ///   - proceed: Called when the process continues after it was stopped by SIGTSTP or SIGSTOP.
    init(
        _ stop: @escaping @Sendable () -> Void,
        onContinue proceed: @escaping @Sendable () -> Void
    ) async {
        let stopping = [SIGINT, SIGTERM].filter { !Interruption.isIgnored($0) }
        sources = (stopping + [SIGCONT]).map { DispatchSource.makeSignalSource(signal: $0, queue: .global()) }
        for source in sources {
            let number = Int32(source.handle)
            source.setEventHandler { [first] in
                if number == SIGCONT { return proceed() }
                let (isFirst, _) = first.number.compareExchange(expected: 0, desired: number, ordering: .relaxed)
                guard isFirst else { return Interruption.end(by: number) }
                for number in stopping { signal(number, SIG_DFL) }
                stop()
            }
            await Interruption.activate(source)
        }
    }

    /// Activates a source, which another thread installs, and waits until it is.
    private static func activate(_ source: any DispatchSourceSignal) async {
        await withCheckedContinuation { continuation in
            source.setRegistrationHandler {
                #if canImport(Darwin)
                // A source also sees ignored signals. Ignoring them only disables their default action, as the source itself does on Linux.
                let number = Int32(source.handle)
                if number != SIGCONT { signal(number, SIG_IGN) }
                #endif
                continuation.resume()
            }
            source.activate()
        }
    }

    /// Ends the process by a signal, so that a shell sees it and stops a loop over commands too.
    ///
    /// On Linux, Dispatch blocks a signal in each thread that receives it. Once all threads block the signal, its default
    /// action no longer happens, and only the dispatch source sees it.
    static func end(by number: Int32) {
        signal(number, SIG_DFL)
        var signals = sigset_t()
        sigemptyset(&signals)
        sigaddset(&signals, number)
        pthread_sigmask(SIG_UNBLOCK, &signals, nil)
        raise(number)
    }

    private static func isIgnored(_ number: Int32) -> Bool {
        let previous = signal(number, SIG_IGN)
        if unsafeBitCast(previous, to: Int.self) == unsafeBitCast(SIG_IGN, to: Int.self) { return true }
        signal(number, previous)
        return false
    }

    deinit {
        for source in sources { source.cancel() }
    }

    /// The number of the first signal; nil if none has arrived.
    var signalNumber: Int32? {
        let number = first.number.load(ordering: .relaxed)
        return number == 0 ? nil : number
    }
}

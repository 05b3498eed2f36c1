#if os(Linux)
import CCurl
import Glibc
import SluiceHTTP

/// What other threads ask of the engine.
enum Command: Sendable {
    case start(Transfer)
    case cancel(Transfer)
    /// The reader of a response has taken enough for a paused transfer to go on.
    case resumeReceiving(Transfer)
    /// A request's body has more bytes for a transfer that ran out of them.
    case resumeSending(Transfer)
    case forget(lane: Int)
    /// Something brief that must be done on the engine's thread, between libcurl's callbacks.
    case perform(@Sendable () -> Void)
    case report(UnsafeContinuation<CurlStatistics, Never>)
    /// The process is ending: stop where it is safe, and say so.
    case halt(ExitLatch)
}

/// The queue of commands; a burst of them wakes the engine once.
final class EngineMailbox: Sendable {
    private struct State {
        var commands: [Command] = []
        var isEngineAsleep = false
    }

    /// An eventfd, edge-triggered in the engine's epoll, so that it never has to be read.
    let wakeUp: Int32
    private let state = Locked(State())

    init?() {
        wakeUp = eventfd(0, Int32(EFD_NONBLOCK) | Int32(EFD_CLOEXEC))
        if wakeUp < 0 { return nil }
    }

    deinit {
        close(wakeUp)
    }

    func post(_ command: Command) {
        let isAsleep = state.withLock { state in
            state.commands.append(command)
            defer { state.isEngineAsleep = false }
            return state.isEngineAsleep
        }
        if isAsleep { eventfd_write(wakeUp, 1) }
    }

    /// Gives the waiting commands in exchange for an empty array; where there are none, whoever posts next wakes the
    /// engine.
    func take(inExchangeFor empty: consuming [Command]) -> [Command] {
        state.withLock { [empty] state in
            guard !state.commands.isEmpty else {
                state.isEngineAsleep = true
                return empty
            }
            let waiting = state.commands
            state.commands = empty
            return waiting
        }
    }
}
#endif

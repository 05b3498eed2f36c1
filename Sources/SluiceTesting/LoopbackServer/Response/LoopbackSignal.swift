import SluiceHTTP

/// Delays responses until a test fires the signal.
///
/// ```swift
/// let signal = LoopbackSignal()
/// server.on("/slow", .after(signal, .text("done")))
/// async let answer = sender.value
/// await server.waitForRequests(1)        // the server has received the request
/// signal.fire()
/// ```
public final class LoopbackSignal: Sendable {
    private struct State {
        var isFired = false
        var waiting: [Int32: StreamSocket] = [:]
    }

    private let state = Locked(State())

    /// Creates a signal that has not fired.
    public init() {}

    /// True if the signal has fired.
    private var isFired: Bool { state.withLock { $0.isFired } }

    /// Fires the signal, which resumes all current and future waits. Firing again has no effect.
    public func fire() {
        state.withLock { state in
            state.isFired = true
            // Under the lock, so that no socket is closed meanwhile and its descriptor reused.
            for socket in state.waiting.values { socket.finishSending() }
            state.waiting = [:]
        }
    }

    /// Blocks the thread of the connection. Returns true once the signal has fired, and false if the client disconnects.
    func block(_ connection: StreamSocket) -> Bool {
        guard !isFired else { return true }
        // With a socket pair, one poll waits for both the client and the signal.
        guard let (sender, receiver) = try? StreamSocket.pair() else { return false }
        let isFired = state.withLock { state in
            if !state.isFired { state.waiting[sender.descriptor] = sender }
            return state.isFired
        }
        let wake = isFired ? .signal : connection.wait(until: nil, orByteOn: receiver.descriptor)
        state.withLock { state in
            state.waiting[sender.descriptor] = nil
            sender.close()
        }
        receiver.close()
        return wake == .signal
    }
}

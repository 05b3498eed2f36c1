import SluiceHTTP

/// Holds responses back until a test lets them go.
///
/// ```swift
/// let signal = LoopbackSignal()
/// server.on("/slow", .after(signal, .text("done")))
/// async let answer = sender.value
/// await server.waitForRequests(1)        // the request is in flight now, for certain
/// signal.fire()
/// ```
public final class LoopbackSignal: Sendable {
    private struct State {
        var isFired = false
        var waiting: [Int32: StreamSocket] = [:]
    }

    private let state = Locked(State())

    /// Makes a signal that has not fired.
    public init() {}

    /// Whether it has fired.
    public var isFired: Bool { state.withLock { $0.isFired } }

    /// Lets go all that waits for it, now and later; firing again changes nothing.
    public func fire() {
        state.withLock { state in
            state.isFired = true
            // Under the lock, so that no descriptor is closed by its owner and given to another in between.
            for socket in state.waiting.values { socket.finishSending() }
            state.waiting = [:]
        }
    }

    /// Blocks the connection's thread; true once the signal has fired, false when the client has left.
    func block(_ connection: StreamSocket) -> Bool {
        // A descriptor, because the thread has to wait for the client and for the signal in one poll.
        guard !isFired else { return true }
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

import SluiceHTTP

/// What stops work whose next part has not begun yet: what stops that is told when it has.
final class DeferredStop: Sendable {
    private enum State {
        case open
        case decided(Flight<Landing>.Stop)
        case stopped
    }

    private let state = Locked(State.open)

    /// Whether it was stopped before anybody said how.
    var isStopped: Bool {
        state.withLock { state in
            if case .stopped = state { true } else { false }
        }
    }

    /// Says how; at once, if it is to be stopped.
    func decide(_ stop: @escaping Flight<Landing>.Stop) {
        let isLate = state.withLock { state in
            if case .stopped = state { return true }
            state = .decided(stop)
            return false
        }
        if isLate { stop() }
    }

    func stop() {
        let stop: Flight<Landing>.Stop? = state.withLock { state in
            defer { state = .stopped }
            if case .decided(let stop) = state { return stop }
            return nil
        }
        stop?()
    }
}

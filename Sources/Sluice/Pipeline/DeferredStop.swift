import SluiceHTTP

/// A stop action that can be called before the work it stops has started.
///
/// A call to `stop()` that comes early takes effect as soon as the action is set.
final class DeferredStop: Sendable {
    private enum State {
        case open
        case decided(Flight<Landing>.Stop)
        case stopped
    }

    private let state = Locked(State.open)

    /// True if `stop()` was called before an action was set.
    var isStopped: Bool {
        state.withLock { state in
            if case .stopped = state { true } else { false }
        }
    }

    /// Sets the stop action, and runs it at once if `stop()` was called before.
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

import SluiceHTTP

/// Counts the calls of a pipe's callback, on any thread.
final class CallCount: Sendable {
    private let count = Locked(0)

    var value: Int { count.withLock { $0 } }

    func add() {
        count.withLock { $0 += 1 }
    }
}

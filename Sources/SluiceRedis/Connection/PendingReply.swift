#if os(Linux)
import SluiceHTTP

/// A caller that waits for a reply. It is resumed once: by the reply, an error, or its cancellation.
final class PendingReply: Sendable {
    typealias Outcome = Result<RedisValue, RedisError>

    private struct State {
        var caller: UnsafeContinuation<Outcome, Never>?
        var isOver = false
    }

    private let state = Locked(State())

    /// False once the caller has its outcome.
    var isWanted: Bool { state.withLock { !$0.isOver } }

    /// Waits for the outcome.
    ///
    /// - Parameter start: Called once, unless the caller was cancelled before.
    /// - Returns: The outcome.
    func outcome(_ start: () -> Void) async -> Outcome {
        defer { state.synchronize() }
        return await withTaskCancellationHandler {
            await withUnsafeContinuation { caller in
                let isOver = state.withLock { state in
                    if !state.isOver { state.caller = caller }
                    return state.isOver
                }
                if isOver { caller.resume(returning: .failure(.cancelled)) } else { start() }
            }
        } onCancel: {
            finish(.failure(.cancelled))
        }
    }

    /// Resumes the caller with the first outcome. Later ones are ignored.
    func finish(_ outcome: Outcome) {
        let caller = state.withLock { state in
            state.isOver = true
            return state.caller.take()
        }
        caller?.resume(returning: outcome)
    }
}
#endif

#if os(Linux)
import SluiceHTTP

/// A caller that waits for a reply. It is resumed once: by the reply, an error, or the cancellation of its task.
final class PendingReply: Sendable {
    typealias Outcome = Result<RedisValue, RedisError>

    private enum Caller {
        case task(UnsafeContinuation<Outcome, Never>)
        case callback(@Sendable (Outcome) -> Void)

        func resume(returning outcome: Outcome) {
            switch self {
            case .task(let continuation): continuation.resume(returning: outcome)
            case .callback(let completion): completion(outcome)
            }
        }
    }

    private struct State {
        var caller: Caller?
        var isOver = false
    }

    private let state: Locked<State>

    /// Creates a reply for a task, which calls ``outcome(_:)``.
    init() {
        state = Locked(State())
    }

    /// Creates a reply for a caller without a task.
    ///
    /// - Parameter completion: Called once with the outcome, on the thread of the connection, which it must not block.
    init(_ completion: @escaping @Sendable (Outcome) -> Void) {
        state = Locked(State(caller: .callback(completion)))
    }

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
                    if !state.isOver { state.caller = .task(caller) }
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

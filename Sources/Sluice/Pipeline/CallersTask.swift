import SluiceHTTP

/// Calls an observer with the task-local values of the task that started a request.
///
/// Swift copies task-local values only into a new task. So the start of the request creates one, which waits for messages. Its executor runs it on the thread that
/// has a message for it, and it waits again before that call returns.
final class CallersTask: Sendable {
    /// An executor that runs a job where the job becomes ready.
    private final class InlineExecutor: TaskExecutor {
        static let shared = InlineExecutor()

        func enqueue(_ job: consuming ExecutorJob) {
            UnownedJob(job).runSynchronously(on: asUnownedTaskExecutor())
        }
    }

    private typealias Continuation = UnsafeContinuation<ObserverMailbox.Message?, Never>

    private struct State {
        var waiting: Continuation?
        var hasEnded = false
    }

    /// The state that the task shares with its owner. The task must not keep the owner, whose end ends it.
    private final class Slot: Sendable {
        let state = Locked(State())

        /// Waits for the next message; nil at the end.
        func next() async -> ObserverMailbox.Message? {
            await withUnsafeContinuation { continuation in
                let hasEnded = state.withLock { state in
                    if !state.hasEnded { state.waiting = continuation }
                    return state.hasEnded
                }
                if hasEnded { continuation.resume(returning: nil) }
            }
        }
    }

    private let slot = Slot()

    /// Creates a task with the task-local values of the current one.
    init(_ observer: any RequestObserver) {
        Task(executorPreference: InlineExecutor.shared) { [slot] in
            // Requests that the observer sends are its own: the caller's deadline does not apply, and they bypass no gate.
            await Deadline.$current.withValue(nil) {
                await GateBypass.$current.withValue([]) {
                    while let message = await slot.next() { observer.observe(message.event, of: message.request) }
                }
            }
        }
    }

    deinit {
        let waiting = slot.state.withLock { state in
            state.hasEnded = true
            return state.waiting.take()
        }
        waiting?.resume(returning: nil)
    }

    /// Calls the observer. Calls must not overlap.
    ///
    /// - Parameter message: The event and its request.
    func deliver(_ message: ObserverMailbox.Message) {
        slot.state.withLock { $0.waiting.take() }?.resume(returning: message)
    }
}

import Synchronization

/// A task that is suspended until another thread resumes it with an outcome, or until it is cancelled.
///
/// A waiter is stored in a state under a lock: see ``Locked/wait(cancelled:join:leave:)``. Whoever removes it from the
/// state resumes it, so that it is resumed exactly once.
package struct Waiter<Outcome: Sendable>: Sendable {
    /// A number that no other waiter of the process has. Waiters that begin later have higher numbers.
    package let id: Int
    @usableFromInline let continuation: UnsafeContinuation<Outcome, Never>

    @inlinable
    init(id: Int, _ continuation: UnsafeContinuation<Outcome, Never>) {
        self.id = id
        self.continuation = continuation
    }

    /// Resumes the task. Must be called once.
    @inlinable
    package func resume(returning outcome: Outcome) {
        continuation.resume(returning: outcome)
    }
}

extension Waiter<Void> {
    /// Resumes the task. Must be called once.
    package func resume() {
        resume(returning: ())
    }
}

/// The number of waiters that the process has had.
private let lastWaiter = Atomic(0)

extension Locked {
    /// Suspends the task until its waiter is resumed.
    ///
    /// The cancellation of the task can come before `join`, at the same time, or later. `join` therefore checks
    /// `Task.isCancelled` under the lock and resumes a cancelled waiter itself. A later cancellation finds the waiter in
    /// the state.
    ///
    /// - Parameters:
    ///   - outcome: The outcome for a waiter that `leave` returns.
    ///   - join: Called once with the waiter. Stores it in the state under the lock, or resumes it.
    ///   - leave: Called if the task is cancelled, on any thread, with the number of the waiter. Removes the waiter from
    ///     the state under the lock and returns it; nil if it is not there.
    /// - Returns: The outcome that the waiter is resumed with.
    package func wait<Outcome>(
        cancelled outcome: Outcome,
        join: (Waiter<Outcome>) -> Void,
        leave: @Sendable (Int) -> Waiter<Outcome>?
    ) async -> Outcome {
        await withWaiterID { id in
            await withUnsafeContinuation { join(Waiter(id: id, $0)) }
        } onCancel: { id in
            leave(id)?.resume(returning: outcome)
        }
    }

    /// Runs an operation that suspends the task several times under the same number of a waiter.
    ///
    /// - Parameters:
    ///   - operation: The operation.
    ///   - leave: Called if the task is cancelled, on any thread. Removes the waiter from the state and resumes it.
    /// - Returns: The result of the operation.
    package func withWaiterID<Result: Sendable>(
        _ operation: (Int) async -> Result,
        onCancel leave: @Sendable (Int) -> Void
    ) async -> Result {
        let id = lastWaiter.wrappingAdd(1, ordering: .relaxed).newValue
        defer { synchronize() }
        return await withTaskCancellationHandler {
            await operation(id)
        } onCancel: {
            leave(id)
        }
    }
}

extension Result {
    /// Returns the result of asynchronous work, without leaving the actor of the caller. The standard library has no such function.
    package nonisolated(nonsending) static func of(
        _ work: () async throws(Failure) -> Success
    ) async -> Result {
        do throws(Failure) { return .success(try await work()) } catch { return .failure(error) }
    }
}

/// Work that its caller waits for until the time is up or the caller's task is cancelled, and no longer.
///
/// The work is then cancelled, and ends when it likes: it may wait for a disk that does not answer.
package final class TimedWork<Value: Sendable>: Sendable {
    package typealias Work = @Sendable () async throws(SluiceError) -> Value
    private typealias Outcome = Result<Value, SluiceError>

    private struct State {
        var caller: UnsafeContinuation<Outcome, Never>?
        var tasks: [Task<Void, Never>] = []
        var isOver = false
    }

    private let state = Locked(State())

    private init() {}

    /// Does the work in a task of its own.
    package static func outcome(
        within limit: Duration?,
        on time: any TimeSource = SystemTime(),
        else failure: @escaping @Sendable @autoclosure () -> SluiceError? = nil,
        of work: @escaping Work
    ) async throws(SluiceError) -> Value {
        let timed = TimedWork()
        defer { timed.state.synchronize() }
        return try await withTaskCancellationHandler {
            await withUnsafeContinuation { timed.begin(for: $0, within: limit, on: time, else: failure, work) }
        } onCancel: {
            timed.finish(.failure(.cancelled))
        }.get()
    }

    private func begin(
        for caller: UnsafeContinuation<Outcome, Never>,
        within limit: Duration?,
        on time: any TimeSource,
        else failure: @escaping @Sendable () -> SluiceError?,
        _ work: @escaping Work
    ) {
        let isCancelled = state.withLock { state in
            if !state.isOver { state.caller = caller }
            return state.isOver
        }
        if isCancelled { return caller.resume(returning: .failure(.cancelled)) }
        var tasks = [
            Task { [self] in
                do throws(SluiceError) { finish(.success(try await work())) } catch { finish(.failure(error)) }
            }
        ]
        if let limit {
            tasks.append(
                Task { [self] in
                    do { try await time.sleep(for: limit) } catch { return }
                    finish(.failure(failure() ?? .tookTooLong(limit)))
                }
            )
        }
        let isOver = state.withLock { [tasks] state in
            if !state.isOver { state.tasks = tasks }
            return state.isOver
        }
        if isOver { for task in tasks { task.cancel() } }
    }

    /// Answers the caller with what comes first; the rest is dropped.
    private func finish(_ outcome: Outcome) {
        let (caller, tasks) = state.withLock { state in
            defer {
                state.isOver = true
                state.tasks = []
            }
            return (state.caller.take(), state.tasks)
        }
        for task in tasks { task.cancel() }
        caller?.resume(returning: outcome)
    }
}

extension SluiceError {
    fileprivate static func tookTooLong(_ total: Duration) -> SluiceError {
        SluiceError(.timedOut, "The request took longer than the \(total) allowed in all; its body was not ready.")
    }
}

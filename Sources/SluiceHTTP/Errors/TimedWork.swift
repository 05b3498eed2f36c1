/// Work whose caller stops waiting when a time limit passes or its task is cancelled.
///
/// The work is then cancelled but not waited for: it may be blocked by a disk that does not respond.
package final class TimedWork<Value: Sendable>: Sendable {
    package typealias Work = @Sendable () async throws(SluiceError) -> Value
    private typealias Outcome = Result<Value, SluiceError>

    /// The caller is no ``Waiter``, because a cancellation that comes first must also prevent the work.
    private struct State {
        var caller: UnsafeContinuation<Outcome, Never>?
        var tasks: [Task<Void, Never>] = []
        var isOver = false
    }

    private let state = Locked(State())

    private init() {}

    /// Runs the work in a new task.
    package static func outcome(
        within limit: Duration?,
        on clock: any SluiceClock = SystemClock(),
        else failure: @escaping @Sendable @autoclosure () -> SluiceError? = nil,
        of work: @escaping Work
    ) async throws(SluiceError) -> Value {
        let timed = TimedWork()
        defer { timed.state.synchronize() }
        return try await withTaskCancellationHandler {
            await withUnsafeContinuation { timed.begin(for: $0, within: limit, on: clock, else: failure, work) }
        } onCancel: {
            timed.finish(.failure(.cancelled))
        }.get()
    }

    private func begin(
        for caller: UnsafeContinuation<Outcome, Never>,
        within limit: Duration?,
        on clock: any SluiceClock,
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
                finish(await .of(work))
            }
        ]
        if let limit {
            tasks.append(
                Task { [self] in
                    do { try await clock.sleep(for: limit) } catch { return }
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

    /// Resumes the caller with the first outcome. Later outcomes are ignored.
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
        SluiceError(
            .timedOut,
            "The request exceeded the total time-out of \(total.textRoundedUp) before its body was ready."
        )
    }
}

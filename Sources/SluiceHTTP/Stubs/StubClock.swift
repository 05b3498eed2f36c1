/// A clock for the delays of a stub. It throws time-out errors as a transfer would.
struct StubClock: Sendable {
    let time: any TimeSource
    private let idle: Duration?
    private let total: Duration?
    private let end: ContinuousClock.Instant?

    init(_ time: any TimeSource, _ timeouts: Timeouts) {
        self.time = time
        idle = timeouts.idle
        total = timeouts.total
        end = timeouts.total.map { time.now + $0 }
    }

    /// The rest of the total time.
    var left: Duration? { end.map { max(.zero, time.now.duration(to: $0)) } }

    /// Waits without network activity.
    func wait(_ duration: Duration) async throws(SluiceError) {
        if Task.isCancelled { throw .cancelled }
        guard duration > .zero else { return }
        var duration = duration
        var failure: SluiceError?
        if let idle, idle < duration {
            duration = idle
            failure = SluiceError(.idleTimedOut, "The stub sent nothing for longer than the \(idle) allowed.")
        }
        if let left, let total, left < duration {
            duration = left
            failure = SluiceError(.timedOut, "The stub takes longer than the \(total) allowed in all.")
        }
        do { try await time.sleep(for: duration) } catch { throw .cancelled }
        if let failure { throw failure }
    }

    /// Waits for the request's body, which counts as time without network activity.
    ///
    /// - Parameter work: The work to wait for. After a time-out, or if the caller is cancelled, it is cancelled and its
    ///   result is ignored.
    /// - Returns: The result of the work.
    /// - Throws: The work's error, or a time-out.
    func timed<Value: Sendable>(_ work: @escaping TimedWork<Value>.Work) async throws(SluiceError) -> Value {
        var limit = idle
        var failure = idle.map {
            SluiceError(.idleTimedOut, "The request's body gave nothing for longer than the \($0) allowed.")
        }
        if let left, let total, limit.map({ left < $0 }) ?? true {
            limit = left
            failure = SluiceError(
                .timedOut,
                "The request took longer than the \(total) allowed in all; its body gave no more."
            )
        }
        let timeout = failure
        return try await TimedWork.outcome(within: limit, on: time, else: timeout, of: work)
    }
}

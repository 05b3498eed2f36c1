/// Lets time pass for a stub, and ends it where a transfer would have timed out.
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

    /// What is left of the total time.
    var left: Duration? { end.map { max(.zero, time.now.duration(to: $0)) } }

    /// Waits, during which nothing is sent or received.
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

    /// Waits for what the request itself has to give, during which nothing is sent or received either.
    ///
    /// - Parameter work: What is waited for; it is cancelled where a time-out comes first, or the caller is cancelled, and then left to itself.
    /// - Returns: What came of it.
    /// - Throws: What it throws, or the time-out.
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

/// Lets time pass for a stub, and ends it where a transfer would have timed out.
struct StubClock: Sendable {
    private let time: any TimeSource
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
}

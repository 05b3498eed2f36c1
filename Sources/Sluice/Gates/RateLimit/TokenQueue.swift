import SluiceHTTP

/// The requests that wait for tokens, and one task that sleeps until the next token is available. No task runs while
/// no request waits.
final class TokenQueue: Sendable {
    private struct Timer {
        let due: ContinuousClock.Instant
        let id: Int
        let task: Task<Void, Never>
    }

    private struct State {
        var buckets: TokenBuckets<Waiter<SluiceError?>>
        var timer: Timer?
        var lastTimer = 0
    }

    private let gate: String
    private let state: Locked<State>

    init(_ gate: String, _ rate: TokenBucket.Rate, maximumWaiting: Int, maximumWait: Duration?) {
        self.gate = gate
        let buckets = TokenBuckets<Waiter<SluiceError?>>(
            rate: rate,
            maximumWaiting: maximumWaiting,
            maximumWait: maximumWait
        )
        state = Locked(State(buckets: buckets))
    }

    var waiting: Int { state.withLock { $0.buckets.waiting } }

    /// Takes a token if one is available and no request waits for the key.
    func take(_ key: String, now: ContinuousClock.Instant) -> Bool {
        state.withLock { $0.buckets.take(key, now: now) }
    }

    /// Takes a token. Waits if none is available.
    func wait(_ key: String, deadline: ContinuousClock.Instant?, _ clock: any SluiceClock) async throws(SluiceError) {
        let refusal = await state.wait(cancelled: .cancelled) { waiter in
            join(waiter, key, deadline, clock)
        } leave: { id in
            change(clock) { state, _ in state.buckets.leave(id: id, key) }
        }
        if let refusal { throw refusal }
    }

    func putBack(_ key: String, taken: ContinuousClock.Instant, _ clock: any SluiceClock) {
        for waiter in change(clock, { $0.buckets.putBack(key, taken: taken, now: $1) }) {
            waiter.resume(returning: nil)
        }
    }

    /// Hands out no tokens of a key for a time.
    func pause(_ key: String, for pause: Duration, _ clock: any SluiceClock) {
        let refused = change(clock) { state, now in state.buckets.pause(key, until: now + pause, now: now) }
        for (waiter, reason) in refused {
            if case .refused(let error) = result(of: reason) { waiter.resume(returning: error) }
        }
    }

    private func join(
        _ waiter: Waiter<SluiceError?>,
        _ key: String,
        _ deadline: ContinuousClock.Instant?,
        _ clock: any SluiceClock
    ) {
        let result: QueueResult = change(clock) { state, now in
            if Task.isCancelled { return .refused(.cancelled) }
            return self.result(of: state.buckets.arrive(waiter, id: waiter.id, key, deadline: deadline, now: now))
        }
        result.resume(waiter)
    }

    private func result(of arrival: TokenBuckets<Waiter<SluiceError?>>.Arrival) -> QueueResult {
        switch arrival {
        case .admitted: .admitted
        case .waiting: .waiting
        case .full(let waiting): .refused(.queueFull(at: gate, waiting: waiting))
        case .tooLong(let wait): .refused(.rateLimited(by: gate, wait, "which is longer than its maximumWait"))
        case .tooLate(let wait): .refused(.rateLimited(by: gate, wait, "beyond the deadline of the request"))
        }
    }

    private func fire(_ id: Int, _ clock: any SluiceClock) {
        let admitted = change(clock) { state, now in
            if state.timer?.id == id { state.timer = nil }
            return state.buckets.release(now: now)
        }
        for waiter in admitted { waiter.resume(returning: nil) }
    }

    /// Changes the state, and updates the timer.
    private func change<Result: Sendable>(
        _ clock: any SluiceClock,
        _ body: (inout State, ContinuousClock.Instant) -> Result
    ) -> Result {
        let now = clock.now
        let (result, stale) = state.withLock { state in
            let result = body(&state, now)
            return (result, resetTimer(&state, clock))
        }
        // Cancelled outside of the lock, because cancelling can resume the sleeping task on this thread.
        stale?.cancel()
        return result
    }

    /// Starts a timer if a token is due before the current timer fires. Returns the task that is no longer needed.
    private func resetTimer(_ state: inout State, _ clock: any SluiceClock) -> Task<Void, Never>? {
        guard let due = state.buckets.nextDueTime() else { return state.timer.take()?.task }
        if let timer = state.timer, timer.due <= due { return nil }
        let stale = state.timer?.task
        state.lastTimer += 1
        let id = state.lastTimer
        let task = Task { [self] in
            do { try await clock.sleep(for: due - clock.now) } catch { return }
            fire(id, clock)
        }
        state.timer = Timer(due: due, id: id, task: task)
        return stale
    }
}

extension SluiceError {
    fileprivate static func rateLimited(by gate: String, _ wait: Duration, _ reason: String) -> SluiceError {
        refused(
            .rateLimited,
            by: gate,
            after: wait,
            "The request would wait \(wait.textRoundedUp) at the \(gate), \(reason)."
        )
    }
}

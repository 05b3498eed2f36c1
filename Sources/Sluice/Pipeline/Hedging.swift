import SluiceHTTP

extension Pipeline {
    private enum Event: Sendable {
        case ended(AttemptEnd)
        case delayElapsed
    }

    /// Runs an attempt, and extra attempts in parallel while there is no response. The others are cancelled once there
    /// is one, or once a gate asks to send the request again, which it does only once.
    func hedged(_ first: RequestContext, _ call: Call) async -> AttemptEnd {
        let policy = call.hedging
        return await withTaskGroup(of: Event.self) { group in
            func begin(_ context: RequestContext) {
                group.addTask {
                    var driver = AsynchronousDriver(self, CallMachine(hasCache: call.cache != nil), context)
                    await driver.run(until: .decide)
                    let isReplayed = driver.machine.next == .again(.replay)
                    return .ended(AttemptEnd(outcome: driver.outcome, isReplayed: isReplayed))
                }
            }
            func wait() {
                group.addTask {
                    try? await self.clock.sleep(for: policy.delay)
                    return .delayElapsed
                }
            }
            begin(first)
            wait()
            var running = 1
            var extra = 0
            // A stale response in place of a failure, which is returned if all other attempts fail.
            var stale: AttemptEnd?
            while let event = await group.next() {
                switch event {
                case .ended(let end):
                    running -= 1
                    if case .success(let response) = end.outcome, response.failure != nil { stale = end }
                    guard running == 0 || end.isFinal(by: call.retry) else { continue }
                    group.cancelAll()
                    if case .failure = end.outcome, !end.isReplayed, let stale { return stale }
                    return end
                case .delayElapsed:
                    guard !Task.isCancelled, extra < policy.maximumExtra, call.isSentSafely, withdraw() else {
                        continue
                    }
                    running += 1
                    extra += 1
                    let context = call.nextAttempt()
                    call.notify(.retrying, context.attempt) { .hedging }
                    begin(context)
                    if extra < policy.maximumExtra { wait() }
                }
            }
            return AttemptEnd(outcome: .failure(.cancelled), isReplayed: false)
        }
    }
}

extension AttemptEnd {
    /// Returns true if the other attempts are not awaited: after a response that the policy does not retry, or for a
    /// replay.
    fileprivate func isFinal(by policy: RetryPolicy) -> Bool {
        if isReplayed { return true }
        // A stale response in place of a failure may still be followed by the response of another attempt.
        guard case .success(let response) = outcome, response.failure == nil else { return false }
        return !policy.statuses.contains(response.head.status)
    }
}

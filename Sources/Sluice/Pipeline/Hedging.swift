import SluiceHTTP

extension Pipeline {
    private enum Lap: Sendable {
        case ended(AttemptEnd)
        case late
    }

    /// Runs an attempt, and extra attempts in parallel while there is no response. The others are cancelled once there
    /// is one.
    func hedged(_ first: RequestContext, _ call: Call) async -> AttemptEnd {
        let policy = call.hedging
        return await withTaskGroup(of: Lap.self) { group in
            func begin(_ context: RequestContext) {
                group.addTask {
                    var driver = AsynchronousDriver(self, CallMachine(hasCache: call.cache != nil), context)
                    await driver.run(until: .decide, isLimited: true)
                    let isReplayed = driver.machine.next == .again(.replay)
                    return .ended(AttemptEnd(outcome: driver.outcome, isReplayed: isReplayed))
                }
            }
            func wait() {
                group.addTask {
                    try? await self.time.sleep(for: policy.delay)
                    return .late
                }
            }
            begin(first)
            wait()
            var running = 1
            var extra = 0
            while let lap = await group.next() {
                switch lap {
                case .ended(let end):
                    running -= 1
                    guard running == 0 || end.isAnswer(to: call.retry) else { continue }
                    group.cancelAll()
                    return end
                case .late:
                    guard !Task.isCancelled, extra < policy.maximumExtra, withdraw() else { continue }
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
    /// True if the outcome is final, so that the other attempts are not worth waiting for.
    fileprivate func isAnswer(to policy: RetryPolicy) -> Bool {
        guard case .success(let response) = outcome, !isReplayed else { return false }
        return !policy.statuses.contains(response.head.status)
    }
}

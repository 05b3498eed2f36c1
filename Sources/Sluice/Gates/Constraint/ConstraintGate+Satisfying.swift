import SluiceHTTP

// Runs `satisfy` once for all waiting requests.
extension ConstraintGate {
    /// Calls `satisfy` in a separate task, which continues after its request is cancelled while other requests wait.
    /// The task inherits the task-local values and the priority of the request that found the constraint not
    /// satisfied, but not its deadline.
    func satisfy() {
        let (number, request) = state.withLock { state in
            state.satisfaction += 1
            let first = state.constraint.firstWaiting
            return (state.satisfaction, first.flatMap { state.places[$0]?.request })
        }
        // All waiting requests have left meanwhile.
        guard let request else { return satisfactionEnded(number, nil) }
        let exemption = Exemption(from: name, for: request)
        let work = Deadline.$current.withValue(nil) {
            Task { [self] in
                do {
                    try await exemption.whileActive { try await constraint.satisfy(for: request) }
                    satisfactionEnded(number, nil)
                } catch {
                    satisfactionEnded(number, .gate(name, failedWith: error))
                }
            }
        }
        let time = request.client.pipeline.time
        let timer = constraint.timeout.map { timeout in
            Task.detached { [self] in
                do { try await time.sleep(for: timeout) } catch { return }
                satisfactionEnded(number, .gateTimedOut(name))
            }
        }
        let (isWanted, isOver) = state.withLock { state in
            guard state.satisfaction == number else { return (false, true) }
            state.satisfying = (work, timer)
            return (!state.constraint.isCancelled, false)
        }
        if !isWanted { work.cancel() }
        if isOver { timer?.cancel() }
    }

    /// Resumes all waiting requests. The result of a call that already timed out is ignored.
    private func satisfactionEnded(_ number: Int, _ failure: SluiceError?) {
        let (actions, satisfying) = state.withLock { state -> ([ConstraintState.Action], Satisfying?) in
            guard state.satisfaction == number else { return ([], nil) }
            state.satisfaction += 1
            defer { state.satisfying = nil }
            return (failure == nil ? state.constraint.satisfied() : state.constraint.failed(), state.satisfying)
        }
        satisfying?.work.cancel()
        satisfying?.timer?.cancel()
        perform(actions, failure)
    }
}

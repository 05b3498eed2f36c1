import SluiceHTTP

// Calls `isSatisfied`, for one request at a time.
extension ConstraintGate {
    /// Resumes the request's own task to start the check.
    func ask(_ id: Int) {
        let (waiter, request) = state.withLock { state -> (Waiter?, RequestContext?) in
            guard let request = state.places[id]?.request else { return (nil, nil) }
            state.question = (id, nil, request.client.pipeline.time.now)
            return (state.places[id]?.waiter.take(), request)
        }
        // The request left before it was asked. The next one follows.
        guard let request else { return perform(state.withLock { $0.constraint.answered(id, false) }) }
        waiter?.resume(returning: .ask)
        watch(request.client.pipeline.time)
    }

    /// Calls `isSatisfied` in a separate task, so that the request can be cancelled while user code runs. Called from
    /// the request's task, whose task-local values and priority the new task inherits.
    func beginQuestion(_ id: Int, _ request: RequestContext) {
        let exemption = Exemption(from: name, for: request)
        let task = Task { [self] in
            let isSatisfied = await exemption.whileActive { await constraint.isSatisfied(for: request) }
            perform(
                state.withLock { state in
                    if state.question?.id == id { state.question = nil }
                    return state.constraint.answered(id, isSatisfied)
                }
            )
        }
        let isWanted = state.withLock { state in
            if state.question?.id == id { state.question?.task = task }
            return state.places[id] != nil
        }
        if !isWanted { task.cancel() }
    }

    /// Starts a task that ends checks that take too long, so that they do not block all
    /// others. One task serves all checks.
    private func watch(_ time: any TimeSource) {
        guard let timeout = constraint.timeout else { return }
        let begins = state.withLock { state in
            defer { state.isWatched = true }
            return !state.isWatched
        }
        guard begins else { return }
        Task.detached { [weak self] in
            var wait: Duration? = timeout
            while let next = wait {
                try? await time.sleep(for: next)
                wait = self?.unansweredSince(time.now, timeout)
            }
        }
    }

    /// Fails a check that exceeds the timeout. Returns the time until the next look, or nil if no check is running.
    private func unansweredSince(_ now: ContinuousClock.Instant, _ timeout: Duration) -> Duration? {
        let (actions, task, wait) = state.withLock {
            state -> ([ConstraintState.Action], Task<Void, Never>?, Duration?) in
            guard let question = state.question else {
                state.isWatched = false
                return ([], nil, nil)
            }
            let age = question.since.duration(to: now)
            guard age >= timeout else { return ([], nil, timeout - age) }
            state.question = nil
            return (state.constraint.unanswered(question.id), question.task, timeout)
        }
        task?.cancel()
        perform(actions)
        return wait
    }
}

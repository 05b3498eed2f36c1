import SluiceFoundation
import SluiceHTTP

extension Pipeline {
    /// Runs steps 2 to 6 with all retries, within the total time.
    ///
    /// - Parameters:
    ///   - call: The state shared by all attempts.
    ///   - begun: The first attempt and its permits, if it has already begun.
    ///   - end: The outcome of the first attempt, if it has already ended.
    /// - Returns: The outcome of the last attempt.
    func outcome(
        of call: Call,
        begun: (RequestContext, Admission)? = nil,
        after end: AttemptEnd? = nil
    ) async -> TransportOutcome {
        // An attempt that has begun holds permits to release, and may have a response. Otherwise nothing is started
        // after the deadline.
        if begun == nil, end == nil, call.isOverdue { return .failure(.totalTimedOut(call)) }
        let outcome = await within(call) { [self] in await attempts(of: call, begun, end) }
        return outcome.after(call.lastFailure)
    }

    /// Runs work for a request within the rest of its total time.
    func within(_ call: Call, _ work: @escaping @Sendable () async -> TransportOutcome) async -> TransportOutcome {
        guard let deadline = call.deadline else { return await work() }
        do throws(SluiceError) {
            return try await TimedWork.outcome(
                within: max(.zero, time.now.duration(to: deadline)),
                on: time,
                else: .totalTimedOut(call)
            ) { () async throws(SluiceError) in
                await work()
            }
        } catch {
            return .failure(error)
        }
    }

    private func attempts(
        of call: Call,
        _ begun: (RequestContext, Admission)?,
        _ first: AttemptEnd?
    ) async -> TransportOutcome {
        if begun == nil && first == nil { deposit(call) }
        var end: AttemptEnd
        if let first { end = first } else { end = await round(call, begun) }
        var tries = 1
        var progress: ContinuousClock.Instant?
        while true {
            if end.isReplayed {
                call.notify(.retrying, call.attempts) { .retrying(after: .zero, end.outcome) }
                call.note(failed: end.outcome)
                end = await round(call)
                continue
            }
            if let delay = call.resumption(after: end.outcome) {
                call.notify(.retrying, call.attempts) { .retrying(after: delay, end.outcome) }
                call.note(failed: end.outcome)
                guard await isOver(delay) else { return .failure(.cancelled.with(request: end.outcome.request)) }
                if call.sink?.lastProgress != progress { tries = 1 }
                progress = call.sink?.lastProgress
                end = await round(call)
                continue
            }
            guard case .again(let delay) = decision(end, call, tries) else { return end.outcome }
            guard withdraw() else { return end.outcome }
            call.notify(.retrying, call.attempts) { .retrying(after: delay, end.outcome) }
            call.note(failed: end.outcome)
            guard await isOver(delay) else { return .failure(.cancelled.with(request: end.outcome.request)) }
            tries += 1
            end = await round(call)
        }
    }

    /// Waits for a duration. Returns false if the task is cancelled meanwhile.
    private func isOver(_ delay: Duration) async -> Bool {
        do {
            try await time.sleep(for: delay)
            return true
        } catch {
            return false
        }
    }

    /// Returns true if the outcome of the first attempt is final, which is the common case.
    func isLast(_ end: AttemptEnd, _ call: Call) -> Bool {
        !end.isReplayed && (!call.mayBeRetried || decision(end, call, 1) == .finish)
    }

    private func decision(_ end: AttemptEnd, _ call: Call, _ tries: Int) -> Retry.Decision {
        let retry = Retry(policy: call.retry)
        guard retry.isRetried(end.outcome, tries) else { return .finish }
        let now = time.now
        return retry.decision(
            end.outcome,
            Retry.Circumstances(
                attempt: tries,
                elapsed: (call.sink?.lastProgress ?? call.began).duration(to: now),
                left: call.deadline.map { now.duration(to: $0) },
                isIdempotent: call.isIdempotent,
                date: time.date,
                random: configuration.randomness()
            )
        )
    }

    /// Counts a request towards the retry budget.
    func deposit(_ call: Call) {
        guard call.mayBeRetried || call.isHedged else { return }
        let now = time.now
        retryBalance.withLock { $0.deposit(at: now) }
    }

    func withdraw() -> Bool {
        let now = time.now
        return retryBalance.withLock { $0.withdraw(at: now) }
    }

    private func round(_ call: Call, _ begun: (RequestContext, Admission)? = nil) async -> AttemptEnd {
        let (context, admission) = begun ?? (call.nextAttempt(), Admission())
        if call.isHedged { return await hedged(context, call, admission) }
        return await attempt(context, call, admission)
    }
}

extension Call {
    /// Returns the delay before an interrupted response is resumed; nil for no resumption.
    fileprivate func resumption(after outcome: TransportOutcome) -> Duration? {
        guard let sink, isIdempotent, request.body.isReplayable else { return nil }
        return sink.resumption(after: outcome)
    }
}

extension SluiceError {
    static func totalTimedOut(_ call: Call) -> SluiceError {
        let total = call.transfer.timeouts.total ?? .zero
        let stage = call.stage
        return SluiceError(
            .timedOut,
            total > .zero
                ? "The request took longer than its total timeout of \(total); \(stage.words)."
                : "The request was not sent because its deadline had passed.",
            step: stage.step,
            request: call.request,
            underlyingError: call.lastFailure
        )
    }
}

extension TransportOutcome {
    /// The error of the outcome as far as the transport can determine it; nil for a response without an error status.
    var apparentFailure: SluiceError? {
        switch self {
        case .failure(let error): return error
        case .success(let response):
            guard [.clientError, .serverError].contains(response.head.status.class) else { return nil }
            return SluiceError(
                .unacceptableStatus,
                "The server responded with status \(response.head.status).",
                step: .validation,
                request: response.request,
                response: response.head
            )
        }
    }

    /// Adds the error of the previous attempt to a time-out, because it may have caused the delay.
    fileprivate func after(_ last: SluiceError?) -> TransportOutcome {
        guard let last, case .failure(let error) = self, error.code == .timedOut, error.underlyingError == nil else {
            return self
        }
        return .failure(
            SluiceError(
                error.code,
                error.reason,
                step: error.step,
                request: error.request,
                response: error.response,
                underlyingError: last
            )
        )
    }
}

import SluiceHTTP

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

extension Pipeline {
    /// Runs steps 2 to 6 with all retries, within the total time.
    ///
    /// - Parameters:
    ///   - sending: The state shared by all attempts.
    ///   - begun: The first attempt and its permits, if it has already begun.
    ///   - end: The outcome of the first attempt, if it has already ended.
    /// - Returns: The outcome of the last attempt.
    func outcome(
        of sending: Sending,
        begun: (RequestContext, Admission)? = nil,
        after end: AttemptEnd? = nil
    ) async -> TransportOutcome {
        // An attempt that has begun holds permits to release, and may have a response. Otherwise nothing is started
        // after the deadline.
        if begun == nil, end == nil, sending.isOverdue { return .failure(.totalTimedOut(sending)) }
        let outcome = await within(sending) { [self] in await attempts(of: sending, begun, end) }
        return outcome.after(sending.lastFailure)
    }

    /// Runs work for a request within the rest of its total time.
    func within(_ sending: Sending, _ work: @escaping @Sendable () async -> TransportOutcome) async -> TransportOutcome
    {
        guard let deadline = sending.deadline else { return await work() }
        do throws(SluiceError) {
            return try await TimedWork.outcome(
                within: max(.zero, time.now.duration(to: deadline)),
                on: time,
                else: .totalTimedOut(sending)
            ) { () async throws(SluiceError) in
                await work()
            }
        } catch {
            return .failure(error)
        }
    }

    private func attempts(
        of sending: Sending,
        _ begun: (RequestContext, Admission)?,
        _ first: AttemptEnd?
    ) async -> TransportOutcome {
        if begun == nil && first == nil { deposit(sending) }
        var end: AttemptEnd
        if let first { end = first } else { end = await round(sending, begun) }
        var tries = 1
        var progress: ContinuousClock.Instant?
        while true {
            if end.isReplayed {
                sending.tell(.retrying, sending.attempts) { .retrying(after: .zero, end.outcome) }
                sending.note(failed: end.outcome)
                end = await round(sending)
                continue
            }
            if let delay = sending.resumption(after: end.outcome) {
                sending.tell(.retrying, sending.attempts) { .retrying(after: delay, end.outcome) }
                sending.note(failed: end.outcome)
                guard await isOver(delay) else { return .failure(.cancelled.with(request: end.outcome.request)) }
                if sending.sink?.lastProgress != progress { tries = 1 }
                progress = sending.sink?.lastProgress
                end = await round(sending)
                continue
            }
            guard case .again(let delay) = decision(end, sending, tries) else { return end.outcome }
            guard withdraw() else { return end.outcome }
            sending.tell(.retrying, sending.attempts) { .retrying(after: delay, end.outcome) }
            sending.note(failed: end.outcome)
            guard await isOver(delay) else { return .failure(.cancelled.with(request: end.outcome.request)) }
            tries += 1
            end = await round(sending)
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
    func isLast(_ end: AttemptEnd, _ sending: Sending) -> Bool {
        !end.isReplayed && (!sending.mayBeRetried || decision(end, sending, 1) == .finish)
    }

    private func decision(_ end: AttemptEnd, _ sending: Sending, _ tries: Int) -> Retry.Decision {
        let retry = Retry(policy: sending.retry)
        guard retry.isRetried(end.outcome, tries) else { return .finish }
        let now = time.now
        return retry.decision(
            end.outcome,
            Retry.Circumstances(
                attempt: tries,
                elapsed: (sending.sink?.lastProgress ?? sending.began).duration(to: now),
                left: sending.deadline.map { now.duration(to: $0) },
                isIdempotent: sending.isIdempotent,
                date: time.date,
                random: configuration.randomness()
            )
        )
    }

    /// Counts a request towards the retry budget.
    func deposit(_ sending: Sending) {
        guard sending.mayBeRetried || sending.isHedged else { return }
        let now = time.now
        retryBalance.withLock { $0.deposit(at: now) }
    }

    func withdraw() -> Bool {
        let now = time.now
        return retryBalance.withLock { $0.withdraw(at: now) }
    }

    private func round(_ sending: Sending, _ begun: (RequestContext, Admission)? = nil) async -> AttemptEnd {
        let (context, admission) = begun ?? (sending.nextAttempt(), Admission())
        if sending.isHedged { return await hedged(context, sending, admission) }
        return await attempt(context, sending, admission)
    }
}

extension Sending {
    /// Returns the delay before an interrupted response is resumed; nil for no resumption.
    fileprivate func resumption(after outcome: TransportOutcome) -> Duration? {
        guard let sink, isIdempotent, request.body.isReplayable else { return nil }
        return sink.resumption(after: outcome)
    }
}

extension SluiceError {
    static func totalTimedOut(_ sending: Sending) -> SluiceError {
        let total = sending.transfer.timeouts.total ?? .zero
        let stage = sending.stage
        return SluiceError(
            .timedOut,
            total > .zero
                ? "The request took longer than the \(total) allowed in all; \(stage.words)."
                : "The request was not sent, since its deadline had passed.",
            step: stage.step,
            request: sending.request,
            underlyingError: sending.lastFailure
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
                "The server answered \(response.head.status).",
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

import SluiceFoundation
import SluiceHTTP

extension Pipeline {
    /// Runs work for a request within the rest of its total time.
    func within(_ call: Call, _ work: @escaping @Sendable () async -> TransportOutcome) async -> TransportOutcome {
        guard let deadline = call.deadline else { return await work() }
        do throws(SluiceError) {
            return try await TimedWork.outcome(
                within: max(.zero, clock.now.duration(to: deadline)),
                on: clock,
                else: .totalTimedOut(call)
            ) { () async throws(SluiceError) in
                await work()
            }
        } catch {
            return .failure(error)
        }
    }

    /// Decides if a request is sent again after an attempt, and takes a retry from the budget.
    ///
    /// - Parameters:
    ///   - outcome: The outcome of the attempt.
    ///   - call: The state shared by all attempts.
    ///   - tries: The number of attempts that the retry policy counts.
    /// - Returns: The result of the step ``CallMachine/Step/decide``.
    func decision(after outcome: TransportOutcome, _ call: Call, tries: Int) -> CallMachine.StepResult {
        if let pause = call.resumption(after: outcome) { return .again(.resume(after: pause)) }
        // An interceptor may have read a body that can be read only once, and sent other bytes in its place.
        guard call.mayBeRetried, !call.hasTimedOut, call.request.body.isReplayable else { return .done }
        let retry = Retry(policy: call.retry)
        // The closure of a policy is asked once.
        guard retry.policy.shouldRetry != nil || retry.isRetried(outcome, tries) else { return .done }
        let now = clock.now
        let sent = call.sentRequest(of: outcome)
        let decision = retry.decision(
            outcome,
            Retry.Circumstances(
                attempt: tries,
                elapsed: (call.sink?.lastProgress ?? call.began).duration(to: now),
                left: call.deadline.map { now.duration(to: $0) },
                isIdempotent: call.isIdempotent(sentAs: sent),
                isDeclaredUnsafe: call.draft.options.isIdempotent == false,
                sent: sent,
                date: clock.date,
                random: configuration.randomness()
            )
        )
        guard case .again(let pause) = decision, withdraw() else { return .done }
        return .again(.retry(after: pause))
    }

    /// Counts a request towards the retry budget.
    func deposit(_ call: Call) {
        guard call.mayBeRetried || call.isHedged else { return }
        let now = clock.now
        retryBalance.withLock { $0.deposit(at: now) }
    }

    func withdraw() -> Bool {
        let now = clock.now
        return retryBalance.withLock { $0.withdraw(at: now) }
    }
}

extension Call {
    /// Returns the delay before an interrupted response is resumed; nil for no resumption.
    fileprivate func resumption(after outcome: TransportOutcome) -> Duration? {
        guard let sink, isIdempotent(sentAs: sentRequest(of: outcome)), request.body.isReplayable else { return nil }
        return sink.resumption(after: outcome)
    }
}

extension SluiceError {
    /// The error of a request whose total time is up, at the stage it has reached unless another is given.
    static func totalTimedOut(_ call: Call, at stage: CallStage? = nil) -> SluiceError {
        let stage = stage ?? call.stage
        let head = call.receivedHead
        let clause = stage == .transport && head != nil ? "its response had not been received completely" : stage.clause
        let reason =
            switch call.transfer.timeouts.total {
            case nil: "The deadline of all callers that share the request passed; \(clause)."
            case let total? where total > .zero:
                "The request exceeded its total time-out of \(total.textRoundedUp); \(clause)."
            default: "The request was not sent because its deadline had passed."
            }
        return SluiceError(
            .timedOut,
            reason,
            step: stage.step,
            request: call.latestRequest,
            response: head,
            underlyingError: call.lastOutcome?.apparentFailure
        )
    }
}

extension SluiceError {
    /// The error for a response with a status that is no success.
    static func unacceptableStatus(_ head: HTTPResponse, _ request: HTTPRequest? = nil) -> SluiceError {
        let peer = head.status == 407 ? "proxy" : "server"
        return SluiceError(
            .unacceptableStatus,
            "The \(peer) responded with status \(head.status).",
            step: .validation,
            request: request,
            response: head
        )
    }
}

extension TransportOutcome {
    /// The error of the outcome as far as the transport can determine it; nil for a response without an error status.
    var apparentFailure: SluiceError? {
        switch self {
        case .failure(let error): return error.withoutReplacedResponse
        case .success(let response):
            guard [.clientError, .serverError].contains(response.head.status.class) else { return nil }
            return .unacceptableStatus(response.head, response.request)
        }
    }
}

// MARK: - Hedging

extension Pipeline {
    private enum Event: Sendable {
        case ended(AttemptEnd)
        case delayElapsed
    }

    /// Runs an attempt, and extra attempts in parallel while there is no response. The others are cancelled once there
    /// is one, or once a gate asks to send the request again, which it does only once.
    func hedged(_ first: RequestContext, _ call: Call) async -> AttemptEnd {
        let attempts = Locked<Task<Void, Never>?>(nil)
        let end = await withTaskCancellationHandler {
            await withUnsafeContinuation { continuation in
                let task = Task { await race(first, call) { continuation.resume(returning: $0) } }
                attempts.withLock { $0 = task }
                if Task.isCancelled { task.cancel() }
            }
        } onCancel: {
            attempts.withLock { $0 }?.cancel()
        }
        // Gates and interceptors may ignore the cancellation of an attempt. The others end before the request does.
        if let task = attempts.withLock({ $0 }) {
            _ = try? await TimedWork.outcome(within: Self.cancellationTime, else: .cancelled) { await task.value }
        }
        return end
    }

    /// The time that cancelled attempts have to end before the response is returned.
    private static let cancellationTime = Duration.milliseconds(100)

    /// Runs the attempts until all have ended.
    ///
    /// - Parameters:
    ///   - first: The first attempt.
    ///   - call: The state shared by all attempts.
    ///   - decide: Called once with the end that counts, before the other attempts have ended.
    private func race(_ first: RequestContext, _ call: Call, decide: @Sendable (AttemptEnd) -> Void) async {
        let policy = call.hedging
        // The time at which an attempt last passed the gates and request interceptors. Nil while the last one has not.
        let sent = Locked<ContinuousClock.Instant?>(nil)
        await withTaskGroup(of: Event.self) { group in
            func begin(_ context: RequestContext) {
                sent.withLock { $0 = nil }
                group.addTask {
                    var driver = AsynchronousDriver(self, CallMachine(hasCache: call.cache != nil), context)
                    await driver.run(until: .cache)
                    sent.withLock { $0 = self.clock.now }
                    await driver.run(until: .decide)
                    let isReplayed = driver.machine.next == .again(.replay)
                    return .ended(AttemptEnd(outcome: driver.outcome, isReplayed: isReplayed))
                }
            }
            func wait(_ delay: Duration) {
                group.addTask {
                    try? await self.clock.sleep(for: delay)
                    return .delayElapsed
                }
            }
            begin(first)
            wait(policy.delay)
            var running = 1
            var extra = 0
            // A response that the policy retries, and a stale one in place of a failure. They are returned if all other
            // attempts fail.
            var answered: AttemptEnd?
            var stale: AttemptEnd?
            // The failure of an attempt that was sent. It says more than that of an extra attempt at its gates.
            var failed: AttemptEnd?
            while let event = await group.next() {
                switch event {
                case .ended(let end):
                    running -= 1
                    if case .success(let response) = end.outcome {
                        if response.failure == nil { answered = end } else { stale = end }
                    }
                    if case .failure(let error) = end.outcome, error.step != .gate { failed = failed ?? end }
                    guard running == 0 || end.isFinal(by: call.retry) else { continue }
                    group.cancelAll()
                    if case .failure(let error) = end.outcome, !error.isCancellation, !end.isReplayed,
                        let earlier = stale ?? answered ?? (error.step == .gate ? failed : nil)
                    {
                        return decide(earlier)
                    }
                    return decide(end)
                case .delayElapsed:
                    let now = clock.now
                    let left = now.duration(to: (sent.withLock { $0 } ?? now) + policy.delay.bounded)
                    if left > .zero, !Task.isCancelled {
                        wait(left)
                        continue
                    }
                    guard !Task.isCancelled, extra < policy.maximumExtra, call.isSentSafely, withdraw() else {
                        continue
                    }
                    running += 1
                    extra += 1
                    let context = call.nextAttempt()
                    call.notify(.retrying, context.attempt) { .hedging }
                    begin(context)
                    if extra < policy.maximumExtra { wait(policy.delay) }
                }
            }
            decide(AttemptEnd(outcome: .failure(.cancelled), isReplayed: false))
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

// MARK: - Stages

/// The stage that a request has reached, named in the error when its time is up.
enum CallStage: Sendable, Equatable {
    case beginning
    case gate(String)
    case requestInterceptors
    case transport
    case responseInterceptors
    /// The pause between two attempts.
    case pause

    var step: SluiceError.Step {
        switch self {
        case .beginning: .building
        case .gate: .gate
        case .requestInterceptors: .requestInterceptor
        case .transport: .transport
        case .responseInterceptors: .responseInterceptor
        case .pause: .recovery
        }
    }

    /// The stage as a clause at the end of a sentence.
    var clause: String {
        switch self {
        case .beginning: "it had not been sent"
        case .gate(let name): "it was waiting at the gate “\(name)”"
        case .requestInterceptors: "its request interceptors were running"
        case .transport: "its response had not been received"
        case .responseInterceptors: "its response interceptors were running"
        case .pause: "it was waiting for its next attempt"
        }
    }
}

/// The stages of all attempts of a request. Several attempts may run at once.
struct CallStages: Sendable {
    private var latest = CallStage.beginning
    /// The head of a response that has arrived since the stage of the transport began.
    var head: HTTPResponse?
    /// The gates that the request waits at, in the order in which it reached them.
    private var gates: [String] = []

    /// The current stage. A gate that holds the request back takes precedence over later stages.
    var current: CallStage { gates.first.map(CallStage.gate) ?? latest }

    mutating func beginStage(_ stage: CallStage) {
        if case .gate(let name) = stage {
            gates.append(name)
        } else {
            latest = stage
            if stage != .responseInterceptors { head = nil }
        }
    }

    /// Records that the request no longer waits at a gate.
    mutating func leave(gate: String) {
        if let index = gates.firstIndex(of: gate) { gates.remove(at: index) }
    }
}

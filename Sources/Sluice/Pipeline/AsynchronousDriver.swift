import SluiceFoundation
import SluiceHTTP

/// Performs the steps of a ``CallMachine`` in a task, from any step.
struct AsynchronousDriver: Sendable {
    private let pipeline: Pipeline
    private let call: Call
    private(set) var machine: CallMachine
    private var context: RequestContext
    private var admission: Admission
    private var request: HTTPRequest
    /// The response whose body has not been read; nil if there is none.
    private var response: TransportResponse?
    private(set) var outcome: TransportOutcome
    /// The time of the sink's last progress, at the last resumption.
    private var lastProgress: ContinuousClock.Instant?
    /// The end of the attempt's total time, if another driver has begun it. Measured on the system clock.
    private var deadline: ContinuousClock.Instant?

    /// Creates a driver of an attempt.
    ///
    /// - Parameters:
    ///   - pipeline: The pipeline that the request passes through.
    ///   - machine: The machine, at the step to continue with.
    ///   - context: The attempt.
    ///   - admission: The permits that the attempt holds.
    ///   - request: The request as it is sent; nil before the interceptors.
    ///   - response: The response, if the request has been sent.
    ///   - outcome: The outcome, if there is one.
    ///   - deadline: The end of the attempt's total time, if it has begun.
    init(
        _ pipeline: Pipeline,
        _ machine: CallMachine,
        _ context: RequestContext,
        _ admission: Admission = Admission(),
        _ request: HTTPRequest? = nil,
        _ response: TransportResponse? = nil,
        _ outcome: TransportOutcome? = nil,
        until deadline: ContinuousClock.Instant? = nil
    ) {
        self.deadline = deadline
        self.pipeline = pipeline
        call = context.call
        self.machine = machine
        self.context = context
        self.admission = admission
        self.request = request ?? context.request
        self.response = response
        self.outcome = outcome ?? .failure(.cancelled)
    }

    /// Performs the remaining steps of a request that another driver has begun, within the total time.
    func finalOutcome() async -> TransportOutcome {
        var driver = self
        // Either the rest of the attempt releases the permits, or this function if that does not begin.
        let claim = Locked(false)
        switch machine.next {
        case .admit: break
        case .cache, .send:
            // The admission that the driver in the time limit leaves to be released.
            let admission = Locked(admission)
            driver.outcome = await pipeline.within(call) { [self] in
                var driver = self
                await driver.run(until: .release)
                admission.withLock { $0 = driver.admission }
                return driver.outcome
            }
            driver.admission = admission.withLock { $0 }
            driver.machine.skipToRelease()
            fallthrough
        default:
            // The transport limits the time of a response that it has begun, and permits are always released.
            await driver.run(until: .decide)
            // The release of a permit may have taken the rest of the time.
            if case .success = driver.outcome, driver.machine.next == .decide, call.isOverdue { return driver.outcome }
        }
        let outcome = await pipeline.within(call) { [driver] in
            guard !claim.exchange(true) else { return .failure(.cancelled) }
            var driver = driver
            await driver.run(until: .end)
            return driver.outcome
        }
        if machine.next == .admit, !claim.exchange(true) {
            // The other driver may have obtained permits.
            driver.outcome = outcome
            driver.machine.skipToRelease()
            await driver.run(until: .decide)
        }
        return call.finalOutcome(after: outcome)
    }

    /// Performs the steps before one of the machine's steps.
    ///
    /// - Parameter limit: The step to stop at, or at any later one.
    mutating func run(until limit: CallMachine.Step) async {
        while machine.next < limit { await performStep() }
    }

    /// Performs the machine's next step.
    ///
    /// Not inlined: the compiler would repeat the loop after each suspension point.
    @inline(never)
    private mutating func performStep() async {
        switch machine.next {
        case .race:
            let end = await pipeline.hedged(context, call)
            outcome = end.outcome
            machine.advance(end.isReplayed ? .again(.replay) : .done)
        case .admit:
            do throws(SluiceError) {
                try await admission.admit(context, call)
                machine.advance()
            } catch {
                outcome = .failure(error)
                machine.advance(.refused)
            }
        case .answerStale:
            if case .failure(let error) = outcome {
                outcome = await call.staleOutcome(after: error, context.attempt)
            }
            if case .success = outcome { machine.advance() } else { machine.advance(.refused) }
        case .interceptRequest:
            call.beginStage(.requestInterceptors)
            do throws(SluiceError) {
                request = try await interceptedRequest()
                // Interceptors and gates may ignore a cancellation. Nothing is sent after it.
                if Task.isCancelled { throw .cancelled.with(step: .requestInterceptor, request: request) }
                machine.advance()
            } catch {
                // An interceptor that is cancelled, or whose own requests have timed out with this one, may report any error.
                if call.hasTimedOut {
                    outcome = .failure(.totalTimedOut(call))
                } else {
                    outcome = .failure(Task.isCancelled ? .cancelled.with(step: error.step, request: request) : error)
                }
                machine.advance(.refused)
            }
        case .sign:
            admission.sign(&request, context, call)
            call.recordMethod(request.method)
            for plugin in call.steps.plugins { plugin.willSend(request, context: context) }
            machine.advance()
        case .cache, .send, .redirect, .collect:
            call.beginStage(.transport)
            let transfer = AttemptTransfer(
                pipeline,
                context.transfer(of: request),
                call,
                context.attempt,
                until: deadline
            )
            var redirect: ServerResponse?
            outcome = await transfer.outcome(of: request, unread: response.take(), &machine, redirect: &redirect)
            if let redirect { admission.record(redirect: redirect) }
            replaceCancellation(at: .transport)
        case .report:
            call.report(outcome, context.attempt)
            if call.steps.changesOutcomes { call.beginStage(.responseInterceptors) }
            for plugin in call.steps.plugins { plugin.didReceive(outcome, context: context) }
            machine.advance()
        case .interceptResponse:
            if call.steps.changesOutcomes {
                admission.record(outcome)
                call.keepSentRequest(of: outcome)
            }
            // At the limit, the request has failed before the request interceptors, and the others would send again.
            if !InterceptorNesting.isAtLimit { outcome = await interceptedOutcome() }
            machine.advance()
        case .release:
            replaceCancellation()
            machine.advance(await admission.release(outcome, call) ? .again(.replay) : .done)
        case .decide: machine.advance(pipeline.decision(after: outcome, call, tries: machine.tries))
        case .again(let repetition): machine.advance(await begin(repetition))
        case .end: return
        }
    }

    /// Replaces a cancellation by the total time-out that caused it, so that interceptors, plugins, observers and gates
    /// see a time-out of the step that it ended.
    private mutating func replaceCancellation(at stage: CallStage? = nil) {
        guard case .failure(let error) = outcome, error.isCancellation || error.underlyingError is CancellationError,
            call.hasTimedOut
        else { return }
        outcome = .failure(.totalTimedOut(call, at: stage))
    }

    private func interceptedOutcome() async -> TransportOutcome {
        await InterceptorNesting.deepened(holding: admission.limits(call)) {
            var outcome = outcome
            for interceptor in call.steps.responseInterceptors {
                outcome = await interceptor.intercept(outcome, context: context)
            }
            for plugin in call.steps.plugins { outcome = await plugin.process(outcome, context: context) }
            outcome.keep(responseOf: self.outcome, to: context.request, request, call.latestRequest)
            return outcome
        }
    }

    private func interceptedRequest() async throws(SluiceError) -> HTTPRequest {
        var request = context.request
        call.sink?.adapt(&request)
        var original: HTTPRequest? = context.request
        var credentials = AddedCredentials()
        var index = 0
        do {
            try InterceptorNesting.check()
            try await InterceptorNesting.deepened(holding: admission.limits(call)) {
                for interceptor in call.steps.requestInterceptors {
                    credentials.prepare(for: index, of: call.steps, request)
                    request = try await interceptor.intercept(request, context: context)
                    try request.encodeBody(for: pipeline, since: &original)
                    try credentials.update(after: index, of: call.steps, &request, context)
                    index += 1
                }
                for plugin in call.steps.plugins {
                    request = try await plugin.prepare(request, context: context)
                    try request.encodeBody(for: pipeline, since: &original)
                    try credentials.update(after: index, of: call.steps, &request, context)
                    index += 1
                }
            }
        } catch {
            throw .interceptor(error, call.steps.description(ofStep: index), request)
        }
        return request
    }

    /// Waits for the next attempt and begins it, unless the task is cancelled meanwhile.
    private mutating func begin(_ repetition: CallMachine.Repetition) async -> CallMachine.StepResult {
        let pause = repetition.pause
        call.notify(.retrying, call.attempts) { .retrying(after: pause ?? .zero, outcome) }
        call.recordOutcome(outcome, isReplayed: repetition.isReplay)
        // A response that is retried is the outcome if a gate refuses the retry.
        if repetition.isReplay || (try? outcome.get()) == nil { call.sink?.dropBody() }
        do {
            if let pause { try await pipeline.clock.sleep(for: pause) }
        } catch {
            outcome = .failure(.cancelled.with(request: outcome.request))
            return .refused
        }
        context = call.nextAttempt()
        admission = Admission()
        deadline = nil
        guard case .resume = repetition else { return .done }
        let progress = call.sink?.lastProgress
        if progress == lastProgress { return .done }
        lastProgress = progress
        call.recordProgress()
        return .progressed
    }
}

extension CallMachine.Repetition {
    /// True if a gate has asked for the attempt.
    fileprivate var isReplay: Bool {
        if case .replay = self { true } else { false }
    }

    /// The pause before the attempt; nil for none.
    fileprivate var pause: Duration? {
        switch self {
        case .replay: nil
        case .resume(let pause), .retry(let pause): pause
        }
    }
}

extension Pipeline {
    /// Runs steps 2 to 6 with all retries, within the total time.
    func outcome(of call: Call) async -> TransportOutcome {
        // Nothing is started after the deadline.
        if call.isOverdue { return .failure(.totalTimedOut(call)) }
        let outcome = await within(call) { [self] in
            deposit(call)
            let machine = CallMachine(hasCache: call.cache != nil, isHedged: call.isHedged)
            var driver = AsynchronousDriver(self, machine, call.nextAttempt())
            await driver.run(until: .end)
            return driver.outcome
        }
        return call.finalOutcome(after: outcome)
    }
}

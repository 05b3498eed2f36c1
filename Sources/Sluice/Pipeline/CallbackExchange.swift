import SluiceFoundation
import SluiceHTTP

/// Sends one request through a callback-based transport and runs the steps that follow it.
///
/// No task is created unless the response body arrives in pieces, or the request is redirected or sent again. For a
/// small request this saves about a fifth of the time.
final class CallbackExchange: Sendable {
    private enum State {
        case beginning
        case transferring(SingleFlight<CallOutcome>.Stop)
        case following(Task<Void, Never>)
        case over
    }

    /// The context of the steps that follow the transport.
    struct Steps: Sendable {
        let context: RequestContext
        let admission: Admission
    }

    private let pipeline: Pipeline
    private let request: HTTPRequest
    private let transfer: TransferContext
    private let deadline: ContinuousClock.Instant?
    private let steps: Steps?
    private let caller: CallerContext
    private let completion: @Sendable (TransportOutcome) -> Void
    private let state = Locked(State.beginning)

    /// Creates an exchange.
    ///
    /// - Parameters:
    ///   - pipeline: The pipeline that the request passes through.
    ///   - request: The request to send.
    ///   - transfer: Time-outs and limits.
    ///   - steps: The steps after the transport; nil if there are none.
    ///   - caller: Runs the steps after the transport, which may be user code.
    ///   - completion: Called once with the outcome.
    init(
        _ pipeline: Pipeline,
        _ request: HTTPRequest,
        _ transfer: TransferContext,
        _ steps: Steps?,
        _ caller: @escaping CallerContext,
        _ completion: @escaping @Sendable (TransportOutcome) -> Void
    ) {
        self.pipeline = pipeline
        self.request = request
        self.transfer = transfer
        deadline = transfer.timeouts.total.map { ContinuousClock.now + $0 }
        self.steps = steps
        self.caller = caller
        self.completion = completion
    }

    /// Sends the request and returns an action that stops it.
    func begin(on transport: any CallbackTransport) -> SingleFlight<CallOutcome>.Stop {
        if let refusal = transfer.connection.refusal(of: request) { return end(with: .failure(refusal)) }
        let stop = transport.begin(request, context: transfer) { [self] in take($0) }
        state.withLock { state in
            if case .beginning = state { state = .transferring(stop) }
        }
        return { [self] in cancel() }
    }

    /// Ends the exchange without sending the request. Returns an action that stops the steps that may follow.
    func end(with outcome: TransportOutcome) -> SingleFlight<CallOutcome>.Stop {
        conclude(outcome)
        return { [self] in cancel() }
    }

    /// Called by the transport, on its thread, with the response or an error.
    private func take(_ result: Result<TransportResponse, SluiceError>) {
        let outcome: TransportOutcome
        switch result {
        case .failure(let error):
            outcome = .failure(error)
        case .success(let response):
            guard let (body, metrics) = response.body.whole, response.head.status.class != .redirection else {
                // The body must be collected, or the redirect followed.
                return caller { [self] in follow { [self] in await following(response) } }
            }
            outcome = .success(
                ServerResponse(
                    request: request,
                    head: response.head,
                    body: body,
                    metrics: metrics,
                    trailers: response.body.trailers ?? [:]
                )
            )
        }
        guard let steps else { return finish(outcome) }
        caller { [self] in
            steps.context.call.notify(.received, steps.context.attempt) { .received(outcome) }
            conclude(outcome)
        }
    }

    private func following(_ response: TransportResponse) async -> TransportOutcome {
        guard let steps else {
            return await AttemptTransfer(pipeline, transfer, until: deadline).outcome(of: request, begun: response)
        }
        let call = steps.context.call
        let outcome = await pipeline.sent(request, steps.context, call, begun: response)
        let isReplayed = await steps.admission.release(outcome, call)
        return await pipeline.outcome(of: call, after: AttemptEnd(outcome: outcome, isReplayed: isReplayed))
    }

    /// Runs the steps that follow the transport, and ends the exchange unless the request is sent again.
    private func conclude(_ outcome: TransportOutcome) {
        guard let steps else { return finish(outcome) }
        let call = steps.context.call
        var outcome = outcome
        for adapter in call.steps.outcomeAdapters { adapter.adapt(&outcome, context: steps.context) }
        if steps.admission.takesWaiting {
            return follow { [pipeline, outcome] in
                let isReplayed = await steps.admission.release(outcome, call)
                return await pipeline.outcome(of: call, after: AttemptEnd(outcome: outcome, isReplayed: isReplayed))
            }
        }
        let isReplayed = steps.admission.releaseImmediately(outcome, call)
        let end = AttemptEnd(outcome: outcome, isReplayed: isReplayed)
        if pipeline.isLast(end, call) { return finish(outcome) }
        follow { [pipeline] in await pipeline.outcome(of: call, after: end) }
    }

    /// Continues in a task.
    private func follow(_ work: @escaping @Sendable () async -> TransportOutcome) {
        let task = pipeline.startedTask { [self] in finish(await work()) }
        let isOver = state.withLock { state in
            if case .over = state { return true }
            state = .following(task)
            return false
        }
        if isOver { task.cancel() }
    }

    private func finish(_ outcome: TransportOutcome) {
        state.withLock { $0 = .over }
        completion(outcome)
    }

    private func cancel() {
        let before = state.withLock { state in
            defer { state = .over }
            return state
        }
        switch before {
        case .transferring(let stop): stop()
        case .following(let task): task.cancel()
        case .beginning, .over: break
        }
    }
}

// MARK: - Looking in the cache first

extension Pipeline {
    /// Looks up stored responses, in memory and then in storage, before a task is created.
    ///
    /// - Parameters:
    ///   - lookup: The lookup to perform.
    ///   - exchange: The exchange that ends if a stored response can be used.
    ///   - steps: The steps of the exchange.
    ///   - caller: Runs the steps that follow.
    ///   - otherwise: Called when no stored response can be used as it is.
    /// - Returns: An action that stops the lookup and the steps that follow.
    func begin(
        _ lookup: CacheLookup,
        _ exchange: CallbackExchange,
        _ steps: CallbackExchange.Steps,
        _ caller: @escaping CallerContext,
        otherwise: @escaping @Sendable () async -> Void
    ) -> SingleFlight<CallOutcome>.Stop {
        let (call, attempt, transfer) = (steps.context.call, steps.context.attempt, steps.context.transfer)
        if let hit = lookup.immediateResponse(within: transfer.limits) {
            call.notify(.cached, attempt) { .cached(hit) }
            return exchange.end(with: .success(hit))
        }
        let stop = DeferredStop()
        // Only a task can enforce a total time-out.
        let isLooking =
            transfer.timeouts.total == nil
            && lookup.look(within: transfer.limits) { [self] hit, found in
                caller { [self] in
                    if let hit {
                        call.notify(.cached, attempt) { .cached(hit) }
                        return stop.decide(exchange.end(with: .success(hit)))
                    }
                    if stop.isStopped { return stop.decide(exchange.end(with: .failure(.cancelled))) }
                    call.note(found: found, for: lookup.key)
                    let task = startedTask(otherwise)
                    stop.decide { task.cancel() }
                }
            }
        if isLooking { return { stop.stop() } }
        let task = startedTask(otherwise)
        return { task.cancel() }
    }
}

import SluiceFoundation
import SluiceHTTP

/// Performs the steps of a ``CallMachine`` on the calling thread and on the thread of a callback-based transport.
///
/// As soon as a step has to wait, the driver hands the machine to an ``AsynchronousDriver`` in a task. A small request
/// whose steps need not wait creates no task, which saves about a fifth of its time.
///
/// A reference: all copies are the same driver.
struct SynchronousDriver: Sendable {
    private enum State {
        case beginning
        case transferring(SingleFlight<CallOutcome>.Stop)
        case following(Task<Void, Never>)
        case over
    }

    private struct Parts: Sendable {
        let pipeline: Pipeline
        /// The machine, at the first step that may wait.
        let machine: CallMachine
        /// The attempt; nil for a request without steps other than the transport.
        let context: RequestContext?
        let admission: Admission
        let request: HTTPRequest
        let transfer: TransferContext
        /// The end of the total time, which covers all redirects.
        let deadline: ContinuousClock.Instant?
        let caller: CallerContext
        let completion: @Sendable (CallOutcome) -> Void
    }

    private let state: LockedObject<Parts, State>

    private var parts: Parts { _read { yield state.constants } }

    /// Creates a driver.
    ///
    /// - Parameters:
    ///   - pipeline: The pipeline that the request passes through.
    ///   - request: The request as it is sent.
    ///   - transfer: Time-outs and limits.
    ///   - caller: Runs the steps after the transport, which may be user code.
    ///   - machine: The machine, at the step to begin with.
    ///   - context: The attempt; nil if there are no other steps.
    ///   - admission: The permits that the attempt holds.
    ///   - completion: Called once with the outcome.
    init(
        _ pipeline: Pipeline,
        _ request: HTTPRequest,
        _ transfer: consuming TransferContext,
        _ caller: @escaping CallerContext,
        at machine: CallMachine = .transferOnly,
        of context: RequestContext? = nil,
        with admission: Admission = Admission(),
        _ completion: @escaping @Sendable (CallOutcome) -> Void
    ) {
        let deadline = transfer.timeouts.total.map { ContinuousClock.now + $0.bounded }
        state = LockedObject(
            Parts(
                pipeline: pipeline,
                machine: machine,
                context: context,
                admission: admission,
                request: request,
                transfer: consume transfer,
                deadline: deadline,
                caller: caller,
                completion: completion
            ),
            .beginning
        )
    }

    /// Performs the steps of a call, starting on the calling thread. Returns an action that stops them.
    static func begin(
        _ call: Call,
        on transport: any CallbackTransport,
        _ pipeline: Pipeline,
        _ caller: @escaping CallerContext,
        _ completion: @escaping @Sendable (CallOutcome) -> Void
    ) -> SingleFlight<CallOutcome>.Stop {
        pipeline.deposit(call)
        let context = call.nextAttempt()
        var machine = CallMachine(hasCache: call.cache != nil)
        var admission = Admission()
        var request = call.request
        var failure: SluiceError?
        preparation: while true {
            switch machine.next {
            case .admit:
                let gates = call.steps.immediateGates ?? []
                guard admission.admitImmediately(context, gates, call) else { break preparation }
                machine.advance()
            case .interceptRequest:
                var index = 0
                do {
                    var original: HTTPRequest? = call.request
                    var credentials = AddedCredentials()
                    for adapter in call.steps.requestAdapters {
                        credentials.prepare(for: index, of: call.steps, request)
                        try adapter.adapt(&request, context: context)
                        try request.encodeBody(for: pipeline, since: &original)
                        if !call.steps.credentialInterceptors.isEmpty {
                            try credentials.update(after: index, of: call.steps, &request, context)
                        }
                        index += 1
                    }
                    machine.advance()
                } catch {
                    failure = .interceptor(error, call.steps.description(ofStep: index), request)
                    machine.advance(.refused)
                }
            case .sign:
                admission.sign(&request, context, call)
                machine.advance()
            default: break preparation
            }
        }
        let transfer = context.transfer(of: request, call.informationalHandler(context.attempt))
        let driver = SynchronousDriver(
            pipeline,
            request,
            consume transfer,
            caller,
            at: machine,
            of: context,
            with: admission,
            completion
        )
        return driver.begin(on: transport, after: failure)
    }

    /// Begins with the machine's step. Returns an action that stops the request.
    func begin(
        on transport: any CallbackTransport,
        after failure: SluiceError? = nil
    ) -> SingleFlight<CallOutcome>.Stop {
        if let failure {
            conclude(parts.machine, .failure(failure))
        } else if parts.machine.next == .cache {
            lookUp()
        } else if parts.machine.next == .send, !parts.request.body.needsPreparation {
            send(on: transport)
        } else {
            handOver(parts.machine)
        }
        return { [self] in cancel() }
    }

    /// Looks up stored responses, in memory and then in storage.
    private func lookUp() {
        guard let call = parts.context?.call, let cache = call.cache else { return handOver(parts.machine) }
        let lookup = CacheLookup(cache, parts.request, parts.transfer, call.steps)
        if let hit = lookup.immediateResponse(within: parts.transfer.limits) { return take(hit) }
        // Only a task can enforce a total time-out.
        guard parts.transfer.timeouts.total == nil else { return handOver(parts.machine) }
        let ticket = cache.store.beginFetch()
        let isReading = lookup.readStorage(within: parts.transfer.limits) { [self] hit, found in
            parts.caller { [self] in
                if let hit { return take(hit) }
                if isOver { return refuse(.cancelled) }
                if let found {
                    call.recordFound(FoundEntries(key: lookup.key, entries: found, ticket: ticket))
                }
                handOver(parts.machine)
            }
        }
        if !isReading { handOver(parts.machine) }
    }

    /// Continues with a complete response from the cache, which is no redirect.
    private func take(_ hit: ServerResponse) {
        var machine = parts.machine
        while machine.next < .report { machine.advance() }
        var hit = hit
        // Observers and interceptors may read it several times.
        hit.completeHead()
        conclude(machine, .success(hit))
    }

    /// Ends the attempt without sending the request.
    private func refuse(_ error: SluiceError) {
        var machine = parts.machine
        machine.advance(.refused)
        conclude(machine, .failure(error))
    }

    private func send(on transport: any CallbackTransport) {
        if let refusal = parts.transfer.connection.refusal(of: parts.request) { return refuse(refusal) }
        if let context = parts.context { context.call.notify(.sending, context.attempt) { .sending(parts.request) } }
        let stop = transport.begin(parts.request, context: parts.transfer) { [self] in receive($0) }
        state.withLock { state in
            if case .beginning = state { state = .transferring(stop) }
        }
    }

    /// Called by the transport, on its thread, with the response or an error.
    private func receive(_ result: Result<TransportResponse, SluiceError>) {
        switch result {
        case .success(let response): receive(response)
        case .failure(let error):
            var machine = parts.machine
            machine.advance(.failed)
            if error.isCancellation, let call = parts.context?.call, call.hasTimedOut {
                proceed(machine, .failure(.totalTimedOut(call, at: .transport)))
            } else {
                proceed(machine, .failure(error))
            }
        }
    }

    private func receive(_ response: TransportResponse) {
        var machine = parts.machine
        machine.advance()
        if machine.next == .redirect, response.head.status.class != .redirection { machine.advance() }
        guard machine.next == .collect, let whole = response.body.whole else {
            // The redirect must be followed, or the body collected.
            return parts.caller { [self, machine] in handOver(machine, response) }
        }
        machine.advance()
        proceed(
            machine,
            .success(
                ServerResponse(
                    request: parts.request,
                    head: response.head,
                    body: whole.data,
                    metrics: whole.metrics,
                    trailers: whole.trailers
                )
            )
        )
    }

    private func proceed(_ machine: CallMachine, _ outcome: TransportOutcome) {
        if machine.next == .end { return finish(outcome) }
        parts.caller { [self] in conclude(machine, outcome) }
    }

    /// Performs the steps that follow the transport, which may be user code.
    private func conclude(_ machine: CallMachine, _ outcome: TransportOutcome) {
        guard let context = parts.context else { return finish(outcome) }
        let call = context.call
        var machine = machine
        var outcome = outcome
        var admission = parts.admission
        while true {
            switch machine.next {
            case .report:
                call.report(outcome, context.attempt)
                machine.advance()
            case .interceptResponse:
                if call.steps.changesOutcomes {
                    admission.record(outcome)
                    call.keepSentRequest(of: outcome)
                    let received = outcome
                    for adapter in call.steps.outcomeAdapters { adapter.adapt(&outcome, context: context) }
                    outcome.keep(responseOf: received, to: context.request, call.latestRequest)
                }
                machine.advance()
            case .release where !admission.isAsynchronous:
                machine.advance(admission.releaseImmediately(outcome, call) ? .again(.replay) : .done)
            case .decide: machine.advance(parts.pipeline.decision(after: outcome, call, tries: machine.tries))
            case .end: return finish(call.finalOutcome(after: outcome))
            default: return handOver(machine, outcome: outcome, with: admission)
            }
        }
    }

    /// Continues in a task, at a step that has to wait.
    private func handOver(
        _ machine: CallMachine,
        _ response: TransportResponse? = nil,
        outcome: TransportOutcome? = nil,
        with admission: Admission? = nil
    ) {
        let task = parts.pipeline.startedTask { [self] in
            finish(await self.outcome(from: machine, response, outcome, with: admission ?? parts.admission))
        }
        let isOver = state.withLock { state in
            if case .over = state { return true }
            state = .following(task)
            return false
        }
        if isOver { task.cancel() }
    }

    private func outcome(
        from machine: CallMachine,
        _ response: TransportResponse?,
        _ outcome: TransportOutcome?,
        with admission: Admission
    ) async -> TransportOutcome {
        guard let context = parts.context else {
            var machine = machine
            var redirect: ServerResponse?
            return await AttemptTransfer(parts.pipeline, parts.transfer, until: parts.deadline)
                .outcome(of: parts.request, unread: response, &machine, redirect: &redirect)
        }
        let driver = AsynchronousDriver(
            parts.pipeline,
            machine,
            context,
            admission,
            parts.request,
            response,
            outcome,
            // The limit of an attempt counts from its transfer.
            until: response == nil ? nil : parts.deadline
        )
        return await driver.finalOutcome()
    }

    private func finish(_ outcome: TransportOutcome) {
        state.withLock { $0 = .over }
        parts.completion(CallOutcome(outcome, parts.context?.call))
    }

    /// True if the request was stopped or has ended.
    private var isOver: Bool {
        state.withLock { state in
            if case .over = state { true } else { false }
        }
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

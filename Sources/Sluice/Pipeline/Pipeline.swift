import SluiceHTTP

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The order in which a request meets the steps, written here and nowhere else.
///
///     1  explicit data source      asked before any gate
///     2  gates                     those that hold nothing at once, then the others in the order given
///     3  request interceptors      in the order given, then plugins, then what the gates sign with
///     4  HTTP cache                sees the final headers
///     5  transport                 redirects come back to 4
///     6  response interceptors     in the order given, then plugins; then the gates get their passes back
///     7  validation, serialization
///
/// A retry, and a replay that a gate asks for, come back to 2. Step 1 is a ``SourcedRequest``, and comes here only for a request that
/// it does not answer. Equal requests at the same time may meet 2 to 6 as one: ``RequestSharing``.
///
/// A class, so that the steps of a request share the configuration without copying it.
final class Pipeline: Sendable {
    let baseURL: String
    let base: Result<RequestLocation, SluiceError>
    let configuration: APIClient.Configuration
    let steps: Steps
    /// The configuration's, which is too large to be looked into often.
    let time: any TimeSource
    /// What requests call themselves that say nothing else.
    let userAgent: String?
    /// Whether the client's policy ever retries.
    let retries: Bool
    /// How many extra attempts its hedging allows.
    let hedges: Int
    let retryBalance: Locked<RetryBalance>
    /// The configuration's, for all requests to share.
    let modelDecoder: SharedDecoder
    /// The configuration's, for the base URL's origin unless they have another.
    private let credentials: ChallengeCredentials?
    /// The configuration's.
    private let connection: ConnectionOptions
    /// The transport, where it can be driven without a task.
    private let callbackTransport: (any CallbackTransport)?
    /// Whether nothing but the transport has anything to do with a request that says nothing else itself.
    private let isBare: Bool
    /// Whether there is a cache, and whether requests that say nothing else look at what it keeps before they are sent.
    let hasCache: Bool
    let readsCache: Bool
    /// The HTTP cache of requests that say nothing else; nil where there is none.
    private let cache: ExchangeCache?
    private let fetches = SharedFetches()
    /// The configuration's, for requests that say nothing else.
    let sharing: RequestSharing
    /// What equal requests may join.
    let transfers = SharedTransfers()

    init(baseURL: String, configuration: APIClient.Configuration) {
        let steps = Steps(configuration)
        self.baseURL = baseURL
        base = Result { () throws(SluiceError) in try RequestLocation(parsing: baseURL) }
        self.configuration = configuration
        self.steps = steps
        time = configuration.time
        userAgent = configuration.headers[.userAgent]
        retries = configuration.retry.isActive
        hedges = configuration.hedging.maximumExtra
        retryBalance = Locked(RetryBalance(configuration.retryBudget))
        let origin = try? base.get().origin
        credentials = configuration.credentials.map { credentials in origin.map(credentials.bound) ?? credentials }
        connection = configuration.connection
        modelDecoder = SharedDecoder(configuration.modelDecoder)
        callbackTransport = configuration.transport as? any CallbackTransport
        isBare = steps.isEmpty && !retries && hedges == 0
        hasCache = configuration.cache != nil
        sharing = configuration.sharing
        readsCache = configuration.caching.source.reads
        cache = ExchangeCache(configuration, configuration.caching, fetches)
    }

    /// Runs steps 1 to 6 for a request that is built first, beginning on the calling thread.
    ///
    /// - Parameters:
    ///   - draft: What to build it of.
    ///   - meter: Where its transfers tell how far they are.
    ///   - caller: Runs those parts that may be a user's code.
    ///   - completion: Called once with the server's response, whatever its status, on any thread.
    /// - Returns: What stops it.
    func begin(
        _ draft: RequestDraft,
        _ meter: TransferMeter?,
        caller: @escaping CallerContext,
        completion: @escaping @Sendable (Landing) -> Void
    ) -> Flight<Landing>.Stop {
        let request: HTTPRequest
        do {
            request = try draft.build(for: self)
        } catch {
            steps.tellOfUnbuilt(draft, error, configuration)
            completion(Landing(.failure(error)))
            return {}
        }
        guard let key = SharedTransferKey(request, draft, self) else {
            return begin(request, draft, meter, caller, completion)
        }
        guard let deadline = Deadline.earliest(draft.options.deadline) else {
            return transfers.join(key, meter, time: time, caller: caller, completion: completion) {
                [self] meter, caller, land in
                begin(request, draft, meter, caller, land)
            }
        }
        // Others who share it may have more time.
        var unbounded = draft
        unbounded.options.deadline = nil
        return BoundedWait(completion).begin(within: deadline.timeLeft(on: time), on: time, for: request) {
            completion in
            transfers.join(key, meter, time: time, caller: caller, completion: completion) {
                [self, unbounded] meter, caller, land in
                begin(request, unbounded, meter, caller, land)
            }
        }
    }

    private func begin(
        _ request: HTTPRequest,
        _ draft: RequestDraft,
        _ meter: TransferMeter?,
        _ caller: @escaping CallerContext,
        _ completion: @escaping @Sendable (Landing) -> Void
    ) -> Flight<Landing>.Stop {
        let completion = request.method.isSafe ? completion : outdating(completion)
        let stub = stub(of: draft)
        let transport: (any CallbackTransport)? = stub ?? callbackTransport
        let transfer = transferContext(of: draft.options, request, meter)
        let cache = stub == nil ? cache(for: draft) : nil
        // A redirect to where no stub answers must not be followed by the transport.
        if isBare, stub?.isFinal != false, let transport, !draft.options.changesSteps, !request.body.needsPreparation,
            transfer.timeouts.total.map({ $0 > .zero }) ?? true
        {
            guard let cache else {
                return DirectExchange(self, request, transfer, nil, caller) { completion(Landing($0)) }
                    .begin(on: transport)
            }
            let lookup = CacheLookup(cache, request, transfer, steps)
            if let hit = lookup.immediateResponse(within: transfer.limits) {
                completion(Landing(.success(hit)))
                return {}
            }
        }
        let sending = sending(of: request, draft, transfer)
        if let transport, sending.mayBeImmediate, !request.body.needsPreparation, !sending.isOverdue {
            return begin(sending, on: transport, caller) { completion(Landing($0, sending)) }
        }
        let task = startedTask { [self] in completion(Landing(await outcome(of: sending), sending)) }
        return { task.cancel() }
    }

    /// What also notes, of a request that may have changed something, that it is over.
    private func outdating(_ completion: @escaping @Sendable (Landing) -> Void) -> @Sendable (Landing) -> Void {
        { [transfers] landing in
            transfers.outdate()
            completion(landing)
        }
    }

    /// Runs steps 1 to 6 for a request whose response's body does not go into memory.
    ///
    /// - Parameters:
    ///   - draft: What to build the request of.
    ///   - sink: What takes the body.
    ///   - meter: Where its transfers tell how far they are.
    /// - Returns: The server's response, without what the sink has taken. Whoever made of it what it is for says that it has
    ///   finished, by its sending.
    func landing(of draft: RequestDraft, into sink: any ResponseSink, _ meter: TransferMeter?) async -> Landing {
        let request: HTTPRequest
        do {
            request = try draft.build(for: self)
        } catch {
            steps.tellOfUnbuilt(draft, error, configuration)
            return Landing(.failure(error))
        }
        var transfer = transferContext(of: draft.options, request, meter)
        // The client's limits on the whole of a body are for those that are held in memory; the request's own hold.
        var timeouts = configuration.timeouts
        timeouts.total = nil
        var limits = configuration.limits
        limits.body = nil
        transfer.timeouts = draft.options.timeouts.applied(to: timeouts)
            .within(Deadline.earliest(draft.options.deadline), on: time)
        transfer.limits = draft.options.limits.applied(to: limits)
        let sending = sending(of: request, draft, transfer, into: sink)
        let outcome = await outcome(of: sending)
        if !request.method.isSafe { transfers.outdate() }
        return Landing(outcome, sending)
    }

    /// What a request is sent by whose response's body goes into memory.
    func sending(of request: HTTPRequest, _ draft: RequestDraft, _ meter: TransferMeter?) -> Sending {
        sending(of: request, draft, transferContext(of: draft.options, request, meter))
    }

    private func sending(
        of request: HTTPRequest,
        _ draft: RequestDraft,
        _ transfer: TransferContext,
        into sink: (any ResponseSink)? = nil
    ) -> Sending {
        let stub = stub(of: draft)
        // What a stub says is no server's word, and nobody else's answer.
        let isCacheable = stub == nil && sink?.isCacheable != false
        var draft = draft
        if stub != nil, stubMode(of: draft).skipsGates { draft.options.steps.skipsAllGates = true }
        return Sending(
            request,
            draft,
            transfer,
            steps.adding(draft.options.steps),
            by: APIClient(pipeline: self),
            on: stub ?? configuration.transport,
            cache: isCacheable ? cache(for: draft) : nil,
            into: sink
        )
    }

    /// The HTTP cache of a request.
    private func cache(for draft: RequestDraft) -> ExchangeCache? {
        guard hasCache, draft.options.caching.isChanged else { return cache }
        let caching = draft.options.caching.applied(to: configuration.caching)
        return ExchangeCache(configuration, caching, fetches)
    }

    /// Whether a request may look at what is kept before it is sent.
    func asksCache(_ draft: RequestDraft) -> Bool {
        hasCache && (readsCache || draft.options.caching.isChanged)
    }

    /// Whether a request is answered with a stub and not sent.
    func isStubbed(_ draft: RequestDraft) -> Bool {
        stubMode(of: draft).delay != nil && (draft.stub ?? configuration.stub) != nil
    }

    private func stubMode(of draft: RequestDraft) -> StubMode { draft.options.stubMode ?? configuration.stubMode }

    /// What answers a request in the transport's place.
    private func stub(of draft: RequestDraft) -> StubPlayer? {
        guard let delay = stubMode(of: draft).delay, let stub = draft.stub ?? configuration.stub else { return nil }
        return StubPlayer(stub, delay: delay, time: time)
    }

    /// Goes through the steps before the transport on this thread, and on in a task where one has to wait.
    private func begin(
        _ sending: Sending,
        on transport: any CallbackTransport,
        _ caller: @escaping CallerContext,
        _ completion: @escaping @Sendable (TransportOutcome) -> Void
    ) -> Flight<Landing>.Stop {
        deposit(sending)
        let context = sending.nextAttempt()
        var admission = Admission()
        guard admission.admitImmediately(context, sending.steps.immediateGates ?? [], sending) else {
            let task = startedTask { [self, admission] in
                completion(await outcome(of: sending, begun: (context, admission)))
            }
            return { task.cancel() }
        }
        var request = sending.request
        do {
            for adapter in sending.steps.requestAdapters { try adapter.adapt(&request, context: context) }
        } catch {
            let steps = DirectExchange.Steps(context: context, admission: admission)
            return DirectExchange(self, request, context.transfer, steps, caller, completion)
                .end(with: .failure(.interceptor(error, request)))
        }
        admission.sign(&request)
        let steps = DirectExchange.Steps(context: context, admission: admission)
        var transfer = context.transfer
        transfer.onInformational = sending.informationalNote(context.attempt)
        let exchange = DirectExchange(self, request, transfer, steps, caller, completion)
        let goOn: @Sendable () async -> Void = { [self, admission, request] in
            let first = await within(sending) { [self] in await sent(request, context, sending) }
            let end = AttemptEnd(outcome: first, isReplayed: await admission.giveBack(first, sending))
            completion(await outcome(of: sending, after: end))
        }
        if let cache = sending.cache {
            let lookup = CacheLookup(cache, request, context.transfer, sending.steps)
            return begin(lookup, exchange, steps, caller, otherwise: goOn)
        }
        if request.body.needsPreparation {
            let task = startedTask(goOn)
            return { task.cancel() }
        }
        sending.tell(.sending, context.attempt) { .sending(request) }
        return exchange.begin(on: transport)
    }

    /// Steps 2 to 6, once.
    func attempt(_ context: RequestContext, _ sending: Sending, _ admission: Admission) async -> AttemptEnd {
        var admission = admission
        var outcome: TransportOutcome
        do throws(SluiceError) {
            try await admission.admit(context, sending)
            outcome = await admitted(context, admission, sending)
        } catch {
            // Without a pass, but perhaps not without an answer.
            outcome = await sending.staleOutcome(after: error, context.attempt)
            if case .success = outcome { outcome = await intercepted(outcome, context, sending.steps) }
        }
        // Cancelled, but by no caller: gates learn that it took too long.
        if case .failure(let error) = outcome, error.isCancellation, sending.isOverdue {
            outcome = .failure(.totalTimedOut(sending))
        }
        return AttemptEnd(outcome: outcome, isReplayed: await admission.giveBack(outcome, sending))
    }

    private func admitted(
        _ context: RequestContext,
        _ admission: Admission,
        _ sending: Sending
    ) async -> TransportOutcome {
        do throws(SluiceError) {
            sending.enter(.requestInterceptors)
            var request = try await intercepted(context, sending)
            admission.sign(&request)
            for plugin in sending.steps.plugins { plugin.willSend(request, context: context) }
            return await sent(request, context, sending)
        } catch {
            return await intercepted(.failure(error), context, sending.steps)
        }
    }

    /// Steps 4 to 6 of a request that is ready to be sent.
    ///
    /// - Parameters:
    ///   - request: What to send.
    ///   - context: The attempt it belongs to.
    ///   - sending: The sending it belongs to.
    ///   - begun: The response to it, where it has been sent already.
    /// - Returns: The outcome, after response interceptors.
    func sent(
        _ request: HTTPRequest,
        _ context: RequestContext,
        _ sending: Sending,
        begun: TransportResponse? = nil
    ) async -> TransportOutcome {
        let exchange = Exchange(self, context.transfer, sending, context.attempt)
        sending.enter(.transport)
        let outcome = await exchange.outcome(of: request, begun: begun)
        if case .success(let response) = outcome, response.isUnasked {
            sending.tell(.cached, context.attempt) { .cached(response) }
        } else {
            sending.tell(.received, context.attempt) { .received(outcome) }
        }
        sending.enter(.responseInterceptors)
        for plugin in sending.steps.plugins { plugin.didReceive(outcome, context: context) }
        return await intercepted(outcome, context, sending.steps)
    }

    private func intercepted(_ context: RequestContext, _ sending: Sending) async throws(SluiceError) -> HTTPRequest {
        let steps = sending.steps
        var request = context.request
        sending.sink?.adapt(&request)
        do {
            for interceptor in steps.requestInterceptors {
                request = try await interceptor.intercept(request, context: context)
            }
            for plugin in steps.plugins { request = try await plugin.prepare(request, context: context) }
        } catch {
            throw .interceptor(error, request)
        }
        return request
    }

    private func intercepted(
        _ outcome: TransportOutcome,
        _ context: RequestContext,
        _ steps: Steps
    ) async -> TransportOutcome {
        var outcome = outcome
        for interceptor in steps.responseInterceptors {
            outcome = await interceptor.intercept(outcome, context: context)
        }
        for plugin in steps.plugins { outcome = await plugin.process(outcome, context: context) }
        return outcome
    }

    /// Step 7, its first half: judges the response.
    func validate(_ response: ServerResponse, _ draft: RequestDraft) throws(SluiceError) {
        do throws(SluiceError) {
            try draft.options.validation.applied(to: configuration.validation).check(response)
        } catch {
            throw error.with(request: response.request, response: response.head)
        }
    }

    /// Step 7: judges the response and makes the model.
    func model<Model>(
        from response: ServerResponse,
        _ draft: RequestDraft,
        _ serializer: any ResponseSerializer<Model>
    ) throws(SluiceError) -> Model {
        try validate(response, draft)
        do {
            return try draft.options.modelLocation.model(in: response, configuration.envelope, by: serializer)
        } catch {
            throw error.with(request: response.request, response: response.head)
        }
    }

    func transferContext(
        of options: RequestOptions,
        _ request: HTTPRequest,
        _ meter: TransferMeter?
    ) -> TransferContext {
        TransferContext(
            timeouts: options.timeouts.applied(to: configuration.timeouts)
                .within(Deadline.earliest(options.deadline), on: time),
            limits: options.limits.applied(to: configuration.limits),
            networkAccess: options.networkAccess,
            cookies: options.usesCookies ? configuration.cookies : nil,
            credentials: options.credentials.map { $0?.bound(to: request.origin) } ?? credentials,
            connection: connection,
            priority: options.priority,
            meter: meter
        )
    }

    /// Runs the work on this thread up to where it first waits, where the system can: that spares a hop.
    func startedTask(_ work: sending @escaping @isolated(any) () async -> Void) -> Task<Void, Never> {
        if #available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *) {
            Task.immediate(operation: work)
        } else {
            Task(operation: work)
        }
    }
}

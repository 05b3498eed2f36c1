import SluiceFoundation
import SluiceHTTP

/// The order of a request's steps: given the result of a step, the machine says which one comes next.
///
///     admit ──▶ interceptRequest ──▶ sign ──▶ cache or send ──▶ redirect ──▶ collect ──▶ report
///       ▲                                           ▲               │                       │
///       │                                           └───────────────┘                       ▼
///     again ◀────────────────── decide ◀─────────────── release ◀─────────────── interceptResponse
///                                 │
///                                 └──▶ end
///
/// A failed step skips to `report`, or to `interceptResponse` if nothing has been sent. A refusal by a gate skips to
/// `release`. Every attempt that reaches `admit` reaches `release` once. A gate that asks for a replay leads from `release` to `again`.
///
/// A pure value. ``SynchronousDriver`` performs the steps on the calling thread as long as none has to wait, and hands
/// the machine to ``AsynchronousDriver``, which performs any step with `await`.
struct CallMachine: Sendable, Equatable {
    /// A step, in the order in which a request that is sent once passes them.
    enum Step: Sendable, Comparable {
        /// Runs several attempts at once (``HedgingPolicy``), each one from `admit` to `release`.
        case race
        /// Obtains the permits of the gates.
        case admit
        /// Looks for a stale stored response to a request that no gate has admitted.
        case answerStale
        /// Runs the request interceptors, then the plugins.
        case interceptRequest
        /// Lets the gates sign the final request, and notifies the plugins.
        case sign
        /// Gets the response from the HTTP cache, which sends the request if it has to.
        case cache
        /// Sends the request through the transport, up to the head of the response.
        case send
        /// Follows the response if it is a redirect.
        case redirect
        /// Reads the body of the response.
        case collect
        /// Reports the outcome to observers and plugins.
        case report
        /// Runs the response interceptors, then the plugins.
        case interceptResponse
        /// Releases the permits of the gates, last one first.
        case release
        /// Decides if the request is sent again.
        case decide
        /// Begins another attempt, for a retry after a pause.
        case again(Repetition)
        /// The outcome is final.
        case end
    }

    /// The reason for another attempt.
    enum Repetition: Sendable, Comparable {
        /// A gate has removed the cause of the failure.
        case replay
        /// The sink resumes an interrupted body.
        case resume(after: Duration)
        /// The retry policy asks for it.
        case retry(after: Duration)
    }

    enum StepResult: Sendable, Equatable {
        /// The step succeeded, or had nothing to do.
        case done
        /// The request cannot go on, and no response is expected: a gate refused, an interceptor failed, a look-up or a
        /// pause was cancelled, or no stale response was found.
        case refused
        /// The cache or the transport failed.
        case failed
        /// The response is a redirect, which is followed.
        case redirected
        /// The request is sent again.
        case again(Repetition)
        /// The step succeeded, and bytes have been received since the last resumption.
        case progressed
    }

    /// The machine of a request without steps other than the transport and its redirects.
    static var transferOnly: CallMachine { CallMachine(next: .send) }

    /// The step to perform.
    private(set) var next: Step
    /// The number of attempts that the retry policy counts. A replay does not count, and progress of a sink resets it.
    private(set) var tries = 1
    private var hasCache = false
    private var isHedged = false
    private var isTransferOnly = true

    private init(next: Step) {
        self.next = next
    }

    /// Creates the machine of a request, at its first step.
    ///
    /// - Parameters:
    ///   - hasCache: True if the HTTP cache is asked before the transport.
    ///   - isHedged: True if several attempts may run at once.
    init(hasCache: Bool, isHedged: Bool = false) {
        self.init(next: isHedged ? .race : .admit)
        self.hasCache = hasCache
        self.isHedged = isHedged
        isTransferOnly = false
    }

    /// Moves to the step that follows the current one.
    ///
    /// - Parameter result: The result of the current step.
    mutating func advance(_ result: StepResult = .done) {
        switch (next, result) {
        case (.admit, .done): next = .interceptRequest
        case (.admit, _): next = .answerStale
        case (.answerStale, .done): next = .interceptResponse
        case (.answerStale, _): next = .release
        case (.interceptRequest, .done): next = .sign
        case (.interceptRequest, _): next = .interceptResponse
        case (.sign, _), (.redirect, .redirected): next = hasCache ? .cache : .send
        case (.cache, .refused), (.send, .refused): next = .interceptResponse
        case (.cache, .failed), (.send, .failed), (.redirect, .failed): next = .report
        case (.cache, _), (.send, _): next = .redirect
        case (.redirect, _): next = .collect
        case (.collect, _): next = .report
        case (.report, _): next = .interceptResponse
        case (.interceptResponse, _): next = .release
        case (.race, .again(let repetition)), (.release, .again(let repetition)), (.decide, .again(let repetition)):
            next = .again(repetition)
        case (.race, _), (.release, _): next = .decide
        case (.decide, _), (.again, .refused), (.end, _): next = .end
        case (.again(let repetition), _):
            if case .retry = repetition { tries += 1 }
            if result == .progressed { tries = 1 }
            next = isHedged ? .race : .admit
        }
        if isTransferOnly, next > .collect { next = .end }
    }

    /// Moves to the release of the permits, for an attempt whose time is up.
    mutating func skipToRelease() { next = .release }
}

/// Passes requests through their steps. ``CallMachine`` defines their order; the numbers group them.
///
///     1  explicit data source      asked before any gate
///     2  gates                     those with `reservesResource` false concurrently, then the others in order
///     3  request interceptors      in the order given, then plugins, then the gates sign
///     4  HTTP cache                receives the final headers
///     5  transport                 redirects return to 4
///     6  response interceptors     in the order given, then plugins; then the permits of the gates are released
///     7  validation, serialization
///
/// A retry returns to step 2, and so does a replay that a gate asks for. Step 1 is a ``DataSourceRequest``, which
/// passes a request on to the pipeline only if it cannot answer it. Equal requests that run at the same time may share
/// steps 2 to 6: ``RequestSharing``.
///
/// A class, so that the steps of a request share the configuration without copying it.
final class Pipeline: Sendable {
    let baseURL: String
    let base: Result<RequestLocation, SluiceError>
    let configuration: APIClient.Configuration
    let steps: Steps
    /// The configuration's clock. Copied because the configuration is too large to be read often.
    let clock: any SluiceClock
    /// The default `User-Agent` of requests.
    let userAgent: String?
    /// True if the client's retry policy allows retries.
    let retries: Bool
    /// The number of extra attempts that the client's hedging policy allows.
    let hedges: Int
    let retryBalance: Locked<RetryBalance>
    /// The configuration's model decoder, shared by all requests.
    let modelDecoder: SharedDecoder
    /// The configuration's credentials, limited to the origin of the base URL unless they name another.
    private let credentials: ChallengeCredentials?
    /// The configuration's connection options.
    private let connection: ConnectionOptions
    /// The transport, if it can be used without a task.
    private let callbackTransport: (any CallbackTransport)?
    /// True if no step other than the transport applies to requests that set no options.
    private let isBare: Bool
    /// True if no redirect's body is needed, for requests that do not set the option.
    private let discardsRedirectBodies: Bool
    /// True if the client has a stub.
    private let hasStub: Bool
    /// The client's stub, for requests that set neither a stub nor a mode; nil if it answers none of these.
    private let player: StubPlayer?
    /// True if the client has a cache.
    let hasCache: Bool
    /// True if requests that set no caching options read the cache before they are sent.
    let readsCache: Bool
    /// True if transports, which use the system's clock, measure the same total time as the client.
    let isSystemClock: Bool
    /// The HTTP cache for requests that do not change the caching options; nil if there is none.
    private let cache: HTTPCache?
    let coalescer = RequestCoalescer()
    /// The configuration's sharing option, for requests that do not set one.
    let sharing: RequestSharing
    /// The transfers that equal requests can join.
    let transfers = SharedTransfers()
    /// The requests that have begun and not ended.
    let running = RunningRequests()

    init(baseURL: String, configuration: APIClient.Configuration) {
        let steps = Steps(configuration)
        self.baseURL = baseURL
        base = Result { () throws(SluiceError) in try RequestLocation(parsing: baseURL, as: "base URL") }
        var configuration = configuration
        // The program may change its encoder for another client.
        configuration.encoder = configuration.encoder.copied
        // Interceptors and gates append to copies of these headers.
        if !steps.isEmpty { configuration.headers.reserveRoom() }
        self.configuration = configuration
        self.steps = steps
        clock = configuration.clock
        isSystemClock = clock is SystemClock
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
        discardsRedirectBodies = configuration.redirects.discardsBodies
        hasStub = configuration.stub != nil
        player = configuration.stub.flatMap { [clock = configuration.clock] stub in
            configuration.stubMode.delay.map { StubPlayer(stub, delay: $0, clock: clock) }
        }
        hasCache = configuration.cache != nil
        sharing = configuration.sharing
        readsCache = configuration.caching.source.usesStore
        cache = HTTPCache(configuration, configuration.caching, coalescer)
    }

    /// Builds a request and runs steps 1 to 6 for it, starting on the calling thread.
    ///
    /// - Parameters:
    ///   - draft: The draft to build the request from.
    ///   - meter: Records the progress of the transfers.
    ///   - caller: Runs the parts that may be user code.
    ///   - completion: Called once with the server's response, whatever its status, on any thread.
    /// - Returns: An action that stops the request.
    func begin(
        _ draft: RequestDraft,
        _ meter: TransferMeter?,
        caller: @escaping CallerContext,
        completion: @escaping @Sendable (CallOutcome) -> Void
    ) -> SingleFlight<CallOutcome>.Stop {
        let request: HTTPRequest
        do throws(SluiceError) {
            request = try draft.build(for: self)
            if !hasCache, draft.options.caching.isChanged || readsCache, isCacheOnly(draft) {
                throw SluiceError.cacheMiss(request, "The client has no cache for the request")
            }
        } catch {
            steps.notifyUnsent(draft, nil, error, configuration)
            completion(CallOutcome(.failure(error)))
            return {}
        }
        guard let key = SharedTransferKey(request, draft, self) else {
            return start(request, draft, meter, caller, completion)
        }
        guard let deadline = Deadline.earliest(draft.options.deadline) else {
            return transfers.join(key, meter, clock: clock, caller: caller, completion: completion) {
                [self] meter, caller, complete in
                start(request, draft, meter, caller, isShared: true, complete)
            }
        }
        let timeLeft = deadline.timeLeft(on: clock)
        // Fails without a transfer.
        guard timeLeft > .zero else { return start(request, draft, meter, caller, completion) }
        // Requests that share the transfer may have more time.
        var unbounded = draft
        unbounded.options.deadline = nil
        return BoundedWait(completion).begin(within: timeLeft, on: clock, for: request) {
            completion in
            transfers.join(key, meter, clock: clock, caller: caller, completion: completion) {
                [self, unbounded] meter, caller, complete in
                start(request, unbounded, meter, caller, isShared: true, complete)
            }
        }
    }

    /// Starts a built request on the calling thread: in the cache, with a synchronous driver or in a task.
    private func start(
        _ request: HTTPRequest,
        _ draft: RequestDraft,
        _ meter: TransferMeter?,
        _ caller: @escaping CallerContext,
        isShared: Bool = false,
        _ completion: @escaping @Sendable (CallOutcome) -> Void
    ) -> SingleFlight<CallOutcome>.Stop {
        // An unsafe request may change data on the server, so later requests do not join the transfers in progress at its end.
        let completion =
            request.method.isSafe
            ? completion
            : { @Sendable [transfers] callOutcome in
                transfers.removeAll()
                completion(callOutcome)
            }
        let stub = stub(of: draft)
        let transport: (any CallbackTransport)? = stub ?? callbackTransport
        let timeouts = timeouts(of: draft, request)
        let cache = stub == nil ? cache(for: draft) : nil
        // A stub that may redirect is excluded: this path would send the redirected request through the client's
        // transport.
        let isDirect =
            isBare && stub?.isFinal != false && transport != nil && !draft.options.changesSteps
            && !request.body.needsPreparation && timeouts.total.map { $0 > .zero && isSystemClock } ?? true
        // Before the transfer context is created, which is large.
        if isDirect, let cache, let hit = hit(in: cache, request, draft) {
            completion(CallOutcome(.success(hit)))
            return {}
        }
        let transfer = transferContext(of: draft, request, meter, within: timeouts)
        if isDirect, cache == nil, let transport {
            return SynchronousDriver(self, request, consume transfer, caller, completion).begin(on: transport)
        }
        let call = call(of: request, draft, consume transfer, stub: stub)
        if let transport, call.canRunSynchronously, !request.body.needsPreparation, !call.isOverdue {
            let stop = SynchronousDriver.begin(call, on: transport, self, caller, completion)
            return isShared ? call.recordingStop(stop) : stop
        }
        let task = startedTask { [self] in completion(CallOutcome(await outcome(of: call), call)) }
        if isShared { return call.recordingStop { task.cancel() } }
        return { task.cancel() }
    }

    /// Runs steps 1 to 6 for a request whose response body is not collected in memory.
    ///
    /// - Parameters:
    ///   - draft: The draft to build the request from.
    ///   - sink: Receives the body.
    ///   - meter: Records the progress of the transfers.
    /// - Returns: The server's response, without the bytes the sink has taken. The caller must call `finish` on its
    ///   `call` once the final result is made.
    func callOutcome(of draft: RequestDraft, into sink: any ResponseSink, _ meter: TransferMeter?) async -> CallOutcome
    {
        let request: HTTPRequest
        do throws(SluiceError) {
            request = try draft.build(for: self)
            if isCacheOnly(draft) {
                throw SluiceError.cacheMiss(request, "Streams and downloads have no stored responses")
            }
        } catch {
            steps.notifyUnsent(draft, nil, error, configuration)
            return CallOutcome(.failure(error))
        }
        var transfer = transferContext(of: draft, request, meter)
        // The client's limits on a whole body apply to bodies held in memory. The request's own limits always apply.
        var timeouts = configuration.timeouts
        timeouts.total = nil
        var limits = configuration.limits
        limits.body = nil
        transfer.timeouts = draft.options.timeouts.applied(to: timeouts).changed(by: request)
            .within(Deadline.earliest(draft.options.deadline), on: clock)
        transfer.limits = draft.options.limits.applied(to: limits)
        let call = call(of: request, draft, consume transfer, stub: stub(of: draft), into: sink)
        let outcome = await outcome(of: call)
        if !request.method.isSafe { transfers.removeAll() }
        return CallOutcome(outcome, call)
    }

    /// Returns the state for sending a request whose response body is collected in memory.
    func call(of request: HTTPRequest, _ draft: RequestDraft, _ meter: TransferMeter?) -> Call {
        call(of: request, draft, transferContext(of: draft, request, meter), stub: stub(of: draft))
    }

    private func call(
        of request: HTTPRequest,
        _ draft: RequestDraft,
        _ transfer: consuming TransferContext,
        stub: StubPlayer?,
        into sink: (any ResponseSink)? = nil
    ) -> Call {
        // A stubbed response does not come from the server and must not be stored for other requests. The response to an
        // unsafe request invalidates stored ones, whatever receives its body.
        let isCacheable = stub == nil && (sink?.isCacheable != false || !request.method.isSafe)
        let steps = steps.adding(draft.options.steps)
        transfer.recordsRequest = steps.recordsRequests
        let cache = isCacheable ? cache(for: draft) : nil
        // A later request that follows no redirects may receive a stored one, and a transport of the user's own may change it.
        transfer.decodesRedirects =
            cache != nil || stub != nil || callbackTransport == nil
            || !(draft.options.redirects?.discardsBodies ?? discardsRedirectBodies)
        return Call(
            request,
            stub != nil && stubMode(of: draft).skipsGates ? draft.skippingAllGates : draft,
            consume transfer,
            steps,
            by: APIClient(pipeline: self),
            on: stub ?? configuration.transport,
            cache: cache,
            into: sink
        )
    }

    /// Returns the HTTP cache for a request; nil if there is none.
    private func cache(for draft: RequestDraft) -> HTTPCache? {
        guard hasCache, draft.options.caching.isChanged else { return cache }
        let caching = draft.options.caching.applied(to: configuration.caching)
        return HTTPCache(configuration, caching, coalescer)
    }

    /// Returns true if a request may be answered from the cache before it is sent.
    func mayReadCache(_ draft: RequestDraft) -> Bool {
        hasCache && (readsCache || draft.options.caching.isChanged)
    }

    /// Returns true if a request must not be sent.
    private func isCacheOnly(_ draft: RequestDraft) -> Bool {
        var defaults = configuration.caching
        if !draft.method.isSafe { defaults.source = .server }
        return draft.options.caching.applied(to: defaults).source.isCacheOnly && !isStubbed(draft)
    }

    /// Returns true if a request is answered by a stub and not sent.
    func isStubbed(_ draft: RequestDraft) -> Bool {
        hasStub(draft) && stubMode(of: draft).delay != nil
    }

    private func hasStub(_ draft: RequestDraft) -> Bool { hasStub || draft.options.stub != nil }

    private func stubMode(of draft: RequestDraft) -> StubMode { draft.options.stubMode ?? configuration.stubMode }

    /// Returns the stub that answers a request in place of the transport; nil if there is none.
    private func stub(of draft: RequestDraft) -> StubPlayer? {
        if draft.options.stub == nil, draft.options.stubMode == nil { return player }
        guard let delay = stubMode(of: draft).delay, let stub = draft.options.stub ?? configuration.stub else {
            return nil
        }
        return StubPlayer(stub, delay: delay, clock: clock)
    }

    /// Runs the first half of step 7: validates the response.
    func validate(_ response: ServerResponse, _ draft: RequestDraft) throws(SluiceError) {
        do throws(SluiceError) {
            try draft.options.validation.applied(to: configuration.validation).check(response)
        } catch {
            throw error.with(request: response.request, response: response.head)
        }
    }

    /// Runs step 7: validates the response and decodes the model.
    func model<Model>(
        from response: ServerResponse,
        _ draft: RequestDraft,
        _ serializer: any ResponseSerializer<Model>
    ) throws(SluiceError) -> Model {
        try validate(response, draft)
        do {
            return try draft.modelLocation.model(in: response, configuration.envelope, by: serializer)
        } catch {
            // A serializer of the user need not set the step.
            let step = error.step == .transport ? SluiceError.Step.serialization : nil
            throw error.with(step: step, request: response.request, response: response.head)
        }
    }

    // These functions take the draft, because the options alone are large and would be copied.

    func transferContext(
        of draft: RequestDraft,
        _ request: HTTPRequest,
        _ meter: TransferMeter?,
        within timeouts: Timeouts? = nil
    ) -> TransferContext {
        var context = TransferContext(
            timeouts: timeouts ?? self.timeouts(of: draft, request),
            limits: draft.options.limits.applied(to: configuration.limits),
            networkAccess: draft.options.networkAccess,
            cookies: cookies(for: draft),
            credentials: credentials(for: request, draft),
            connection: connection,
            priority: draft.options.priority,
            meter: meter
        )
        context.isRepeatable = draft.options.isIdempotent != false
        return context
    }

    private func timeouts(of draft: RequestDraft, _ request: HTTPRequest) -> Timeouts {
        draft.options.timeouts.applied(to: configuration.timeouts).changed(by: request)
            .within(Deadline.earliest(draft.options.deadline), on: clock)
    }

    private func cookies(for draft: RequestDraft) -> CookieJar? {
        draft.options.usesCookies ? configuration.cookies : nil
    }

    private func credentials(for request: HTTPRequest, _ draft: RequestDraft) -> ChallengeCredentials? {
        draft.options.credentials.map { $0?.bound(to: request.origin) } ?? credentials
    }

    /// Returns the fresh response to a request in memory, if there is one.
    private func hit(in cache: HTTPCache, _ request: HTTPRequest, _ draft: RequestDraft) -> ServerResponse? {
        let lookup = CacheLookup(
            cache,
            request,
            credentials: credentials(for: request, draft),
            cookies: cookies(for: draft),
            steps
        )
        return lookup.immediateResponse(within: draft.options.limits.applied(to: configuration.limits))
    }

    /// Creates a task that runs on this thread up to its first suspension, where the system supports it. This saves a
    /// thread hop.
    func startedTask(_ work: sending @escaping @isolated(any) () async -> Void) -> Task<Void, Never> {
        if #available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *) {
            Task.immediate(operation: work)
        } else {
            Task(operation: work)
        }
    }
}

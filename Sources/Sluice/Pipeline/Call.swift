import SluiceFoundation
import SluiceHTTP

/// The state that all attempts of one request share.
final class Call: Sendable {
    private struct State {
        var attempts = 0
        var replayed: Set<Int> = []
        /// The number of attempts that got further with the response than all before them.
        var progress = 0
        /// The first value stored by a step, apart from the others because there is rarely more than one.
        var firstValue: (key: String, value: any Sendable)?
        var otherValues: [String: any Sendable] = [:]
        /// The stored responses that a look-up has just found, and their key.
        var found: FoundEntries?
        var isFinished = false
        var stages = CallStages()
        /// The outcome of the last attempt that was followed by another.
        var lastOutcome: TransportOutcome?
        /// True if the last attempt is a replay for a gate.
        var isReplay = false
        /// True if the last caller that waited for a shared transfer left because its deadline had passed.
        var isAbandoned = false
        /// The request that the latest redirect of the attempt led to.
        var redirected: HTTPRequest?
        /// The last request that was sent; nil if no response interceptor can replace its outcome.
        var sent: SentRequest?
        /// The requests, by their attempts, that servers have redirected first.
        var redirectedRequests: [Int: HTTPRequest] = [:]
        /// True if a hedged request was sent with an unsafe method.
        var isUnsafe = false
        /// True if a server has answered a request that is not idempotent with a redirect to the result.
        var hasTakenEffect = false
        var hasNotifiedPlugins = false
        /// The trace of the request; nil until an interceptor begins it.
        var trace: CallTrace?

        func value(_ key: String) -> (any Sendable)? {
            if let firstValue, firstValue.key == key { return firstValue.value }
            return otherValues[key]
        }

        mutating func store(_ value: any Sendable, _ key: String) {
            if firstValue == nil || firstValue?.key == key {
                firstValue = (key, value)
            } else {
                otherValues[key] = value
            }
        }
    }

    let client: APIClient
    let draft: RequestDraft
    let request: HTTPRequest
    /// The request as it was built, if ``request`` already has the changes of interceptors and gates; nil otherwise.
    private let original: HTTPRequest?
    let transfer: TransferContext
    let transport: any Transport
    let steps: Steps
    /// The HTTP cache; nil if the request does not use it.
    let cache: HTTPCache?
    /// Receives the response's body; nil if it is collected in memory.
    let sink: (any ResponseSink)?
    let id = RequestID.next()
    let began: ContinuousClock.Instant
    /// The end of the total time, which covers gates, redirects and all attempts.
    let deadline: ContinuousClock.Instant?
    /// The bypasses of the gates on whose behalf the request is sent.
    let bypasses: [GateBypass]
    /// The work of interceptors that sends the request; nil for none.
    private let nesting: InterceptorNesting?
    /// The host and port; nil if there are no gates.
    private let knownHost: String?
    private let mayBypassGates: Bool
    private let subject: ObservedRequest.Subject?
    private let state = Locked(State())

    init(
        _ request: HTTPRequest,
        _ draft: consuming RequestDraft,
        _ transfer: consuming TransferContext,
        _ steps: Steps,
        by client: APIClient,
        on transport: any Transport,
        cache: HTTPCache? = nil,
        into sink: (any ResponseSink)? = nil,
        insteadOf original: HTTPRequest? = nil,
        causedBy cause: RequestID? = nil
    ) {
        self.sink = sink
        self.cache = cache
        self.transport = transport
        self.client = client
        self.draft = consume draft
        self.request = request
        self.original = original
        self.transfer = consume transfer
        self.steps = steps
        let pipeline = client.pipeline
        began = pipeline.clock.now
        let (began, ownDeadline) = (began, self.draft.options.deadline)
        deadline = self.transfer.timeouts.total.map { total in
            // The time-outs of an interceptor's own requests end at the same moment.
            let end = began + total.bounded
            return Deadline.earliest(ownDeadline).map { min(end, $0.instant) } ?? end
        }
        bypasses = steps.gates.isEmpty ? [] : GateBypass.current
        nesting = steps.gates.isEmpty ? nil : InterceptorNesting.innermostActive
        knownHost = steps.gates.isEmpty ? nil : request.hostAndPort
        mayBypassGates = !bypasses.isEmpty || nesting != nil || self.draft.options.steps.skipsGates
        subject =
            steps.observers.isEmpty
            ? nil
            : ObservedRequest.Subject(
                id: id,
                draft: self.draft,
                began: began,
                beganDate: pipeline.clock.date,
                secretHeaders: steps.secretHeaders,
                observers: steps.observers,
                cause: cause
            )
        notify(.began, 0) { .began(request) }
    }

    /// Returns the state of a background revalidation of the request, which is a request of its own for gates and
    /// observers; nil if there are none.
    func revalidation(_ sent: HTTPRequest, _ transfer: TransferContext) -> Call? {
        if steps.observers.isEmpty, steps.gates.isEmpty { return nil }
        let steps = steps.ofRevalidation
        var draft = draft
        draft.options.deadline = nil
        return Deadline.$current.withValue(nil) {
            Call(
                sent,
                draft,
                transfer,
                steps,
                by: client,
                on: transport,
                cache: cache,
                insteadOf: request,
                causedBy: id
            )
        }
    }

    deinit {
        // Reports the end of a request that no caller waited for. Has no effect if the end has been reported.
        finish(.failure(.cancelled))
    }

    /// The request as it was given to the pipeline.
    var requestAsBuilt: HTTPRequest { original ?? request }

    /// The request's own retry policy, or the client's.
    var retry: RetryPolicy { draft.options.retry ?? client.pipeline.configuration.retry }
    /// The request's own hedging policy, or the client's.
    var hedging: HedgingPolicy { draft.options.hedging ?? client.pipeline.configuration.hedging }

    /// True if a retry policy may ask for another attempt.
    var mayBeRetried: Bool { draft.options.retry?.isActive ?? client.pipeline.retries }

    /// Checks the request's own option, or its method.
    ///
    /// - Parameter sent: The request as it was sent. An interceptor or a redirect may have changed its method.
    /// - Returns: True if the request may be sent again.
    func isIdempotent(sentAs sent: SentRequest?) -> Bool {
        draft.options.isIdempotent
            ?? (request.method.isIdempotent && sent?.isIdempotent != false && !hasTakenEffect)
    }

    /// Returns the request that an outcome belongs to, as it was sent. Response interceptors may have replaced the outcome.
    func sentRequest(of outcome: TransportOutcome) -> SentRequest? {
        state.withLock { $0.sent } ?? sent(for: outcome)
    }

    /// Keeps the request of an outcome, before response interceptors can replace the outcome.
    func keepSentRequest(of outcome: TransportOutcome) {
        guard mayBeRetried || sink != nil, let sent = sent(for: outcome) else { return }
        state.withLock { $0.sent = sent }
    }

    /// Returns the request of an outcome of the transport.
    private func sent(for outcome: TransportOutcome) -> SentRequest? {
        guard case .failure(let error) = outcome, error.isWithoutConnection else {
            return outcome.request.map { SentRequest($0) }
        }
        // Other transports than those of Sluice may report this failure after they have sent the request. A server that redirected the
        // request has received it.
        let isCertain = transport is any CallbackTransport
        return state.withLock { state in
            let wasReceivable = !isCertain || state.redirected != nil
            return SentRequest(error.request ?? state.redirected ?? request, wasReceivable: wasReceivable)
        }
    }

    /// True if a server has answered a request that is not idempotent with a redirect that changes the method, usually to
    /// its result (RFC 9110 §15.4.4). Another attempt would send that request again.
    var hasTakenEffect: Bool { state.withLock { $0.hasTakenEffect } }

    /// True if a second attempt may run in parallel with the first.
    var isHedged: Bool {
        (draft.options.hedging?.maximumExtra ?? client.pipeline.hedges) > 0 && request.method.isSafe
            && draft.options.isIdempotent != false && request.body.isReplayable && sink == nil
    }

    /// True if no attempt was sent with an unsafe method, which an interceptor can set.
    var isSentSafely: Bool { !state.withLock { $0.isUnsafe } }

    /// Records the method of a request that is sent.
    func recordMethod(_ method: HTTPMethod) {
        if isHedged, !method.isSafe { state.withLock { $0.isUnsafe = true } }
    }

    /// True if the first attempt can run without a task.
    var canRunSynchronously: Bool {
        steps.immediateGates != nil && !isHedged && (deadline == nil || client.pipeline.isSystemClock)
    }

    /// True if the total time is up.
    var isOverdue: Bool { deadline.map { client.pipeline.clock.now >= $0 } ?? false }

    /// True if a cancellation is due to the total time or to the deadlines of the callers.
    var hasTimedOut: Bool { isOverdue || state.withLock { $0.isAbandoned } }

    /// Returns an action that stops the request and records if the deadline of the last caller is the reason.
    func recordingStop(_ stop: @escaping SingleFlight<CallOutcome>.Stop) -> SingleFlight<CallOutcome>.Stop {
        { [self] in
            if BoundedWait.isDeadlineOver { state.withLock { $0.isAbandoned = true } }
            stop()
        }
    }

    /// The stage that the request has reached. Recorded only if the request has a deadline.
    var stage: CallStage { state.withLock { $0.stages.current } }

    func beginStage(_ stage: CallStage) {
        // Only the error of a time-out contains the stage.
        if deadline != nil { state.withLock { $0.stages.beginStage(stage) } }
    }

    /// Records the head of a response whose body has not arrived yet. Only the error of a time-out contains it.
    func received(_ head: HTTPResponse) {
        if deadline != nil { state.withLock { $0.stages.head = head } }
    }

    /// The head of the response at the current stage; nil if none has arrived.
    var receivedHead: HTTPResponse? { state.withLock { $0.stages.head } }

    func leave(gate: String) {
        if deadline != nil { state.withLock { $0.stages.leave(gate: gate) } }
    }

    /// Returns the request of an attempt that a server has redirected; nil if there was no redirect.
    func redirectedRequest(in attempt: Int) -> HTTPRequest? {
        state.withLock { $0.redirectedRequests[attempt] }
    }

    /// The request that a time-out concerns: the one that the latest redirect of the attempt led to, or the original.
    var latestRequest: HTTPRequest { state.withLock { $0.redirected } ?? request }

    /// Records a redirect that is followed.
    func recordRedirect(of request: HTTPRequest, to next: HTTPRequest, in attempt: Int) {
        let isRepeatableByKey = draft.options.isIdempotent != false && request.headers.contains("Idempotency-Key")
        state.withLock { state in
            state.redirected = next
            state.stages.head = nil
            if state.redirectedRequests[attempt] == nil { state.redirectedRequests[attempt] = request }
            if !request.method.isIdempotent, next.method != request.method, !isRepeatableByKey {
                state.hasTakenEffect = true
            }
        }
    }

    /// The outcome of the previous attempt; nil if there was none.
    var lastOutcome: TransportOutcome? { state.withLock { $0.lastOutcome } }

    /// Returns the final outcome of the request, after that of its last attempt.
    ///
    /// The error of the previous attempt is added to a time-out, because it may have caused the delay. If a gate permits no
    /// retry, the outcome of the previous attempt stands, because it says why the request failed.
    func finalOutcome(after outcome: TransportOutcome) -> TransportOutcome {
        guard case .failure(let error) = outcome else { return outcome }
        let (last, isReplay) = state.withLock { ($0.lastOutcome, $0.isReplay) }
        let isRefused = error.step == .gate && [.circuitOpen, .rateLimited, .queueFull].contains(error.code)
        if let last, isRefused, !isReplay { return last }
        guard error.code == .timedOut, error.underlyingError == nil else { return outcome }
        // The transport only knows the rest of the time, or the limit of the attempt.
        var reason = error.reason
        if error.step == .transport {
            if isOverdue, let total = transfer.timeouts.total {
                reason = "The request exceeded the total time-out of \(total.textRoundedUp)."
            } else if !isOverdue, sink == nil, let limit = retry.attemptTimeout {
                reason = "The attempt exceeded its time limit of \(limit.textRoundedUp)."
            }
        }
        if last == nil, reason == error.reason { return outcome }
        return .failure(
            SluiceError(
                error.code,
                reason,
                step: error.step,
                request: error.request,
                response: error.response,
                underlyingError: last?.apparentFailure
            )
        )
    }

    /// Records the outcome of an attempt that is followed by another.
    ///
    /// - Parameters:
    ///   - outcome: The outcome.
    ///   - isReplayed: True if a gate has removed the cause of the failure.
    func recordOutcome(_ outcome: TransportOutcome, isReplayed: Bool) {
        beginStage(.pause)
        state.withLock { state in
            state.lastOutcome = outcome
            state.isReplay = isReplayed
        }
    }

    /// The number of attempts so far.
    var attempts: Int { state.withLock { $0.attempts } }

    func nextAttempt() -> RequestContext {
        let number = state.withLock { state in
            state.attempts += 1
            state.redirected = nil
            state.sent = nil
            return state.attempts
        }
        guard number > 1 || mayBeRetried else {
            return RequestContext(attempt: number, within: transfer.timeouts.total, of: self)
        }
        let left = deadline.map { max(.zero, client.pipeline.clock.now.duration(to: $0)) }
        // The attempt of a streamed body ends with the response head, so its limit does not apply to the body.
        let limit = sink == nil ? retry.attemptTimeout : nil
        return RequestContext(attempt: number, within: [left, limit].compactMap(\.self).min(), of: self)
    }

    /// Returns true if the request bypasses this gate.
    func skips(_ gate: any Gate) -> Bool {
        mayBypassGates
            && (draft.options.steps.skips(gate) || bypasses.contains { $0.covers(gate, of: client.pipeline) }
                || nesting?.holdsSlot(of: gate) == true)
    }

    /// The host and port that gates limit requests by.
    var host: String { knownHost ?? request.hostAndPort }

    /// Returns true if a gate may ask to send the request again: once per gate, and only if the body can be replayed.
    func mayReplay(for gate: Int) -> Bool {
        request.body.isReplayable && state.withLock { $0.replayed.insert(gate).inserted }
    }

    /// Returns the cache for a request of the call; nil if it does not use one. A download uses the cache only to
    /// invalidate stored responses, and not for the GET that a redirected POST leads to.
    func cache(for request: HTTPRequest) -> HTTPCache? {
        sink?.isCacheable == false && request.method.isSafe ? nil : cache
    }

    /// Records that an attempt got further than all before it, for which the server has accepted the request. In a long
    /// download, gates may then send it again once more.
    func recordProgress() {
        state.withLock { state in
            state.progress += 1
            state.replayed.removeAll()
        }
    }

    /// The number of attempts that got further with the response than all before them.
    var progress: Int { state.withLock { $0.progress } }

    /// Records stored responses that a look-up has found, for the attempt that continues with them.
    func recordFound(_ found: FoundEntries) {
        state.withLock { $0.found = found }
    }

    /// Returns the recorded stored responses once.
    func takeFound(for key: CacheKey) -> [CacheEntry]? {
        state.withLock { state in
            guard let found = state.found.take(), found.key == key else { return nil }
            return found.entries
        }
    }

    /// The ticket of the fetch that continues with the recorded stored responses; nil if there are none.
    var foundTicket: FetchTicket? { state.withLock { $0.found?.ticket } }

    /// Returns a value that is created once for all attempts.
    func value<Value: Sendable>(forKey key: String, default makeDefault: () -> Value) -> Value {
        if let value = state.withLock({ $0.value(key) as? Value }) { return value }
        // Outside the lock, because the closure may ask for another value.
        let made = makeDefault()
        return state.withLock { state in
            if let value = state.value(key) as? Value { return value }
            state.store(made, key)
            return made
        }
    }

    /// Returns the trace of all attempts, which the first of them begins.
    func trace(_ begin: () -> CallTrace) -> CallTrace {
        if let trace = state.withLock({ $0.trace }) { return trace }
        let begun = begin()
        return state.withLock { state in
            let trace = state.trace ?? begun
            state.trace = trace
            return trace
        }
    }

    /// Posts an event to the observers interested in its kind. Nothing is posted after the last event.
    @inline(__always)
    func notify(_ kind: RequestEvent.Kinds, _ attempt: Int, _ event: () -> RequestEvent) {
        // Checked first without the event, which takes longer to create than to drop.
        if isObserved(kind) { post(event(), kind, attempt) }
    }

    /// Returns true if an observer is interested in a kind of events and the last event has not been posted.
    @inline(never)
    private func isObserved(_ kind: RequestEvent.Kinds) -> Bool {
        subject != nil && !steps.interests.isDisjoint(with: kind) && !state.withLock { $0.isFinished }
    }

    @inline(never)
    private func post(_ event: RequestEvent, _ kind: RequestEvent.Kinds, _ attempt: Int) {
        guard let subject else { return }
        let instant = client.pipeline.clock.now
        let request = ObservedRequest(subject, attempt: attempt, instant: instant)
        var message: ObserverMailbox.Message?
        // Under the lock, so that events keep their order and none follows the last.
        state.withLock { state in
            if state.isFinished { return }
            if kind == .finished { state.isFinished = true }
            for observer in steps.observers where !observer.interests.isDisjoint(with: kind) {
                observer.post(event, request, &message)
            }
        }
    }

    /// Reports the outcome of an attempt to observers.
    func report(_ outcome: TransportOutcome, _ attempt: Int) {
        if case .success(let response) = outcome, response.isServedFromCache {
            notify(.cached, attempt) { .cached(response) }
        } else {
            notify(.received, attempt) { .received(outcome) }
        }
    }

    /// Returns a callback that reports the informational responses of an attempt to observers; nil if none is
    /// interested.
    func informationalHandler(_ attempt: Int) -> (@Sendable (HTTPResponse) -> Void)? {
        guard steps.interests.contains(.informational) else { return nil }
        return { [self] head in notify(.informational, attempt) { .informational(head) } }
    }

    /// Reports the end of a request for which no caller waits any longer.
    func finish(unread outcome: TransportOutcome) {
        finish(.failure(failure(unread: outcome)))
    }

    /// Notifies the plugins of the end of a request that no caller waits for.
    func notifyPlugins(unread outcome: TransportOutcome) {
        notifyPlugins(Result<Void, SluiceError>.failure(failure(unread: outcome)))
    }

    private func failure(unread outcome: TransportOutcome) -> SluiceError {
        if case .failure(let error) = outcome, hasTimedOut { error } else { .cancelled }
    }

    func finish(_ outcome: @autoclosure () -> TransportOutcome) {
        notify(.finished, 0) { .finished(outcome().mapError { $0.with(request: request) }) }
    }

    /// Notifies the plugins of the model or the error that a caller gets.
    func notifyPlugins(_ result: @autoclosure () -> Result<some Sendable, some Error>) {
        if steps.plugins.isEmpty { return }
        // Callers that share a transfer have one request.
        let isFirst = state.withLock { state in
            defer { state.hasNotifiedPlugins = true }
            return !state.hasNotifiedPlugins
        }
        guard isFirst else { return }
        let context = RequestContext(attempt: max(1, attempts), within: transfer.timeouts.total, of: self)
        let result = result().map { $0 as any Sendable }.mapError { $0 as any Error }
        for plugin in steps.plugins { plugin.didFinish(result, context: context) }
    }
}

/// The trace of a request, which all of its attempts share.
struct CallTrace: Sendable {
    /// The halves of the ID.
    let high: UInt64
    let low: UInt64
    /// The operation that the request is part of; nil if the trace begins with the request.
    let parent: (any Sendable)?
}

extension HTTPRequest {
    /// The host, with its port if it is not the scheme's default.
    var hostAndPort: String {
        var authority = authority
        let isPlain = authority.withUTF8 { bytes in
            bytes.allSatisfy { $0 != UInt8(ascii: ":") && $0 == $0.asciiLowercased }
        }
        // The fast path for a lowercase host without a port. An origin takes longer to compute.
        return isPlain ? authority : origin.authority
    }
}

struct AttemptEnd: Sendable {
    let outcome: TransportOutcome
    /// True if a gate has fixed the cause of the failure and asks to send the request again.
    let isReplayed: Bool
}

// MARK: - Outcome

/// The outcome that all waiting callers get.
struct CallOutcome: Sendable {
    static let cancelled = CallOutcome(.failure(.cancelled))

    let outcome: TransportOutcome
    /// The state shared by all attempts; nil if none was needed.
    let call: Call?
    /// The ``ModelBox`` of the sender, if a stored response has already been decoded.
    let decoded: (any AnyObject & Sendable)?
    /// True if other requests get the same outcome.
    let isShared: Bool

    init(
        _ outcome: TransportOutcome,
        _ call: Call? = nil,
        decoded: (any AnyObject & Sendable)? = nil,
        isShared: Bool = false
    ) {
        self.isShared = isShared
        self.decoded = decoded
        self.outcome = outcome
        self.call = call
    }
}

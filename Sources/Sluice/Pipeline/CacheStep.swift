import SluiceFoundation
import SluiceHTTP

/// Executes the plans of ``CacheRules``: reads the store, sends requests and stores responses.
struct CacheStep: Sendable {
    let cache: HTTPCache
    let attempt: AttemptTransfer
    let transfer: TransferContext
    /// The ticket of the first fetch. It begins before the entries are read, so that an entry that is removed meanwhile is
    /// not stored again.
    let ticket: FetchTicket
    /// The number of times that this step has begun again, because a removal had outdated a shared fetch.
    var restarts = 0

    init(cache: HTTPCache, attempt: AttemptTransfer, transfer: TransferContext, ticket: FetchTicket? = nil) {
        self.cache = cache
        self.attempt = attempt
        self.transfer = transfer
        self.ticket = ticket ?? attempt.call?.foundTicket ?? cache.store.beginFetch()
    }

    /// Returns the response to a request, from the cache or from the server.
    ///
    /// - Parameter request: The request after interceptors and gates.
    /// - Returns: The response. The body is empty if a sink has received it.
    /// - Throws: The error of the transport or the cache.
    func response(to request: HTTPRequest) async throws(SluiceError) -> ServerResponse {
        var lookup = CacheLookup(cache, request, transfer, attempt.call?.steps ?? attempt.pipeline.steps)
        lookup.isRepeated = attempt.number > 1
        switch await lookup.plan(with: attempt.call?.takeFound(for: lookup.key)) {
        case .serve(let serving):
            return try await deliver(serving, to: request)
        case .serveWhileRevalidating(let serving, let forwarding):
            revalidate(forwarding, lookup)
            return try await deliver(serving, to: request)
        case .refuse(let head):
            return try await deliver(head, Data(), .cache(CachedResponseInfo(age: .zero)), to: request)
        case .send(let forwarding):
            let isCollected = attempt.call?.sink == nil
            return try await forward(isCollected ? forwarding : cache.rules.entire(forwarding), lookup)
        }
    }

    // MARK: Sending requests

    private func forward(_ forwarding: ConditionalRequest, _ lookup: CacheLookup) async throws(SluiceError)
        -> ServerResponse
    {
        // The attempts of a hedged request are equal, and must not wait for each other.
        guard attempt.call?.sink == nil, attempt.call?.isHedged != true,
            CacheRules.mayShare(forwarding.request)
        else { return try await fetchOrServeStale(forwarding).outcome.get() }
        if Task.isCancelled { throw .cancelled }
        let key = lookup.sharingKey
        let found = cache.coalescer.flight(key, in: cache, by: ticket) {
            // The deadline of the first caller does not apply to the others that wait.
            await Deadline.$current.withValue(nil) { await untilClientsTimeout.fetchForFleet(forwarding, lookup) }
        }
        guard let (flight, isFirst, flightTicket, number) = found else {
            let fetched = await fetchShareable(forwarding, lookup)
            if fetched.entry != nil { cache.coalescer.recordShareable(key) }
            return try fetched.outcome.get()
        }
        let shared: RequestCoalescer.Fetched
        do throws(SluiceError) {
            shared = try await value(of: flight, key, for: lookup.request)
        } catch {
            guard !error.isCancellation else {
                cache.coalescer.abandon(key)
                throw error
            }
            // Only the attempt is over. The next one must not wait for the same response again.
            if error.code == .timedOut, attempt.call?.isOverdue != true { cache.coalescer.removeFlight(key, number) }
            return try await staleAnswer(forwarding, insteadOf: error).outcome.get()
        }
        // Another caller may have cancelled the fetch.
        var isCancellation = false
        if case .failure(let error) = shared.outcome { isCancellation = error.isCancellation }
        if isFirst, !isCancellation { return try shared.outcome.get() }
        if let entry = shared.entry, let serving = lookup.sharedResponse(of: entry, after: forwarding.reason) {
            return try await deliver(serving, isShared: true, to: lookup.request)
        }
        // A removal has outdated the response for all that wait. They share the next fetch too.
        if !isCancellation, !cache.isCurrent(flightTicket, lookup.key), restarts < Self.restartLimit {
            var again = CacheStep(cache: cache, attempt: attempt, transfer: transfer, ticket: cache.store.beginFetch())
            again.restarts = restarts + 1
            return try await again.response(to: lookup.request)
        }
        switch shared.outcome {
        case .failure(let error) where Self.sharedFailures.contains(error.code):
            throw SluiceError(
                error.code,
                error.reason,
                // The first request has failed in the transport, and counts once for gates.
                step: .cache,
                request: lookup.request,
                underlyingError: error.underlyingError
            )
        case .success(let response) where response.failure.map(Self.concernsServer) == true:
            // The server has failed, and would also fail for this request.
            let serving = cache.rules.servableResponse(for: forwarding, now: cache.clock.date)
            if let serving { return try await deliver(serving, insteadOf: response.failure, to: lookup.request) }
        default:
            // The response is only for the first request, or the failure is due to the options of the first request.
            break
        }
        return try await fetchOrServeStale(forwarding).outcome.get()
    }

    /// Returns the value of a shared fetch, for which this request waits no longer than its own total time-out.
    private func value(
        of flight: SingleFlight<RequestCoalescer.Fetched>,
        _ key: RequestCoalescer.Key,
        for request: HTTPRequest
    ) async throws(SluiceError) -> RequestCoalescer.Fetched {
        let coalescer = cache.coalescer
        let wait = { @Sendable () async throws(SluiceError) -> RequestCoalescer.Fetched in
            if let fetched = await flight.value() { return fetched }
            coalescer.abandon(key)
            throw .cancelled
        }
        guard let total = transfer.timeouts.total else { return try await wait() }
        return try await TimedWork.outcome(
            within: total,
            on: attempt.pipeline.clock,
            else: waitTimedOut(after: total, request),
            of: wait
        )
    }

    /// The error of a wait that exceeded the total time-out of the request, or that of an attempt.
    private func waitTimedOut(after total: Duration, _ request: HTTPRequest) -> SluiceError {
        if let call = attempt.call, call.isOverdue { return .totalTimedOut(call) }
        let reason = "The request exceeded the total time-out of \(total.textRoundedUp)."
        return SluiceError(.timedOut, reason, step: .transport, request: request)
    }

    /// This step with the client's total time-out in place of the request's, unless that is longer.
    private var untilClientsTimeout: CacheStep {
        guard let own = transfer.timeouts.total else { return self }
        var transfer = transfer
        transfer.timeouts.total = attempt.pipeline.configuration.timeouts.total.map { max($0, own) }
        return CacheStep(cache: cache, attempt: attempt, transfer: transfer, ticket: ticket)
    }

    /// The maximum number of ``restarts``. After these, a request fetches its response itself.
    private static let restartLimit = 3

    /// Returns true if a failure, in whose place a stale response was served, is not due to the request's own options.
    private static func concernsServer(_ failure: SluiceError) -> Bool {
        failure.code == .unacceptableStatus || sharedFailures.contains(failure.code)
    }

    /// The failures that concern every request to the same server.
    private static let sharedFailures: Set<SluiceError.Code> = [
        .cannotResolveHost, .cannotConnect, .tlsFailed, .proxyFailed, .connectionLost, .truncatedBody,
    ]

    /// Fetches a response like ``fetchShareable(_:_:)``, unless another process that shares the storage fetches it.
    private func fetchForFleet(_ forwarding: ConditionalRequest, _ lookup: CacheLookup) async
        -> RequestCoalescer.Fetched
    {
        guard let leases = cache.leases else { return await fetchShareable(forwarding, lookup) }
        // Without the storage, the response is fetched without a lease.
        let lease = try? await leases.lease(for: lookup.sharingKey.lease, waits: true)
        // Another process may have stored the response.
        let stored = await cache.store.entries(for: lookup.key)
        let fetched = await fetchShareable(forwarding, lookup, stored: stored)
        if let lease { cache.end(lease) }
        return fetched
    }

    /// Fetches a response. The result has an entry only if the entry also satisfies equal requests.
    ///
    /// - Parameters:
    ///   - forwarding: The request.
    ///   - lookup: The look-up that has led to the request.
    ///   - stored: The entries in storage; nil to look at those in memory only.
    /// - Returns: The result.
    private func fetchShareable(
        _ forwarding: ConditionalRequest,
        _ lookup: CacheLookup,
        stored: [CacheEntry]? = nil
    ) async -> RequestCoalescer.Fetched {
        // Another fetch may have finished since the plan was made.
        if let serving = lookup.newlyStoredResponse(after: forwarding.reason, in: stored) {
            let served = await Result.of { () async throws(SluiceError) in
                try await deliver(serving, isShared: true, to: lookup.request)
            }
            return RequestCoalescer.Fetched(outcome: served, entry: serving.entry)
        }
        let fetched = await fetchOrServeStale(forwarding)
        let isShareable = fetched.entry.flatMap { lookup.sharedResponse(of: $0, after: forwarding.reason) } != nil
        return isShareable ? fetched : RequestCoalescer.Fetched(outcome: fetched.outcome, entry: nil)
    }

    /// The longest time for which a background revalidation waits at gates. Meanwhile, no other request and no other process revalidates
    /// the response.
    private static let admissionLimit = Duration.seconds(60)

    /// Revalidates a stale response in the background.
    private func revalidate(_ forwarding: ConditionalRequest, _ lookup: CacheLookup) {
        let key = lookup.sharingKey
        guard !attempt.pipeline.running.isClosed, cache.coalescer.beginRevalidation(key) else { return }
        // Another revalidation may have finished since the plan was made.
        guard lookup.newlyStoredResponse(after: forwarding.reason) == nil else {
            return cache.coalescer.endRevalidation(key)
        }
        var transfer = transfer
        transfer.meter = nil
        // No caller waits for the response. Its transfer has the client's total time-out, and its body is collected in
        // memory.
        transfer.timeouts.total = attempt.pipeline.configuration.timeouts.total
        transfer.limits.body = transfer.limits.body ?? attempt.pipeline.configuration.limits.body
        // Begun at once, because observers know the original request only until its end. With leases, another process may send the
        // revalidation in place of this one.
        let call = cache.leases == nil ? attempt.call?.revalidation(forwarding.sent, transfer) : nil
        let background = CacheStep(
            cache: cache,
            attempt: AttemptTransfer(attempt.pipeline, transfer, call),
            transfer: transfer,
            ticket: ticket
        )
        let task = attempt.pipeline.running.start { [original = attempt.call] in
            // The deadline of the caller that began the revalidation does not limit it.
            await Deadline.$current.withValue(nil) {
                await background.runRevalidation(forwarding, lookup, of: original)
            }
        }
        if task == nil { cache.coalescer.endRevalidation(key) }
    }

    /// Runs a background revalidation.
    ///
    /// - Parameters:
    ///   - forwarding: The request.
    ///   - lookup: The look-up that has led to the request.
    ///   - original: The state of the request that found the stale response.
    private func runRevalidation(
        _ forwarding: ConditionalRequest,
        _ lookup: CacheLookup,
        of original: Call?
    ) async {
        let key = lookup.sharingKey
        var lease: CacheLease?
        if let leases = cache.leases {
            do throws(SluiceError) {
                lease = try await leases.lease(for: key.lease, waits: false)
                let stored = lease == nil ? [] : await cache.store.entries(for: lookup.key)
                // Another process revalidates the response, or has done so.
                if lease == nil || lookup.newlyStoredResponse(after: forwarding.reason, in: stored) != nil {
                    return cache.coalescer.endRevalidation(key)
                }
            } catch {
                // Without the storage, the response is revalidated without a lease.
            }
        }
        let call = attempt.call ?? original?.revalidation(forwarding.sent, transfer)
        let step = CacheStep(
            cache: cache,
            attempt: AttemptTransfer(attempt.pipeline, transfer, call),
            transfer: transfer,
            ticket: ticket
        )
        let outcome = await step.admittedOutcome(forwarding)
        if let lease { cache.end(lease) }
        cache.coalescer.endRevalidation(key)
        call?.notify(.received, 1) { .received(outcome) }
        if case .success(let response) = outcome, [.clientError, .serverError].contains(response.head.status.class) {
            call?.finish(.failure(.unacceptableStatus(response.head, response.request)))
        } else {
            call?.finish(outcome)
        }
    }

    /// Sends a background revalidation with the permits of the gates, and with the credentials of the request that it is
    /// for, which the stored response belongs to.
    private func admittedOutcome(_ forwarding: ConditionalRequest) async -> TransportOutcome {
        guard let call = attempt.call, !call.steps.gates.isEmpty else { return await revalidationOutcome(forwarding) }
        let (context, pipeline) = (call.nextAttempt(), attempt.pipeline)
        let isAdmitted = Locked(false)
        let work = Task {
            await pipeline.within(call) {
                var admission = Admission()
                let outcome: TransportOutcome
                do throws(SluiceError) {
                    try await admission.admit(context, call)
                    isAdmitted.withLock { $0 = true }
                    outcome = await revalidationOutcome(forwarding)
                } catch {
                    outcome = .failure(error)
                }
                // A replay is left to the next request.
                _ = await admission.release(outcome, call)
                return outcome
            }
        }
        let limit = Task {
            try await pipeline.clock.sleep(for: Self.admissionLimit)
            if !isAdmitted.withLock({ $0 }) { work.cancel() }
        }
        defer { limit.cancel() }
        return await withTaskCancellationHandler {
            await work.value
        } onCancel: {
            work.cancel()
        }
    }

    /// Sends a background revalidation and returns its outcome, which is that of the server.
    private func revalidationOutcome(_ forwarding: ConditionalRequest) async -> TransportOutcome {
        do throws(SluiceError) {
            let outcome = try await fetch(forwarding, isBackground: true).outcome
            if case .success(let response) = outcome, let failure = response.failure { return .failure(failure) }
            return outcome
        } catch {
            return .failure(error.with(request: forwarding.sent))
        }
    }

    /// Sends a request, updates the store and returns the answer. Serves a stale response if the request fails and one
    /// is allowed.
    private func fetchOrServeStale(_ forwarding: ConditionalRequest) async -> RequestCoalescer.Fetched {
        do throws(SluiceError) {
            return try await fetch(forwarding)
        } catch {
            return await staleAnswer(forwarding, insteadOf: error)
        }
    }

    /// Returns a stale response in place of a failure, or the failure if none is allowed.
    private func staleAnswer(
        _ forwarding: ConditionalRequest,
        insteadOf error: SluiceError
    ) async -> RequestCoalescer.Fetched {
        guard !error.isCancellation,
            let serving = cache.rules.servableResponse(for: forwarding, now: cache.clock.date)
        else { return RequestCoalescer.Fetched(outcome: .failure(error), entry: nil) }
        attempt.call?.notify(.received, attempt.number) { .received(.failure(error)) }
        let served = await Result.of { () async throws(SluiceError) in
            try await deliver(serving, insteadOf: error, to: forwarding.request)
        }
        return RequestCoalescer.Fetched(outcome: served, entry: nil)
    }

    private func fetch(
        _ forwarding: ConditionalRequest,
        isLast: Bool = false,
        isBackground: Bool = false
    ) async throws(SluiceError) -> RequestCoalescer.Fetched {
        let ticket = isLast ? cache.store.beginFetch() : ticket
        let requested = cache.clock.date
        let answer = try await attempt.send(forwarding.sent, transfer)
        let reception = cache.rules.update(
            for: answer.head,
            to: forwarding,
            requested: requested,
            received: cache.clock.date
        )
        cache.remove(reception, of: forwarding.request, by: ticket)
        let request = forwarding.request
        switch reception.answer {
        case .again(let next):
            guard !isLast else { throw .unexpectedNotModified(request, answer.head) }
            return try await fetch(next, isLast: true, isBackground: isBackground)
        case .stored(let serving):
            let entries = reception.storing.compactMap { cache.keep($0, of: request, received: nil, by: ticket) }
            // Reads the body to its end, within limits, because the connection cannot be reused otherwise.
            _ = await answer.body.collectedBriefly()
            let failure = serving.isRevalidated ? nil : SluiceError.unacceptableStatus(answer.head, request)
            if let failure, !isBackground {
                attempt.call?.notify(.received, attempt.number) { .received(.failure(failure)) }
            }
            let metrics = answer.body.metrics
            var response = try await deliver(serving, insteadOf: failure, metrics: metrics, to: request)
            if failure == nil { response.serverHead = answer.head }
            return RequestCoalescer.Fetched(outcome: .success(response), entry: entries.first)
        case .response(let head):
            return try await storeAndDeliver(head, answer, reception.storing, request, by: ticket)
        case .combined(let head, let body):
            let received = try await answer.body.collect(upTo: transfer.limits.body)
            // Fewer bytes than announced cannot complete the combined body.
            if let count = reception.receivedCount, count != Int64(received.count) {
                throw .truncatedRange(request, answer.head)
            }
            let entries = reception.storing.compactMap { cache.keep($0, of: request, received: received, by: ticket) }
            let response = try await deliver(head, body.bytes(received: received), .server, to: request)
            return RequestCoalescer.Fetched(outcome: .success(response), entry: entries.first)
        }
    }

    /// Returns the server's response and stores it while it is read.
    private func storeAndDeliver(
        _ head: HTTPResponse,
        _ answer: TransportResponse,
        _ storing: [StorableResponse],
        _ request: HTTPRequest,
        by ticket: FetchTicket
    ) async throws(SluiceError) -> RequestCoalescer.Fetched {
        let others = storing.filter { !$0.includesReceivedBytes }
        for other in others { _ = cache.keep(other, of: request, received: nil, by: ticket) }
        let kept = storing.first { $0.includesReceivedBytes }
        var body = answer.body
        if body.whole == nil, attempt.follows(head, to: request) {
            guard kept != nil, let brief = await body.collectedBriefly() else {
                let response = attempt.redirectResponse(TransportResponse(head: head, body: body), to: request)
                return RequestCoalescer.Fetched(outcome: .success(response), entry: nil)
            }
            body = ResponseBody(brief, metrics: body.metrics ?? TransferMetrics())
        }
        let whole = body.whole?.data
        guard let kept, attempt.call?.sink != nil, kept.isStreamable, whole == nil else {
            let response = try await attempt.collect(TransportResponse(head: head, body: body), to: request)
            // The response does not contain a body that a sink has received.
            let entry = kept.flatMap { cache.keep($0, of: request, received: whole ?? response.body, by: ticket) }
            return RequestCoalescer.Fetched(outcome: .success(response), entry: entry)
        }
        let tee = CacheTee(cache.store, cache.entry(kept, of: request, body: Data()), kept.receivedCount, ticket)
        let tapped = body.tapped { await tee.write($0) }
        let response = try await attempt.collect(TransportResponse(head: head, body: tapped), to: request)
        return RequestCoalescer.Fetched(outcome: .success(response), entry: nil)
    }

    // MARK: Returning responses

    private func deliver(
        _ serving: ServableResponse,
        isShared: Bool = false,
        insteadOf failure: SluiceError? = nil,
        metrics: TransferMetrics? = nil,
        to request: HTTPRequest
    ) async throws(SluiceError) -> ServerResponse {
        let source = serving.source(isShared: isShared)
        var response = try await deliver(serving.head, serving.body, source, metrics, to: request)
        response.failure = failure
        if cache.reusesModels { response.storedModel = serving.entry.storedModel }
        return response
    }

    private func deliver(
        _ head: HTTPResponse,
        _ body: Data,
        _ source: ResponseSource,
        _ metrics: TransferMetrics? = nil,
        to request: HTTPRequest
    ) async throws(SluiceError) -> ServerResponse {
        let body = ResponseBody(body, metrics: metrics ?? TransferMetrics())
        return try await attempt.collect(TransportResponse(head: head, body: body), to: request, from: source)
    }
}

/// Stores a response body while the caller reads it. An incomplete body is not stored.
actor CacheTee {
    private let store: CacheStore
    private let entry: CacheEntry
    private let expected: Int64?
    private let ticket: FetchTicket
    private var writer: CacheBodyWriter?
    private var count: Int64 = 0
    private var isOpened = false
    private var isWriting = false

    /// Creates a tee.
    ///
    /// - Parameters:
    ///   - store: The store for the entry.
    ///   - entry: The entry without its body.
    ///   - expected: The number of bytes that must be received; nil for any number.
    ///   - ticket: The fetch that receives the body.
    init(_ store: CacheStore, _ entry: CacheEntry, _ expected: Int64?, _ ticket: FetchTicket) {
        self.ticket = ticket
        self.store = store
        self.entry = entry
        self.expected = expected
    }

    /// Stores the next piece; nil at the end of the body.
    func write(_ piece: Data?) async {
        if isWriting {
            // With concurrent reads, the order of the pieces is unknown.
            writer?.abandon()
            writer = nil
            isOpened = true
            return
        }
        isWriting = true
        defer { isWriting = false }
        if !isOpened {
            writer = store.writer(for: entry)
            isOpened = true
        }
        guard let piece else {
            guard expected == nil || expected == count, let writer else { return writer = nil }
            self.writer = nil
            if count <= CacheBodyWriter.wholeLimit {
                await writer.commit(of: ticket)
            } else {
                // The reader does not wait for the disk.
                Task { [ticket] in await writer.commit(of: ticket) }
            }
            return
        }
        count += Int64(piece.count)
        await writer?.write(piece)
    }
}

extension SluiceError {
    fileprivate static func truncatedRange(_ request: HTTPRequest, _ head: HTTPResponse) -> SluiceError {
        SluiceError(
            .truncatedBody,
            "The server sent fewer bytes than the announced range.",
            request: request,
            response: head
        )
    }

    fileprivate static func unexpectedNotModified(_ request: HTTPRequest, _ head: HTTPResponse) -> SluiceError {
        SluiceError(
            .invalidResponse,
            "The server responded with status 304 to an unconditional request.",
            request: request,
            response: head
        )
    }
}

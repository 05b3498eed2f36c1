import SluiceFoundation
import SluiceHTTP

/// Executes the plans of ``CacheRules``: reads the store, sends requests and stores responses.
struct CacheStep: Sendable {
    let cache: HTTPCache
    let attempt: AttemptTransfer
    let transfer: TransferContext

    /// Returns the response to a request, from the cache or from the server.
    ///
    /// - Parameter request: The request after interceptors and gates.
    /// - Returns: The response. The body is empty if a sink has received it.
    /// - Throws: The error of the transport or the cache.
    func response(to request: HTTPRequest) async throws(SluiceError) -> ServerResponse {
        let question = CacheLookup(cache, request, transfer, attempt.call?.steps ?? attempt.pipeline.steps)
        switch await question.plan(with: attempt.call?.takeFound(for: question.key)) {
        case .serve(let serving):
            return try await given(serving, to: request)
        case .serveWhileRevalidating(let serving, let forwarding):
            revalidate(forwarding, question)
            return try await given(serving, to: request)
        case .refuse(let head):
            return try await given(head, Data(), .cache(CacheUse(age: .zero)), to: request)
        case .send(let forwarding):
            return try await sent(forwarding, question)
        }
    }

    // MARK: Sending requests

    private func sent(_ forwarding: ConditionalRequest, _ question: CacheLookup) async throws(SluiceError)
        -> ServerResponse
    {
        // Hedged requests are sent concurrently on purpose, so they are not shared.
        guard attempt.call?.sink == nil, attempt.call?.isHedged != true,
            CacheRules.mayShare(forwarding.request)
        else { return try await fetched(forwarding).outcome.get() }
        if Task.isCancelled { throw .cancelled }
        let key = question.sharingKey
        guard let (flight, isFirst) = cache.fetches.flight(key, { await shareable(forwarding, question) }) else {
            let fetched = await shareable(forwarding, question)
            if fetched.entry != nil { cache.fetches.noteShareable(key) }
            return try fetched.outcome.get()
        }
        guard let shared = await flight.value() else {
            cache.fetches.abandon(key)
            throw .cancelled
        }
        if isFirst { return try shared.outcome.get() }
        if let entry = shared.entry, let serving = question.sharedServing(of: entry, after: forwarding.reason) {
            return try await given(serving, isShared: true, to: question.request)
        }
        switch shared.outcome {
        case .failure(let error) where Self.sharedFailures.contains(error.code):
            throw SluiceError(
                error.code,
                error.reason,
                request: question.request,
                underlyingError: error.underlyingError
            )
        case .success(let response) where response.failure != nil:
            // The server has failed, and would fail for this request too.
            let serving = cache.rules.servableResponse(for: forwarding, now: cache.time.date)
            if let serving { return try await given(serving, insteadOf: response.failure, to: question.request) }
        default:
            // The response is only for the first request, or the failure is due to the options of the first request.
            break
        }
        return try await fetched(forwarding).outcome.get()
    }

    /// The failures that concern every request to the same server.
    private static let sharedFailures: Set<SluiceError.Code> = [
        .cannotResolveHost, .cannotConnect, .tlsFailed, .proxyFailed, .connectionLost,
    ]

    /// Fetches a response. The result has an entry only if that entry also satisfies equal requests.
    private func shareable(_ forwarding: ConditionalRequest, _ question: CacheLookup) async -> RequestCoalescer.Fetched
    {
        // Another fetch may have finished since the plan was made.
        if let serving = question.servingKept(after: forwarding.reason) {
            let served = await Self.fetched { () async throws(SluiceError) in
                try await given(serving, isShared: true, to: question.request)
            }
            return RequestCoalescer.Fetched(outcome: served.outcome, entry: serving.entry)
        }
        let fetched = await fetched(forwarding)
        let isOfUse = fetched.entry.flatMap { question.sharedServing(of: $0, after: forwarding.reason) } != nil
        return isOfUse ? fetched : RequestCoalescer.Fetched(outcome: fetched.outcome, entry: nil)
    }

    /// Revalidates a stale response in the background.
    private func revalidate(_ forwarding: ConditionalRequest, _ question: CacheLookup) {
        let key = question.sharingKey
        guard cache.fetches.beginRevalidation(key) else { return }
        // Another revalidation may have finished since the plan was made.
        guard question.servingKept(after: forwarding.reason) == nil else { return cache.fetches.endRevalidation(key) }
        var transfer = transfer
        transfer.meter = nil
        // No caller waits for the response. It gets the full timeout of a request, and its body is collected in memory.
        transfer.timeouts.total = attempt.pipeline.configuration.timeouts.total
        transfer.limits.body = transfer.limits.body ?? attempt.pipeline.configuration.limits.body
        let background = CacheStep(
            cache: cache,
            attempt: AttemptTransfer(attempt.pipeline, transfer),
            transfer: transfer
        )
        Task { [cache] in
            _ = await background.fetched(forwarding)
            cache.fetches.endRevalidation(key)
        }
    }

    /// Sends a request, updates the store and returns the answer. Serves a stale response if the request fails and one
    /// is allowed.
    private func fetched(_ forwarding: ConditionalRequest) async -> RequestCoalescer.Fetched {
        do throws(SluiceError) {
            return try await fetch(forwarding)
        } catch {
            guard !error.isCancellation,
                let serving = cache.rules.servableResponse(for: forwarding, now: cache.time.date)
            else { return RequestCoalescer.Fetched(outcome: .failure(error), entry: nil) }
            attempt.call?.notify(.received, attempt.number) { .received(.failure(error)) }
            return await Self.fetched { () async throws(SluiceError) in
                try await given(serving, insteadOf: error, to: forwarding.request)
            }
        }
    }

    private func fetch(_ forwarding: ConditionalRequest, isLast: Bool = false) async throws(SluiceError)
        -> RequestCoalescer.Fetched
    {
        let ticket = cache.fetches.begin()
        let requested = cache.time.date
        let answer = try await attempt.transported(forwarding.sent, transfer)
        let reception = cache.rules.update(
            for: answer.head,
            to: forwarding,
            requested: requested,
            received: cache.time.date
        )
        cache.remove(reception, of: forwarding.request)
        let request = forwarding.request
        switch reception.answer {
        case .again(let next):
            guard !isLast else { throw .uselessValidation(request) }
            return try await fetch(next, isLast: true)
        case .stored(let serving):
            let entries = reception.storing.compactMap { cache.keep($0, of: request, received: nil, by: ticket) }
            // Reads the body to its end, because the connection cannot be reused otherwise.
            _ = try? await answer.body.collect(upTo: 64 << 10)
            let failure = serving.isRevalidated ? nil : SluiceError.serverFailed(request, answer.head)
            if let failure { attempt.call?.notify(.received, attempt.number) { .received(.failure(failure)) } }
            let metrics = answer.body.metrics
            let response = try await given(serving, insteadOf: failure, metrics: metrics, to: request)
            return RequestCoalescer.Fetched(outcome: .success(response), entry: entries.first)
        case .response(let head):
            return try await passedOn(head, answer, reception.storing, request, by: ticket)
        case .combined(let head, let body):
            let received = try await answer.body.collect(upTo: transfer.limits.body)
            // Fewer bytes than announced cannot complete the combined body.
            if let count = reception.receivedCount, count != Int64(received.count) { throw .cutShort(request) }
            let entries = reception.storing.compactMap { cache.keep($0, of: request, received: received, by: ticket) }
            let response = try await given(head, body.bytes(received: received), .server, to: request)
            return RequestCoalescer.Fetched(outcome: .success(response), entry: entries.first)
        }
    }

    /// Returns the server's response and stores it while it is read.
    private func passedOn(
        _ head: HTTPResponse,
        _ answer: TransportResponse,
        _ storing: [StorableResponse],
        _ request: HTTPRequest,
        by ticket: RequestCoalescer.Ticket
    ) async throws(SluiceError) -> RequestCoalescer.Fetched {
        let others = storing.filter { !$0.includesReceivedBytes }
        for other in others { _ = cache.keep(other, of: request, received: nil, by: ticket) }
        let kept = storing.first { $0.includesReceivedBytes }
        var body = answer.body
        if body.whole == nil, attempt.follows(head, to: request) {
            guard kept != nil, let brief = await body.collectedBriefly() else {
                let response = attempt.skipped(TransportResponse(head: head, body: body), to: request)
                return RequestCoalescer.Fetched(outcome: .success(response), entry: nil)
            }
            body = ResponseBody(brief, metrics: body.metrics ?? TransferMetrics())
        }
        let whole = body.whole?.0
        guard let kept, attempt.call?.sink != nil, kept.isStreamable, whole == nil else {
            let response = try await attempt.collected(TransportResponse(head: head, body: body), to: request)
            // The response does not contain a body that a sink has received.
            let entry = kept.flatMap { cache.keep($0, of: request, received: whole ?? response.body, by: ticket) }
            return RequestCoalescer.Fetched(outcome: .success(response), entry: entry)
        }
        let keeper = CacheTee(cache.store, cache.entry(kept, of: request, body: Data()), kept.receivedCount, ticket)
        let tapped = body.tapped { await keeper.take($0) }
        let response = try await attempt.collected(TransportResponse(head: head, body: tapped), to: request)
        return RequestCoalescer.Fetched(outcome: .success(response), entry: nil)
    }

    // MARK: Returning responses

    private func given(
        _ serving: ServableResponse,
        isShared: Bool = false,
        insteadOf failure: SluiceError? = nil,
        metrics: TransferMetrics? = nil,
        to request: HTTPRequest
    ) async throws(SluiceError) -> ServerResponse {
        let source = serving.source(isShared: isShared)
        var response = try await given(serving.head, serving.body, source, metrics, to: request)
        response.failure = failure
        if cache.store.configuration.keepsModels { response.storedModel = serving.entry.storedModel }
        return response
    }

    private func given(
        _ head: HTTPResponse,
        _ body: Data,
        _ source: ResponseSource,
        _ metrics: TransferMetrics? = nil,
        to request: HTTPRequest
    ) async throws(SluiceError) -> ServerResponse {
        let body = ResponseBody(body, metrics: metrics ?? TransferMetrics())
        return try await attempt.collected(TransportResponse(head: head, body: body), to: request, from: source)
    }

    private static func fetched(
        _ response: () async throws(SluiceError) -> ServerResponse
    ) async -> RequestCoalescer.Fetched {
        do throws(SluiceError) {
            return RequestCoalescer.Fetched(outcome: .success(try await response()), entry: nil)
        } catch {
            return RequestCoalescer.Fetched(outcome: .failure(error), entry: nil)
        }
    }
}

/// Stores a response body while it is read by the caller. An incomplete body is not stored.
actor CacheTee {
    private let store: CacheStore
    private let entry: CacheEntry
    private let expected: Int64?
    private let ticket: RequestCoalescer.Ticket
    private var writer: CacheBodyWriter?
    private var count: Int64 = 0
    private var isOpen = false
    private var isTaking = false

    /// Creates a body keeper.
    ///
    /// - Parameters:
    ///   - store: The store for the entry.
    ///   - entry: The entry without its body.
    ///   - expected: The number of bytes that must be received; nil for any number.
    ///   - ticket: The fetch that receives the body.
    init(_ store: CacheStore, _ entry: CacheEntry, _ expected: Int64?, _ ticket: RequestCoalescer.Ticket) {
        self.ticket = ticket
        self.store = store
        self.entry = entry
        self.expected = expected
    }

    /// Stores the next piece; nil at the end of the body.
    func take(_ piece: Data?) async {
        if isTaking {
            // With concurrent reads, the order of the pieces is unknown.
            writer?.abandon()
            writer = nil
            isOpen = true
            return
        }
        isTaking = true
        defer { isTaking = false }
        if !isOpen {
            let opened = await store.writer(for: entry)
            if !isOpen { writer = opened }
            isOpen = true
        }
        guard let piece else {
            guard expected == nil || expected == count, ticket.isCurrent(entry.key), let writer else {
                return writer = nil
            }
            self.writer = nil
            if count <= CacheBodyWriter.wholeLimit {
                await writer.commit()
            } else {
                // The reader does not wait for the disk.
                Task { await writer.commit() }
            }
            return
        }
        count += Int64(piece.count)
        await writer?.write(piece)
    }
}

extension SluiceError {
    fileprivate static func serverFailed(_ request: HTTPRequest, _ head: HTTPResponse) -> SluiceError {
        SluiceError(
            .unacceptableStatus,
            "The server responded with status \(head.status).",
            step: .validation,
            request: request,
            response: head
        )
    }

    fileprivate static func cutShort(_ request: HTTPRequest) -> SluiceError {
        SluiceError(
            .truncatedBody,
            "The server sent fewer bytes than the announced range.",
            step: .cache,
            request: request
        )
    }

    fileprivate static func uselessValidation(_ request: HTTPRequest) -> SluiceError {
        SluiceError(
            .invalidResponse,
            "The server responded with status 304 to an unconditional request.",
            step: .cache,
            request: request
        )
    }
}

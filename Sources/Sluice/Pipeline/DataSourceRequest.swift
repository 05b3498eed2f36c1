import SluiceFoundation
import SluiceHTTP

/// A request with a data source that reads the cache: step 1, run once per sender.
final class DataSourceRequest: Sendable {
    private let lookup: DataSourceLookup
    /// The decision, made once. The request and the readers of the first stored response share it.
    private let decision: SingleFlight<DataSourceLookup.Decision>
    /// The ticket of the fetch, from its decision until its response is stored, the date at which it began, and the key of the response. The
    /// credentials may change before the response arrives.
    private let ticket = Locked<(ticket: FetchTicket, date: Date, key: CacheKey?)?>(nil)

    /// Creates a request; nil if its data source neither reads nor stores responses.
    init?(
        _ pipeline: Pipeline,
        _ draft: RequestDraft,
        _ meter: TransferMeter,
        decode: @escaping DataSourceLookup.Decode
    ) {
        guard let store = pipeline.configuration.cache, !pipeline.isStubbed(draft) else { return nil }
        var defaults = pipeline.configuration.caching
        // Unsafe requests are always sent, unless the request itself sets a source.
        if !draft.method.isSafe { defaults.source = .server }
        let caching = draft.options.caching.applied(to: defaults)
        guard caching.source.usesStore else { return nil }
        let lookup = DataSourceLookup(
            pipeline: pipeline,
            store: store,
            draft: draft,
            meter: meter,
            caching: caching,
            decode: decode
        )
        self.lookup = lookup
        decision = SingleFlight(cancelled: .answered(.cancelled)) { [ticket] flight in
            // A removal from now on, such as that of a user's partition, also concerns the response.
            let key = (try? draft.build(for: pipeline)).flatMap(lookup.key)
            let begun = (store.beginFetch(), store.date, key)
            ticket.withLock { $0 = begun }
            let task = Task { _ = flight.complete(await lookup.decision()) }
            return { task.cancel() }
        }
    }

    /// Returns the stored response or sends the request. Starts on the calling thread.
    ///
    /// - Parameter completion: Called once with the result, on any thread.
    /// - Returns: A closure that cancels the request.
    func begin(_ completion: @escaping @Sendable (CallOutcome) -> Void) -> SingleFlight<CallOutcome>.Stop {
        if case .answered(let callOutcome) = lookup.immediateDecision() {
            completion(callOutcome)
            return {}
        }
        let task = Task { [self] in
            let decided: DataSourceLookup.Decision?
            do throws(SluiceError) {
                decided = try await lookup.withinTotalTime { [decision, lookup] in
                    guard let decided = await decision.value() else { return nil }
                    // Loops that waited for the decision have ended before this task began to wait. The request goes on.
                    return decision.isAbandoned && !Task.isCancelled ? await lookup.decision() : decided
                }
            } catch {
                // A loop that waits for the stored response ends with the request.
                decision.cancel()
                let call = lookup.begun.withLock { $0.take() }
                return completion(CallOutcome(.failure(error), call))
            }
            let call = lookup.begun.withLock { $0.take() }
            switch decided {
            case nil:
                decision.cancel()
                completion(CallOutcome(.failure(.cancelled), call))
            case .answered(let callOutcome) where callOutcome.call == nil:
                // The decision was cancelled before this task was. Observers see the end of the call.
                completion(CallOutcome(callOutcome.outcome, call))
            case .answered(let callOutcome): completion(callOutcome)
            case .sent(let call, _):
                let outcome = await lookup.pipeline.outcome(of: call)
                if !call.request.method.isSafe { lookup.pipeline.transfers.removeAll() }
                completion(CallOutcome(outcome, call))
            }
        }
        return { task.cancel() }
    }

    /// Cancels the look-up. Waiting callers receive a cancellation.
    func cancel() { decision.cancel() }

    /// Returns the stored response to show before the server's response; nil if there is none.
    func first() async -> CallOutcome? {
        switch lookup.caching.source.kind {
        case .server, .refresh, .cache, .cacheElseServer: return nil
        case .cacheThenServer, .firstLaunch, .custom: break
        }
        guard case .sent(_, let first) = await decision.value() else { return nil }
        return first
    }

    /// Stores an accepted response if its data source stores it.
    func store(_ response: ServerResponse) {
        let caching = lookup.caching
        // A response from the HTTP cache that was not revalidated is not new, and a partial response is not complete.
        guard !response.isServedFromCache, response.head.status != .partialContent, caching.source.stores(response),
            let request = try? lookup.draft.build(for: lookup.pipeline),
            let (ticket, began, key) = ticket.withLock({ $0.take() }), let key
        else { return }
        let now = lookup.store.date
        var head = response.head
        // Removes cookies and the fields that describe this delivery of the response.
        for name in [HTTPHeaderName.setCookie, "Age", "Cache-Status"] { head.headers.remove(name) }
        // A machine that shares the cache may have removed the entry since the fetch began.
        let (method, url) = (request.method, request.url)
        let stored = StoredResponse(method: method, url: url, head: head, requested: began, received: now)
        let entry = CacheEntry(
            key: key,
            response: stored,
            body: response.body,
            stored: now,
            expiration: caching.expiration ?? lookup.store.configuration.expiration,
            tags: caching.tags,
            isMemoryOnly: caching.storesInMemoryOnly
        )
        lookup.store.insert(entry, of: ticket)
    }
}

/// A look-up of the stored response for a request, and the decision that its data source makes.
struct DataSourceLookup: Sendable {
    /// Decodes the model of a response, as a ``ModelBox``; nil if that fails.
    typealias Decode = @Sendable (ServerResponse) -> (any AnyObject & Sendable)?

    enum Decision: Sendable {
        case answered(CallOutcome)
        /// The request is sent. `first` is the stored response to show before the server's response.
        case sent(Call, first: CallOutcome?)
    }

    let pipeline: Pipeline
    let store: CacheStore
    let draft: RequestDraft
    let meter: TransferMeter
    let caching: Caching
    let decode: Decode
    /// The request that is looked up, whose end is reported if its time is up before there is a decision.
    let begun = Locked<Call?>(nil)

    /// Returns the decision without waiting if a response in memory completes the request; otherwise nil.
    func immediateDecision() -> Decision? {
        switch caching.source.kind {
        case .cache, .cacheElseServer: break
        default: return nil
        }
        guard let request = try? draft.build(for: pipeline),
            let key = key(of: request),
            let response = store.entriesInMemory(for: key).first.flatMap({ response(of: $0, to: request) }),
            let decoded = decode(response)
        else { return nil }
        return .answered(callOutcome(response, decoded, observed(request)))
    }

    /// Returns the decision, reading storage if necessary.
    func decision() async -> Decision {
        var request: HTTPRequest
        do {
            request = try draft.build(for: pipeline)
        } catch {
            pipeline.steps.notifyUnsent(draft, nil, error, pipeline.configuration)
            return .answered(CallOutcome(.failure(error)))
        }
        if case .refresh = caching.source.kind {
            // The HTTP cache must not answer.
            if !request.headers.contains(.cacheControl) { request.headers[.cacheControl] = "no-cache" }
            return .sent(pipeline.call(of: request, draft, meter), first: nil)
        }
        let call = pipeline.call(of: request, draft, meter)
        begun.withLock { $0 = call }
        let key = key(of: request)
        var stored: ServerResponse?
        if let key { stored = await store.entries(for: key).first.flatMap { response(of: $0, to: request) } }
        let decoded = stored.flatMap(decode)
        // A stored response that cannot be decoded is ignored, except for a cache-only source, whose failure then
        // reports why.
        if decoded == nil, !caching.source.isCacheOnly { stored = nil }
        switch await choice(request, stored, key) {
        case .send:
            return .sent(call, first: nil)
        case .useStored:
            guard let stored else {
                let error = SluiceError.cacheMiss(request, "The cache has no response to the request")
                return .answered(CallOutcome(.failure(error), call))
            }
            return .answered(callOutcome(stored, decoded, call))
        case .useStoredThenSend:
            return .sent(call, first: stored.map { callOutcome($0, decoded, call) })
        }
    }

    /// Runs work before the request is sent, within its total time.
    func withinTotalTime<Value: Sendable>(
        _ work: @escaping @Sendable () async -> Value
    ) async throws(SluiceError) -> Value {
        let request = try? draft.build(for: pipeline)
        let own = draft.options.timeouts.applied(to: pipeline.configuration.timeouts)
        let timeouts = (request.map(own.changed) ?? own)
            .within(Deadline.earliest(draft.options.deadline), on: pipeline.clock)
        guard let total = timeouts.total else { return await work() }
        return try await TimedWork.outcome(
            within: total,
            on: pipeline.clock,
            else: SluiceError(
                .timedOut,
                "The request exceeded the total time-out of \(total.textRoundedUp) while its stored response was read.",
                step: .cache,
                request: draft.head(for: pipeline)
            )
        ) { await work() }
    }

    /// Returns the cache key of a request; nil if the request does not use the cache.
    func key(of request: HTTPRequest) -> CacheKey? {
        // A complete stored response does not satisfy a range or conditional request.
        let partial: [HTTPHeaderName] = [
            "Range", "If-None-Match", "If-Modified-Since", "If-Match", "If-Unmodified-Since",
        ]
        if partial.contains(where: request.headers.contains) { return nil }
        let transfer = pipeline.transferContext(of: draft, request, nil)
        let identity = pipeline.owner(of: request, transfer, partition: caching.partition)
        let storesEncoded = pipeline.configuration.keepsContentCodings
        return caching.key.key(for: request, identity, transfer.connection, storesEncoded: storesEncoded)
    }

    private func choice(_ request: HTTPRequest, _ stored: ServerResponse?, _ key: CacheKey?) async -> CacheChoice {
        switch caching.source.kind {
        case .server, .refresh: .send
        case .cache: .useStored
        case .cacheElseServer: stored == nil ? .send : .useStored
        case .cacheThenServer: .useStoredThenSend
        case .firstLaunch: key.map(store.isFirstRequest(for:)) == true ? .useStoredThenSend : .send
        case .custom(let choice, _): await choice(request, stored)
        }
    }

    private func response(of entry: CacheEntry, to request: HTTPRequest) -> ServerResponse? {
        guard let stored = entry.response else { return nil }
        let info = CachedResponseInfo(age: entry.age(at: store.date))
        return ServerResponse(
            request: request,
            head: stored.head,
            body: entry.body,
            source: .cache(info),
            storedModel: store.configuration.reusesModels ? entry.storedModel : nil
        )
    }

    private func callOutcome(_ response: ServerResponse, _ decoded: (any AnyObject & Sendable)?, _ call: Call?)
        -> CallOutcome
    {
        call?.notify(.cached, 0) { .cached(response) }
        return CallOutcome(.success(response), call, decoded: decoded)
    }

    /// Returns a call, which notifies the observers and plugins; nil if there are none.
    private func observed(_ request: HTTPRequest) -> Call? {
        let (steps, own) = (pipeline.steps, draft.options.steps)
        if steps.observers.isEmpty, own.observers.isEmpty, steps.plugins.isEmpty, own.plugins.isEmpty { return nil }
        return pipeline.call(of: request, draft, meter)
    }
}

extension SluiceError {
    static func cacheMiss(_ request: HTTPRequest, _ reason: String) -> SluiceError {
        SluiceError(
            .cacheMiss,
            "\(reason), and the data source does not allow sending it.",
            step: .cache,
            request: request
        )
    }
}

extension Pipeline {
    /// Returns the owner of the response to a request, whose credentials may be those of a transfer.
    func owner(
        of request: HTTPRequest,
        _ transfer: TransferContext,
        _ steps: Steps? = nil,
        partition: String
    ) -> CacheIdentity {
        CacheIdentity(
            request,
            credentials: transfer.credentials,
            cookies: transfer.cookies,
            certificate: transfer.connection.certificateDigest(for: request),
            secretHeaders: (steps ?? self.steps).secretHeaders,
            partition: partition
        )
    }
}

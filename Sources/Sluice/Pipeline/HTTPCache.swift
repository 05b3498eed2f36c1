import SluiceFoundation
import SluiceHTTP

/// The HTTP cache of a client (RFC 9111), between interceptors and transport: step 4.
final class HTTPCache: Sendable {
    let store: CacheStore
    let rules: CacheRules
    let coalescer: RequestCoalescer
    let clock: any SluiceClock
    private let connection: ConnectionOptions
    private let partition: String
    private let tags: Set<String>
    private let storesInMemoryOnly: Bool
    /// True if the bodies of encoded responses are stored as they are, and not decoded.
    private let storesEncoded: Bool
    /// True if a model decoded from a response in memory is reused.
    let reusesModels: Bool

    /// Creates a cache; nil if there is no store or HTTP caching is disabled.
    init?(_ configuration: APIClient.Configuration, _ caching: Caching, _ coalescer: RequestCoalescer) {
        guard let store = configuration.cache, let http = caching.http else { return nil }
        self.store = store
        reusesModels = store.configuration.reusesModels
        self.coalescer = coalescer
        clock = configuration.clock
        connection = configuration.connection
        rules = CacheRules(http, mode: caching.mode)
        partition = caching.partition
        tags = caching.tags
        storesInMemoryOnly = caching.storesInMemoryOnly
        storesEncoded = configuration.keepsContentCodings
    }

    /// Returns the cache key of a request's resource.
    func key(of request: HTTPRequest) -> CacheKey {
        key(CacheRules.name(of: request), for: request, isEncoded: storesEncoded)
    }

    /// Returns the cache key of a resource of the server that a request connects to.
    private func key(_ name: String, for request: HTTPRequest, isEncoded: Bool) -> CacheKey {
        // No URL and no field contains a line feed, so that another server cannot fill the entries of this one.
        let server = connection.replacedServer(of: request)
        let resource = server.map { "\(name)\nserver: \($0)" } ?? name
        return CacheKey(isEncoded ? "\(resource)\nencoded" : resource, in: .http, partition: partition)
    }

    /// Returns the digest of the credentials that the response to a request is for; nil for anyone in the partition.
    func identity(
        of request: HTTPRequest,
        credentials: ChallengeCredentials?,
        cookies: CookieJar?,
        _ secretHeaders: [HTTPHeaderName]
    ) -> String? {
        CacheIdentity(
            request,
            credentials: credentials,
            cookies: cookies,
            certificate: partition.isEmpty ? connection.certificateDigest(for: request) : nil,
            secretHeaders: secretHeaders,
            partition: partition
        ).digest
    }

    /// True if a request to a shared cache has credentials that count as `Authorization` (RFC 9111 §3.5).
    func isAuthorized(
        _ request: HTTPRequest,
        credentials: ChallengeCredentials?,
        _ secretHeaders: [HTTPHeaderName]
    ) -> Bool {
        rules.isShared
            && (credentials != nil
                || ([.authorization] + secretHeaders).contains { $0 != .cookie && request.headers.contains($0) })
    }

    /// The storage, if other processes share it and one of them at a time is to fetch a response.
    var leases: (any LeasingCacheStorage)? { storesInMemoryOnly ? nil : store.leases }

    /// Ends a lease once the fetched response has been written to storage.
    func end(_ lease: CacheLease) {
        Task.detached { [store] in
            await store.flush()
            lease.release()
        }
    }

    /// Removes the stored responses that the response of a fetch invalidates.
    func remove(_ reception: CacheUpdate, of request: HTTPRequest, by ticket: FetchTicket) {
        if !reception.removing.isEmpty {
            let key = key(of: request)
            for variant in reception.removing { store.remove(key, variant: variant, by: ticket) }
        }
        // A response to a request sent before the change is neither shared with later requests nor stored.
        for name in reception.invalidating {
            for isEncoded in [false, true] {
                store.remove(CacheSelection(key(name, for: request, isEncoded: isEncoded)))
            }
        }
    }

    /// True if a fetch may be shared: nothing has removed its response since it began. A fetch without a ticket may.
    func isCurrent(_ ticket: FetchTicket?, _ key: CacheKey) -> Bool {
        ticket?.isCurrent(key, tags: tags) ?? true
    }

    /// Stores a response. Returns nil if the body is incomplete or a removal has outdated the response.
    func keep(_ storing: StorableResponse, of request: HTTPRequest, received: Data?, by ticket: FetchTicket)
        -> CacheEntry?
    {
        let tags = tags(of: storing)
        guard tags.count <= max(Self.tagLimit, self.tags.count), ticket.isCurrent(key(of: request), tags: tags) else {
            return nil
        }
        if let count = storing.receivedCount, count != Int64(received?.count ?? 0) { return nil }
        let entry = entry(storing, of: request, body: storing.body.bytes(received: received ?? Data()))
        return store.insert(entry, of: ticket) ? entry : nil
    }

    /// The maximum number of tags that an entry collects from the requests that revalidate it. A revalidation that would
    /// exceed it is not stored.
    private static let tagLimit = 64

    /// Returns the tags of a response. It keeps those of the entry whose body it contains.
    private func tags(of storing: StorableResponse) -> Set<String> {
        storing.body.entry.map { tags.union($0.tags) } ?? tags
    }

    func entry(_ storing: StorableResponse, of request: HTTPRequest, body: Data) -> CacheEntry {
        CacheEntry(
            key: key(of: request),
            variant: storing.variant,
            response: storing.response,
            body: body,
            stored: storing.response.received,
            tags: tags(of: storing),
            isMemoryOnly: storesInMemoryOnly || storing.body.entry?.isMemoryOnly == true
        )
    }
}

/// The entries that a look-up has found in storage under a key.
struct FoundEntries: Sendable {
    let key: CacheKey
    let entries: [CacheEntry]
    /// The ticket of the fetch that continues with the entries. It began before they were read.
    let ticket: FetchTicket
}

/// A request with its cache key and the identity that its stored responses must match.
struct CacheLookup: Sendable {
    let cache: HTTPCache
    let request: HTTPRequest
    let key: CacheKey
    /// The digest of the credentials; nil if the request has none or belongs to a partition.
    let identity: String?
    /// True if the request has credentials that count as `Authorization`, and the cache is shared.
    private let isAuthorized: Bool
    /// The header fields that the transport adds to the request.
    private let hiddenFields: [HTTPHeaderName]
    /// True for a retry or a replay.
    var isRepeated = false

    /// Creates a look-up for a request as it is sent. The steps determine which header fields hold secrets.
    init(_ cache: HTTPCache, _ request: HTTPRequest, _ transfer: TransferContext, _ steps: Steps) {
        self.init(cache, request, credentials: transfer.credentials, cookies: transfer.cookies, steps)
    }

    /// Creates a look-up for a request whose transfer would use these credentials and cookies.
    init(
        _ cache: HTTPCache,
        _ request: HTTPRequest,
        credentials: ChallengeCredentials?,
        cookies: CookieJar?,
        _ steps: Steps
    ) {
        self.cache = cache
        self.request = request
        key = cache.key(of: request)
        identity = cache.identity(of: request, credentials: credentials, cookies: cookies, steps.secretHeaders)
        isAuthorized = cache.isAuthorized(request, credentials: credentials, steps.secretHeaders)
        hiddenFields =
            switch (cookies, credentials) {
            case (nil, nil): []
            case (_, nil): [.cookie]
            case (nil, _): [.authorization]
            default: [.cookie, .authorization]
            }
    }

    /// True if responses to the request can be stored.
    var isCacheable: Bool { request.method == .get || request.method == .head }

    /// The key under which concurrent equal requests share one fetch.
    var sharingKey: RequestCoalescer.Key { RequestCoalescer.Key(request, key, identity) }

    /// Returns the plan from the entries in memory. If these do not satisfy the request, returns the plan from the
    /// `known` entries, or from those in storage.
    func plan(with known: [CacheEntry]? = nil) async -> CachePlan {
        guard isCacheable else { return plan(from: []) }
        let inMemory = cache.store.entriesInMemory(for: key)
        if !inMemory.isEmpty {
            let plan = plan(from: inMemory)
            if plan.serving != nil { return plan }
        }
        if let known { return plan(from: known) }
        return plan(from: await cache.store.entries(for: key))
    }

    /// Returns the fresh response from memory, if there is one. Neither suspends nor creates a task.
    func immediateResponse(within limits: ResponseLimits) -> ServerResponse? {
        guard isCacheable else { return nil }
        if let entry = cache.store.onlyEntryInMemory(for: key) { return response(from: entry, within: limits) }
        let inMemory = cache.store.entriesInMemory(for: key)
        return inMemory.isEmpty ? nil : response(from: inMemory, within: limits)
    }

    /// Reads storage without creating a task.
    ///
    /// - Parameters:
    ///   - limits: The limits on the response.
    ///   - completion: Called once with the fresh response, if there is one, and with all entries; nil if a task must read
    ///     them. Must not block.
    /// - Returns: True if `completion` will be called; false if storage cannot be read without a task.
    func readStorage(
        within limits: ResponseLimits,
        completion: @escaping @Sendable (ServerResponse?, [CacheEntry]?) -> Void
    ) -> Bool {
        guard isCacheable else { return false }
        return cache.store.entries(for: key) { found in
            completion(found.flatMap { response(from: $0, within: limits) }, found)
        }
    }

    private func response(from entries: [CacheEntry], within limits: ResponseLimits) -> ServerResponse? {
        if entries.count == 1 { return response(from: entries[0], within: limits) }
        guard case .serve(let serving) = plan(from: entries) else { return nil }
        return response(serving, within: limits)
    }

    private func response(from entry: CacheEntry, within limits: ResponseLimits) -> ServerResponse? {
        let serving = cache.rules.response(
            to: request,
            identity: identity,
            isAuthorized: isAuthorized,
            hiddenFields: hiddenFields,
            from: entry,
            now: cache.clock.date
        )
        guard let serving else { return nil }
        return response(serving, within: limits)
    }

    private func response(_ serving: ServableResponse, within limits: ResponseLimits) -> ServerResponse? {
        // Redirects are left to the caller, which follows them.
        if serving.response.head.status.class == .redirection { return nil }
        let body = serving.body
        if let limit = limits.body, Int64(body.count) > limit { return nil }
        return ServerResponse(
            request: request,
            head: serving.unmarkedHead,
            addedFields: serving.addedFields,
            body: body,
            source: serving.source(),
            storedModel: cache.reusesModels ? serving.entry.storedModel : nil
        )
    }

    /// Returns a response that was stored after this request was planned, if it satisfies the request.
    ///
    /// - Parameters:
    ///   - reason: The reason for which the request is sent otherwise.
    ///   - stored: The entries in storage; nil to look at those in memory.
    /// - Returns: The response; nil if there is none.
    func newlyStoredResponse(after reason: CacheStatus.Forward, in stored: [CacheEntry]? = nil) -> ServableResponse? {
        let entries = stored ?? cache.store.entriesInMemory(for: key)
        guard case .serve(let serving) = plan(from: entries, collapsed: reason) else { return nil }
        return serving
    }

    /// Returns the entry of a shared request as a response, if it also satisfies this request.
    func sharedResponse(of entry: CacheEntry, after reason: CacheStatus.Forward) -> ServableResponse? {
        var lookup = self
        // An error that has just been received also answers a retry, unless it refuses the credentials that a replay has replaced.
        let status = entry.response?.head.status.rawValue
        lookup.isRepeated = isRepeated && [401, 403, 407].contains(status)
        guard case .serve(let serving) = lookup.plan(from: [entry], collapsed: reason) else { return nil }
        return serving
    }

    /// Returns a stored response to serve if no gate admits the request or the server cannot be reached.
    func staleResponse() async -> ServableResponse? {
        guard isCacheable else { return nil }
        switch await plan() {
        case .serve(let serving), .serveWhileRevalidating(let serving, _): return serving
        case .send(let forwarding): return cache.rules.servableResponse(for: forwarding, now: cache.clock.date)
        case .refuse: return nil
        }
    }

    private func plan(from entries: [CacheEntry], collapsed: CacheStatus.Forward? = nil) -> CachePlan {
        cache.rules.plan(
            for: request,
            identity: identity,
            isAuthorized: isAuthorized,
            hiddenFields: hiddenFields,
            stored: entries,
            now: cache.clock.date,
            collapsed: collapsed,
            isRepeated: isRepeated
        )
    }
}

extension ServableResponse {
    func source(isShared: Bool = false) -> ResponseSource {
        .cache(
            CachedResponseInfo(age: .seconds(age), isFresh: !isStale, isRevalidated: isRevalidated, isShared: isShared)
        )
    }
}

extension Call {
    /// Returns a stored response for a request that no gate admitted; otherwise the failure.
    func staleOutcome(after error: SluiceError, _ attempt: Int) async -> TransportOutcome {
        guard let cache, sink == nil, !error.isCancellation else { return .failure(error) }
        let lookup = CacheLookup(cache, request, transfer, steps)
        guard let serving = await lookup.staleResponse(),
            // The target of a stored redirect may be unreachable.
            serving.response.head.status.class != .redirection
        else { return .failure(error) }
        var response = ServerResponse(
            request: request,
            head: serving.head,
            body: serving.body,
            source: serving.source()
        )
        response.failure = error
        notify(.cached, attempt) { .cached(response) }
        return .success(response)
    }
}

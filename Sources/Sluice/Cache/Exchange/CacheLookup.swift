import SluiceHTTP

/// A request with its cache key and the identity that its stored responses must match.
struct CacheLookup: Sendable {
    let cache: ExchangeCache
    let request: HTTPRequest
    let key: CacheKey
    /// The digest of the credentials; nil if the request has none or belongs to a partition.
    let identity: String?

    /// Creates a lookup for a request as it is sent. The steps determine which header fields hold secrets.
    init(_ cache: ExchangeCache, _ request: HTTPRequest, _ transfer: TransferContext, _ steps: Steps) {
        self.cache = cache
        self.request = request
        key = cache.key(of: request)
        identity = cache.identity(of: request, transfer, steps.secretHeaders)
    }

    /// True if responses to the request can be stored.
    var isCacheable: Bool { request.method == .get || request.method == .head }

    /// The key under which concurrent equal requests share one fetch.
    var sharingKey: SharedFetches.Key { SharedFetches.Key(request, key, identity) }

    /// Returns the plan based on the entries in memory. If these do not satisfy the request, uses `known` entries or
    /// reads storage.
    func plan(with known: [CacheEntry]? = nil) async -> CachePlan {
        guard isCacheable else { return plan(by: []) }
        let near = cache.store.recall(key)
        if !near.isEmpty {
            let plan = plan(by: near)
            if plan.serving != nil { return plan }
        }
        if let known { return plan(by: known) }
        return plan(by: await cache.store.entries(for: key))
    }

    /// Returns the fresh response from memory, if there is one. Neither suspends nor creates a task.
    func immediateResponse(within limits: ResponseLimits) -> ServerResponse? {
        guard isCacheable else { return nil }
        let near = cache.store.recall(key)
        return near.isEmpty ? nil : response(by: near, within: limits)
    }

    /// Reads storage without creating a task.
    ///
    /// Returns false if that is not possible; `completion` is then never called. Otherwise, `completion` is called once
    /// with the fresh response, if there is one, and with all entries. It runs on a thread that must not be blocked.
    func look(
        within limits: ResponseLimits,
        completion: @escaping @Sendable (ServerResponse?, [CacheEntry]) -> Void
    ) -> Bool {
        guard isCacheable else { return false }
        return cache.store.entries(for: key) { completion(response(by: $0, within: limits), $0) }
    }

    private func response(by entries: [CacheEntry], within limits: ResponseLimits) -> ServerResponse? {
        guard case .serve(let serving) = plan(by: entries),
            // Redirects are left to the caller, which follows them.
            serving.response.head.status.class != .redirection
        else { return nil }
        let body = serving.body
        if let limit = limits.body, Int64(body.count) > limit { return nil }
        var response = ServerResponse(request: request, head: serving.head, body: body, source: serving.source())
        cache.store.attach(serving.entry, to: &response)
        return response
    }

    /// Returns a response that was stored after this request was planned, if it satisfies the request.
    func servingKept(after reason: CacheStatus.Forward) -> CacheServing? {
        guard case .serve(let serving) = plan(by: cache.store.recall(key), collapsed: reason) else { return nil }
        return serving
    }

    /// Returns the entry of a shared request as a response, if it also satisfies this request.
    func sharedServing(of entry: CacheEntry, after reason: CacheStatus.Forward) -> CacheServing? {
        guard case .serve(let serving) = plan(by: [entry], collapsed: reason) else { return nil }
        return serving
    }

    /// Returns a stored response to serve if no gate admits the request or the server cannot be reached.
    func servingStale() async -> CacheServing? {
        guard isCacheable else { return nil }
        switch await plan() {
        case .serve(let serving), .serveWhileRevalidating(let serving, _): return serving
        case .send(let forwarding): return cache.rules.serving(for: forwarding, now: cache.time.date)
        case .refuse: return nil
        }
    }

    private func plan(by entries: [CacheEntry], collapsed: CacheStatus.Forward? = nil) -> CachePlan {
        cache.rules.plan(
            for: request,
            identity: identity,
            stored: entries,
            now: cache.time.date,
            collapsed: collapsed
        )
    }
}

extension CachePlan {
    /// The stored response that the plan serves; nil if there is none.
    var serving: CacheServing? {
        switch self {
        case .serve(let serving), .serveWhileRevalidating(let serving, _): serving
        case .send, .refuse: nil
        }
    }
}

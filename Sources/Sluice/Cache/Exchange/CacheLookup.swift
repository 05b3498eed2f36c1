import SluiceHTTP

/// A request, with all by which what is kept for it is found.
struct CacheLookup: Sendable {
    let cache: ExchangeCache
    let request: HTTPRequest
    let key: CacheKey
    /// Who asks, where it is not for a partition to say.
    let identity: String?

    /// Makes one of a request as it is sent, with the steps it has passed: they say which of its fields hold secrets.
    init(_ cache: ExchangeCache, _ request: HTTPRequest, _ transfer: TransferContext, _ steps: Steps) {
        self.cache = cache
        self.request = request
        key = cache.key(of: request)
        identity = cache.identity(of: request, transfer, steps.secretHeaders)
    }

    /// Whether anything can be kept for it.
    var isCacheable: Bool { request.method == .get || request.method == .head }

    /// What makes it equal to others that are under way.
    var sharingKey: SharedFetches.Key { SharedFetches.Key(request, key, identity) }

    /// What to do, by what is in memory or, where that does not answer it, by all there is, which may just have been found out.
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

    /// What it is answered with if that is in memory and fresh: without waiting, and without a task.
    func immediateResponse(within limits: ResponseLimits) -> ServerResponse? {
        guard isCacheable else { return nil }
        let near = cache.store.recall(key)
        return near.isEmpty ? nil : response(by: near, within: limits)
    }

    /// Looks in storage without a task, where that can be: whether the closure will be called. It is called once with what answers the
    /// request if something does that is fresh, and with all there is; on a thread that it must not hold up.
    func look(
        within limits: ResponseLimits,
        completion: @escaping @Sendable (ServerResponse?, [CacheEntry]) -> Void
    ) -> Bool {
        guard isCacheable else { return false }
        return cache.store.entries(for: key) { completion(response(by: $0, within: limits), $0) }
    }

    private func response(by entries: [CacheEntry], within limits: ResponseLimits) -> ServerResponse? {
        guard case .serve(let serving) = plan(by: entries),
            // Which has to be followed.
            serving.response.head.status.class != .redirection
        else { return nil }
        let body = serving.body
        if let limit = limits.body, Int64(body.count) > limit { return nil }
        var response = ServerResponse(request: request, head: serving.head, body: body, source: serving.source())
        cache.store.attach(serving.entry, to: &response)
        return response
    }

    /// What has come to be kept that answers it, after it had to go on.
    func servingKept(after reason: CacheStatus.Forward) -> CacheServing? {
        guard case .serve(let serving) = plan(by: cache.store.recall(key), collapsed: reason) else { return nil }
        return serving
    }

    /// What of another's answer serves it too.
    func sharedServing(of entry: CacheEntry, after reason: CacheStatus.Forward) -> CacheServing? {
        guard case .serve(let serving) = plan(by: [entry], collapsed: reason) else { return nil }
        return serving
    }

    /// What is kept for it, where no pass or no server is to be had.
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
    /// What is served by it.
    var serving: CacheServing? {
        switch self {
        case .serve(let serving), .serveWhileRevalidating(let serving, _): serving
        case .send, .refuse: nil
        }
    }
}

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

    /// What to do, by what is in memory or, where that does not answer it, by all there is.
    func plan() async -> CachePlan {
        guard isCacheable else { return plan(with: []) }
        let near = cache.store.recall(key)
        if !near.isEmpty {
            let plan = plan(with: near)
            if plan.serving != nil { return plan }
        }
        return plan(with: await cache.store.entries(for: key))
    }

    /// What to do without waiting, where what is in memory answers it.
    func immediateServing() -> CacheServing? {
        let near = cache.store.recall(key)
        if near.isEmpty { return nil }
        guard case .serve(let serving) = plan(with: near) else { return nil }
        return serving
    }

    /// What of another's answer serves it too.
    func sharedServing(of entry: CacheEntry, after reason: CacheStatus.Forward) -> CacheServing? {
        guard case .serve(let serving) = plan(with: [entry], collapsed: reason) else { return nil }
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

    private func plan(with entries: [CacheEntry], collapsed: CacheStatus.Forward? = nil) -> CachePlan {
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

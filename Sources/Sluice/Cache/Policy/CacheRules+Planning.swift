import SluiceHTTP

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

extension CacheRules {
    /// Returns the plan for a request.
    ///
    /// - Parameters:
    ///   - request: The request as it would be sent.
    ///   - identity: The digest of the credentials that the request would be sent with; nil for none.
    ///   - stored: The entries stored under ``name(of:)``.
    ///   - now: The current time, read after `stored`: the age of an entry stored after `now` is unknown.
    ///   - collapsed: The forward reason of the shared request that this request waited for; nil if it did not wait.
    /// - Returns: The plan.
    func plan(
        for request: HTTPRequest,
        identity: String? = nil,
        stored: [CacheEntry],
        now: Date,
        collapsed: CacheStatus.Forward? = nil
    ) -> CachePlan {
        guard request.method == .get || request.method == .head else {
            return .send(forwarding(request, identity, .method))
        }
        guard request.body.isNone else { return .send(forwarding(request, identity, .bypass)) }
        let question = CacheQuestion(request)
        guard let selected = newest(in: stored, for: question, identity) else {
            return sending(question, identity, stored)
        }
        let age = selected.stored.age(at: now)
        let lifetime = lifetime(of: selected.stored)
        let use = use(of: selected.stored, age, lifetime, question)
        if use != .afterValidation {
            var status = CacheStatus(cache: cacheName, forward: collapsed)
            status.isCollapsed = collapsed != nil
            let serving = serving(selected, age, lifetime, status)
            guard use == .whileRevalidating, !question.directives.isOnlyIfCached else { return .serve(serving) }
            return .serveWhileRevalidating(serving, revalidation(of: selected, question, identity, stored))
        }
        if question.directives.isOnlyIfCached { return .refuse(refusal) }
        let isFresh = lifetime > age && !selected.stored.directives.isNoCache
        return .send(validation(of: selected, question, identity, stored, isFresh ? .request : .stale))
    }

    /// A stored response that satisfies a request, freshness aside.
    struct Candidate {
        let entry: CacheEntry
        let stored: ResponseTerms
        let form: CacheServing.Form
    }

    /// The permitted use of a stored response (RFC 9111 §4.2.4, §5.2).
    enum Use {
        case atOnce
        case whileRevalidating
        case afterValidation
    }

    func use(
        of terms: ResponseTerms,
        _ age: Double,
        _ lifetime: Double,
        _ question: CacheQuestion
    ) -> Use {
        let wishes = question.directives
        guard !terms.directives.isNoCache,
            wishes.accepts(age: age, lifetime: lifetime, isImmutable: terms.directives.isImmutable)
        else { return .afterValidation }
        if lifetime > age { return .atOnce }
        if terms.directives.mustRevalidate { return .afterValidation }
        if let maxStale = wishes.maxStale, age - lifetime <= maxStale, maxStale == .infinity || age < DeltaSeconds.limit
        {
            return .atOnce
        }
        // A request that demands a certain freshness gets no stale response unless it has `max-stale` (§5.2.1.1).
        guard !wishes.demandsFreshness, !wishes.isNoStore,
            let window = terms.directives.staleWhileRevalidate ?? staleWhileRevalidate,
            age - lifetime <= window, age < DeltaSeconds.limit
        else { return .afterValidation }
        return .whileRevalidating
    }

    /// Returns the freshness lifetime of a response in seconds (RFC 9111 §4.2.1, §4.2.2).
    func lifetime(of terms: ResponseTerms) -> Double {
        if let explicit = terms.explicitLifetime { return explicit }
        return terms.unchanged.map { min($0 * heuristicFraction, maximumHeuristicLifetime) } ?? 0
    }

    func serving(
        _ candidate: Candidate,
        _ age: Double,
        _ lifetime: Double,
        _ status: CacheStatus,
        isRevalidated: Bool = false
    ) -> CacheServing {
        var status = status
        status.timeToLive = Int((lifetime - age).rounded(.down))
        return CacheServing(
            entry: candidate.entry,
            response: candidate.stored,
            form: candidate.form,
            age: Int(age),
            isStale: lifetime <= age,
            isRevalidated: isRevalidated,
            status: status
        )
    }

    /// True if a stored response matches a request by `Vary` and by credentials (RFC 9111 §4.1).
    func matches(_ entry: CacheEntry, _ stored: ResponseTerms, _ request: HTTPRequest, _ identity: String?) -> Bool {
        guard stored.isGet else { return false }
        if stored.identity != identity, stored.identity != nil || !stored.directives.isPublic { return false }
        if case .nothing = stored.vary { return entry.variant == stored.plainVariant }
        if !hiddenFields.isEmpty, stored.vary.names(anyOf: hiddenFields) { return false }
        return stored.vary.variant(of: request, identity: stored.identity) == entry.variant
    }

    /// Returns the newest stored response that satisfies a request (RFC 9111 §4.1).
    private func newest(in entries: [CacheEntry], for question: CacheQuestion, _ identity: String?) -> Candidate? {
        var newest: Candidate?
        for entry in entries {
            guard let stored = entry.response?.terms else { continue }
            if let newest, !Self.isNewer(stored, than: newest.stored) { continue }
            guard matches(entry, stored, question.request, identity), let form = question.form(of: entry, stored) else {
                continue
            }
            newest = Candidate(entry: entry, stored: stored, form: form)
        }
        return newest
    }

    static func isNewer(_ terms: ResponseTerms, than other: ResponseTerms) -> Bool {
        terms.date != other.date ? terms.date > other.date : terms.received > other.received
    }

    /// Returns the entries that match a request, newest first.
    func matching(_ entries: [CacheEntry], _ request: HTTPRequest, _ identity: String?) -> [CacheEntry] {
        var found: [(entry: CacheEntry, terms: ResponseTerms)] = []
        for entry in entries {
            guard let stored = entry.response?.terms, matches(entry, stored, request, identity) else { continue }
            found.append((entry, stored))
        }
        if found.count > 1 { found.sort { Self.isNewer($0.terms, than: $1.terms) } }
        return found.map(\.entry)
    }

    /// The 504 response to an `only-if-cached` request (RFC 9111 §5.2.1.7).
    var refusal: HTTPResponse {
        HTTPResponse(
            status: .gatewayTimeout,
            headers: [.contentLength: "0", .cacheStatus: "\(cacheName); detail=only-if-cached"]
        )
    }
}

import SluiceFoundation
import SluiceHTTP

/// The decisions of a cache (RFC 9111, RFC 9110 §13 and §14, RFC 5861, RFC 8246, RFC 9211, RFC 9213), as pure functions
/// of values.
///
/// ``plan(for:identity:isAuthorized:hiddenFields:stored:now:collapsed:isRepeated:)`` takes a request and the entries stored under its cache
/// key. A request that has to be sent comes back with the head of its response. The caller reads the clock, transfers
/// bytes and stores entries.
package struct CacheRules: Sendable {
    let options: HTTPCaching
    let mode: CacheMode
    let heuristicFraction: Double
    let maximumHeuristicLifetime: Double
    let staleIfError: Double?
    let staleWhileRevalidate: Double?
    let cacheName: String

    package var isShared: Bool { mode.isShared }

    package init(_ options: HTTPCaching = HTTPCaching(), mode: CacheMode = .private) {
        self.options = options
        self.mode = mode
        let fraction = options.heuristicFraction
        heuristicFraction = fraction.isNaN ? 0 : min(max(fraction, 0), 1)
        maximumHeuristicLifetime = DeltaSeconds.of(options.maximumHeuristicLifetime)
        staleIfError = options.staleIfError.map(DeltaSeconds.of)
        staleWhileRevalidate = options.staleWhileRevalidate.map(DeltaSeconds.of)
        cacheName = CacheStatus.encodedName(options.name)
    }
}

// MARK: - Planning a request

extension CacheRules {
    /// Returns the plan for a request.
    ///
    /// - Parameters:
    ///   - request: The request as it would be sent.
    ///   - identity: The digest of the credentials that the request would be sent with; nil for none.
    ///   - isAuthorized: True if some of them count as `Authorization`. A private cache ignores it.
    ///   - hiddenFields: The header fields that the transport adds to the request: `Cookie` from a cookie jar, and
    ///     `Authorization` for a challenge. A response that varies by one of them matches no request and is not stored.
    ///   - stored: The entries stored under ``name(of:)``.
    ///   - now: The current time, read after `stored`: the age of an entry stored after `now` is unknown.
    ///   - collapsed: The forward reason of the shared request that this request waited for; nil if it did not wait.
    ///   - isRepeated: True for a retry and for a replay with other credentials. A stored error, which may be that of the
    ///     last attempt, is not served to them without validation.
    /// - Returns: The plan.
    package func plan(
        for request: HTTPRequest,
        identity: String? = nil,
        isAuthorized: Bool = false,
        hiddenFields: [HTTPHeaderName] = [],
        stored: [CacheEntry],
        now: Date,
        collapsed: CacheStatus.Forward? = nil,
        isRepeated: Bool = false
    ) -> CachePlan {
        let identity = RequestIdentity(digest: identity, isAuthorized: isAuthorized, hiddenFields: hiddenFields)
        guard request.method == .get || request.method == .head else {
            return .send(forwarding(request, identity, .method))
        }
        guard request.body.isNone else { return .send(forwarding(request, identity, .bypass)) }
        let parsed = ParsedRequest(request)
        guard let selected = newest(in: stored, for: parsed, identity) else {
            return plan(forwarding: parsed, identity, stored)
        }
        let age = selected.metadata.age(at: now)
        let lifetime = lifetime(of: selected.metadata)
        let use =
            isRepeated && selected.metadata.isError
            ? .afterValidation : use(of: selected.metadata, age, lifetime, parsed)
        if use != .afterValidation {
            var status = CacheStatus(cache: cacheName, forward: collapsed)
            status.isCollapsed = collapsed != nil
            let serving = servable(selected, age, lifetime, status)
            guard use == .whileRevalidating, !parsed.directives.isOnlyIfCached else { return .serve(serving) }
            return .serveWhileRevalidating(serving, revalidation(of: selected, parsed, identity, stored))
        }
        if parsed.directives.isOnlyIfCached { return .refuse(refusal) }
        let isFresh = lifetime > age && !selected.metadata.directives.isNoCache
        return .send(validation(of: selected, parsed, identity, stored, isFresh ? .request : .stale))
    }

    /// Returns the response to a request from an entry that needs no validation; nil if the request needs a plan.
    ///
    /// It is the response of the plan with this entry, which a cache hit gets with less work.
    package func response(
        to request: HTTPRequest,
        identity: String?,
        isAuthorized: Bool,
        hiddenFields: [HTTPHeaderName],
        from entry: CacheEntry,
        now: Date
    ) -> ServableResponse? {
        guard request.method == .get || request.method == .head, request.body.isNone,
            let metadata = mode.metadata(of: entry)
        else { return nil }
        let parsed = ParsedRequest(request)
        let identity = RequestIdentity(digest: identity, isAuthorized: isAuthorized, hiddenFields: hiddenFields)
        guard matches(entry, metadata, request, identity), let form = parsed.form(of: entry, metadata) else {
            return nil
        }
        let age = metadata.age(at: now)
        let lifetime = lifetime(of: metadata)
        guard use(of: metadata, age, lifetime, parsed) == .immediate else { return nil }
        let candidate = Candidate(entry: entry, metadata: metadata, form: form)
        return servable(candidate, age, lifetime, CacheStatus(cache: cacheName))
    }

    /// A stored response that satisfies a request, freshness aside.
    struct Candidate {
        let entry: CacheEntry
        let metadata: CacheMetadata
        let form: ServableResponse.Form
    }

    /// The permitted use of a stored response (RFC 9111 §4.2.4, §5.2).
    enum Use {
        /// Without validation: the response is fresh, or the request accepts a stale one.
        case immediate
        /// At once, while it is revalidated in the background.
        case whileRevalidating
        /// Only after the origin server has validated it.
        case afterValidation
    }

    /// Returns the permitted use of a stored response of this age and freshness lifetime.
    func use(of metadata: CacheMetadata, _ age: Double, _ lifetime: Double, _ parsed: ParsedRequest) -> Use {
        let requestDirectives = parsed.directives
        guard !metadata.directives.isNoCache,
            requestDirectives.accepts(age: age, lifetime: lifetime, isImmutable: metadata.directives.isImmutable)
        else { return .afterValidation }
        if lifetime > age { return .immediate }
        if mode.mustRevalidate(metadata.directives) { return .afterValidation }
        if let maxStale = requestDirectives.maxStale, age - lifetime <= maxStale,
            maxStale == .infinity || age < DeltaSeconds.limit
        {
            return .immediate
        }
        // A request that demands a certain freshness gets no stale response unless it has `max-stale` (§5.2.1.1).
        guard !requestDirectives.demandsFreshness, !requestDirectives.isNoStore,
            let window = staleWhileRevalidate(of: metadata),
            age - lifetime <= window, age < DeltaSeconds.limit
        else { return .afterValidation }
        return .whileRevalidating
    }

    /// Returns the time in seconds for which a stale response may be served while it is revalidated. The options apply to
    /// no error, which must not take the place of the last good response.
    func staleWhileRevalidate(of metadata: CacheMetadata) -> Double? {
        metadata.directives.staleWhileRevalidate ?? (metadata.isError ? nil : staleWhileRevalidate)
    }

    /// Returns the time in seconds for which a stale response may be served if the server fails.
    func staleIfError(of metadata: CacheMetadata) -> Double? {
        metadata.isError ? nil : metadata.directives.staleIfError ?? staleIfError
    }

    /// Returns the freshness lifetime of a response in seconds (RFC 9111 §4.2.1, §4.2.2).
    func lifetime(of metadata: CacheMetadata) -> Double {
        if let explicit = mode.explicitLifetime(of: metadata) { return explicit }
        return metadata.timeSinceModification.map { min($0 * heuristicFraction, maximumHeuristicLifetime) } ?? 0
    }

    /// Returns the response to serve, with the remaining lifetime in its status.
    func servable(
        _ candidate: Candidate,
        _ age: Double,
        _ lifetime: Double,
        _ status: CacheStatus,
        isRevalidated: Bool = false
    ) -> ServableResponse {
        var status = status
        status.timeToLive = Int((lifetime - age).rounded(.down))
        return ServableResponse(
            entry: candidate.entry,
            response: candidate.metadata,
            form: candidate.form,
            age: Int(age),
            isStale: lifetime <= age,
            isRevalidated: isRevalidated,
            status: status
        )
    }

    /// True if a stored response matches a request by `Vary` and by credentials (RFC 9111 §4.1).
    func matches(
        _ entry: CacheEntry,
        _ metadata: CacheMetadata,
        _ request: HTTPRequest,
        _ identity: RequestIdentity
    ) -> Bool {
        guard metadata.isGet else { return false }
        if metadata.identity != identity.digest, metadata.identity != nil || !mode.isForAnyone(metadata.directives) {
            return false
        }
        guard mode.mayUse(entry, metadata.directives, isAuthorized: identity.isAuthorized) else { return false }
        if case .nothing = metadata.vary { return entry.variant == metadata.plainVariant }
        if !identity.hiddenFields.isEmpty, metadata.vary.names(anyOf: identity.hiddenFields) { return false }
        return metadata.variant(of: request) == entry.variant
    }

    /// Returns the newest stored response that satisfies a request (RFC 9111 §4.1).
    private func newest(in entries: [CacheEntry], for parsed: ParsedRequest, _ identity: RequestIdentity) -> Candidate?
    {
        var newest: Candidate?
        for entry in entries {
            guard let metadata = mode.metadata(of: entry) else { continue }
            if let newest, !Self.isNewer(metadata, than: newest.metadata) { continue }
            guard matches(entry, metadata, parsed.request, identity), let form = parsed.form(of: entry, metadata) else {
                continue
            }
            newest = Candidate(entry: entry, metadata: metadata, form: form)
        }
        return newest
    }

    /// Compares two responses by `Date`, then by the time of receipt (RFC 9111 §4.1).
    static func isNewer(_ metadata: CacheMetadata, than other: CacheMetadata) -> Bool {
        metadata.date != other.date ? metadata.date > other.date : metadata.received > other.received
    }

    /// Returns the entries that match a request, newest first.
    func matching(_ entries: [CacheEntry], _ request: HTTPRequest, _ identity: RequestIdentity) -> [CacheEntry] {
        var found: [(entry: CacheEntry, metadata: CacheMetadata)] = []
        for entry in entries {
            guard let metadata = mode.metadata(of: entry), matches(entry, metadata, request, identity) else { continue }
            found.append((entry, metadata))
        }
        if found.count > 1 { found.sort { Self.isNewer($0.metadata, than: $1.metadata) } }
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

// MARK: - Forwarding a request

extension CacheRules {
    func forwarding(
        _ request: HTTPRequest,
        _ identity: RequestIdentity,
        _ reason: CacheStatus.Forward,
        sent: HTTPRequest? = nil,
        stored: [CacheEntry] = [],
        matching: [CacheEntry] = [],
        selected: CacheEntry? = nil,
        purpose: ConditionalRequest.Purpose = .response
    ) -> ConditionalRequest {
        ConditionalRequest(
            sent: sent ?? request,
            request: request,
            identity: identity,
            stored: stored,
            matching: matching,
            selected: selected,
            reason: reason,
            purpose: purpose
        )
    }

    /// Returns the plan for a request that no stored response satisfies.
    func plan(forwarding parsed: ParsedRequest, _ identity: RequestIdentity, _ stored: [CacheEntry]) -> CachePlan {
        if parsed.directives.isOnlyIfCached { return .refuse(refusal) }
        let matching = matching(stored, parsed.request, identity)
        guard let first = matching.first else {
            let isEmpty = !stored.contains { $0.response != nil }
            return .send(forwarding(parsed.request, identity, isEmpty ? .uriMiss : .varyMiss, stored: stored))
        }
        for entry in matching {
            guard let sent = completing(parsed, entry) else { continue }
            return .send(
                forwarding(
                    parsed.request,
                    identity,
                    .partial,
                    sent: sent,
                    stored: stored,
                    matching: matching,
                    selected: entry,
                    purpose: .completion
                )
            )
        }
        let reason: CacheStatus.Forward = first.response?.part == nil ? .request : .partial
        return .send(forwarding(parsed.request, identity, reason, stored: stored, matching: matching))
    }

    /// Returns the request for the rest of a representation of which the beginning is stored (RFC 9111 §3.3, RFC 9110
    /// §13.1.5). Returns nil if no beginning is stored, or if the request is not for the entire representation.
    private func completing(_ parsed: ParsedRequest, _ entry: CacheEntry) -> HTTPRequest? {
        guard options.storesPartialResponses, parsed.request.method == .get,
            parsed.fields.isDisjoint(with: [.range, .conditions]), !parsed.directives.isNoStore,
            let stored = entry.response, let part = stored.part, part.isWhole(in: entry), part.range.lowerBound == 0,
            part.range.upperBound < part.total, !stored.metadata.isEncoded,
            let validator = ResourceValidator(of: stored.head)
        else { return nil }
        var request = parsed.request
        request.headers[.range] = "bytes=\(part.range.upperBound)-"
        request.headers.replaceValues(of: .ifRange, with: validator.ifRangeValue)
        return request
    }

    /// Returns the conditional request that validates a stored response (RFC 9111 §4.3.1). Returns the request
    /// unchanged if it has its own conditions or if the stored response has no validator.
    func validation(
        of selected: Candidate,
        _ parsed: ParsedRequest,
        _ identity: RequestIdentity,
        _ stored: [CacheEntry],
        _ reason: CacheStatus.Forward
    ) -> ConditionalRequest {
        let validates = parsed.fields.isDisjoint(with: .conditions)
        let sent = validates ? Self.conditional(parsed.request, by: selected.metadata) : nil
        return forwarding(
            parsed.request,
            identity,
            reason,
            sent: sent,
            stored: stored,
            matching: matching(stored, parsed.request, identity),
            selected: selected.entry,
            purpose: sent == nil ? .response : .validation
        )
    }

    /// Returns the background revalidation of a stale response. It always requests the entire representation.
    func revalidation(
        of selected: Candidate,
        _ parsed: ParsedRequest,
        _ identity: RequestIdentity,
        _ stored: [CacheEntry]
    ) -> ConditionalRequest {
        var request = parsed.request
        for name in [HTTPHeaderName.range, .ifRange, .ifNoneMatch, .ifModifiedSince] { request.headers.remove(name) }
        return validation(of: selected, ParsedRequest(request), identity, stored, .stale)
    }

    /// Returns the request with conditions made from the stored response's validators; nil if it has none.
    private static func conditional(_ request: HTTPRequest, by metadata: CacheMetadata) -> HTTPRequest? {
        var conditional = request
        if let tag = metadata.entityTag { conditional.headers.replaceValues(of: .ifNoneMatch, with: tag.fieldValue) }
        if metadata.lastModified != nil { conditional.headers[.ifModifiedSince] = metadata.head.headers[.lastModified] }
        return metadata.entityTag == nil && metadata.lastModified == nil ? nil : conditional
    }
}

import SluiceHTTP

extension CacheRules {
    func forwarding(
        _ request: HTTPRequest,
        _ identity: String?,
        _ reason: CacheStatus.Forward,
        sent: HTTPRequest? = nil,
        matching: [CacheEntry] = [],
        selected: CacheEntry? = nil,
        purpose: CacheForwarding.Purpose = .response
    ) -> CacheForwarding {
        CacheForwarding(
            sent: sent ?? request,
            request: request,
            identity: identity,
            matching: matching,
            selected: selected,
            reason: reason,
            purpose: purpose
        )
    }

    /// What becomes of a request that nothing stored answers.
    func sending(_ question: CacheQuestion, _ identity: String?, _ stored: [CacheEntry]) -> CachePlan {
        if question.directives.isOnlyIfCached { return .refuse(refusal) }
        let matching = matching(stored, question.request, identity)
        guard let first = matching.first else {
            let isEmpty = !stored.contains { $0.response != nil }
            return .send(forwarding(question.request, identity, isEmpty ? .uriMiss : .varyMiss))
        }
        if let sent = completing(question, first) {
            return .send(
                forwarding(
                    question.request,
                    identity,
                    .partial,
                    sent: sent,
                    matching: matching,
                    selected: first,
                    purpose: .completion
                )
            )
        }
        let reason: CacheStatus.Forward = first.response?.part == nil ? .request : .partial
        return .send(forwarding(question.request, identity, reason, matching: matching))
    }

    /// The request for the rest of what a stored part is the beginning of (RFC 9111 §3.3, RFC 9110 §13.1.5); nil where it is not, or
    /// the request is for something else than the whole.
    private func completing(_ question: CacheQuestion, _ entry: CacheEntry) -> HTTPRequest? {
        guard options.storesPartialResponses, question.request.method == .get,
            question.fields.isDisjoint(with: [.range, .conditions]), !question.directives.isNoStore,
            let stored = entry.response, let part = stored.part, part.isWhole(in: entry), part.range.lowerBound == 0,
            part.range.upperBound < part.total, !stored.terms.isEncoded,
            let validator = ResourceValidator(of: stored.head)
        else { return nil }
        var request = question.request
        request.headers[.range] = "bytes=\(part.range.upperBound)-"
        request.headers.set(.ifRange, to: validator.ifRangeValue)
        return request
    }

    /// A request by which a stored response is validated (RFC 9111 §4.3.1), or, where it has conditions of its own or there is
    /// nothing to validate by, as it came.
    func validation(
        of selected: Candidate,
        _ question: CacheQuestion,
        _ identity: String?,
        _ stored: [CacheEntry],
        _ reason: CacheStatus.Forward
    ) -> CacheForwarding {
        let validates = question.fields.isDisjoint(with: .conditions)
        let sent = validates ? Self.conditional(question.request, by: selected.stored) : nil
        return forwarding(
            question.request,
            identity,
            reason,
            sent: sent,
            matching: matching(stored, question.request, identity),
            selected: selected.entry,
            purpose: sent == nil ? .response : .validation
        )
    }

    /// The request that is sent behind a stale response: for the whole, whatever the one in front of it asked for.
    func revalidation(
        of selected: Candidate,
        _ question: CacheQuestion,
        _ identity: String?,
        _ stored: [CacheEntry]
    ) -> CacheForwarding {
        var request = question.request
        for name in [HTTPHeaderName.range, .ifRange, .ifNoneMatch, .ifModifiedSince] { request.headers.remove(name) }
        let sent = Self.conditional(request, by: selected.stored)
        return forwarding(
            request,
            identity,
            .stale,
            sent: sent,
            matching: matching(stored, request, identity),
            selected: selected.entry,
            purpose: sent == nil ? .response : .validation
        )
    }

    /// A request with the conditions under which a stored response need not be sent again; nil where it has no validator.
    private static func conditional(_ request: HTTPRequest, by terms: ResponseTerms) -> HTTPRequest? {
        var conditional = request
        if let tag = terms.entityTag { conditional.headers.set(.ifNoneMatch, to: tag.fieldValue) }
        if terms.lastModified != nil { conditional.headers[.ifModifiedSince] = terms.head.headers[.lastModified] }
        return terms.entityTag == nil && terms.lastModified == nil ? nil : conditional
    }
}

extension StoredPart {
    /// Whether an entry has as many bytes as the part.
    func isWhole(in entry: CacheEntry) -> Bool {
        Int64(entry.body.count) == range.upperBound - range.lowerBound && range.lowerBound >= 0
            && range.upperBound <= total
    }
}

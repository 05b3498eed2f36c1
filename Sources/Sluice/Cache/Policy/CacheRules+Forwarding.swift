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

    /// Returns the plan for a request that no stored response satisfies.
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

    /// Returns the request for the rest of a representation of which the beginning is stored (RFC 9111 §3.3, RFC 9110
    /// §13.1.5). Returns nil if no beginning is stored, or if the request does not ask for the entire representation.
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

    /// Returns the conditional request that validates a stored response (RFC 9111 §4.3.1). Returns the request
    /// unchanged if it has its own conditions or if the stored response has no validator.
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

    /// Returns the background revalidation of a stale response. It always requests the entire representation.
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

    /// Returns the request with conditions made from the stored response's validators; nil if it has none.
    private static func conditional(_ request: HTTPRequest, by terms: ResponseTerms) -> HTTPRequest? {
        var conditional = request
        if let tag = terms.entityTag { conditional.headers.set(.ifNoneMatch, to: tag.fieldValue) }
        if terms.lastModified != nil { conditional.headers[.ifModifiedSince] = terms.head.headers[.lastModified] }
        return terms.entityTag == nil && terms.lastModified == nil ? nil : conditional
    }
}

extension StoredPart {
    /// True if the body of the entry has as many bytes as the part.
    func isWhole(in entry: CacheEntry) -> Bool {
        Int64(entry.body.count) == range.upperBound - range.lowerBound && range.lowerBound >= 0
            && range.upperBound <= total
    }
}

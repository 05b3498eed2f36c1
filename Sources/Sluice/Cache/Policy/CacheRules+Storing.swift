import SluiceHTTP

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

extension CacheRules {
    /// When a request went and its response came.
    struct Times {
        let requested: Date
        let received: Date
    }

    /// What is to be kept of a response that is no part, the body being what comes (RFC 9111 §3); nil for nothing.
    func storing(_ head: HTTPResponse, for forwarding: CacheForwarding, _ times: Times) -> CacheStoring? {
        guard forwarding.request.method == .get, head.status.isStorable else { return nil }
        return storing(StoredHead.storable(head, received: times.received), for: forwarding, times, body: .received)
    }

    /// What is to be kept under a head that is as it would be stored; nil for nothing.
    ///
    /// Nothing is kept that nothing could be done with: without a lifetime, a validator, and leave to be given stale.
    func storing(
        _ head: HTTPResponse,
        for forwarding: CacheForwarding,
        _ times: Times,
        part: StoredPart? = nil,
        body: CacheBody,
        receivedCount: Int64? = nil
    ) -> CacheStoring? {
        if RequestDirectives(forwarding.request.headers).isNoStore { return nil }
        let response = StoredResponse(
            method: .get,
            url: forwarding.request.url,
            identity: ResponseDirectives(head.headers).isPublic ? nil : forwarding.identity,
            head: head,
            requested: times.requested,
            received: times.received,
            part: part
        )
        let terms = response.terms
        guard mayStore(head.status, terms), isUseful(terms, at: times.received), !terms.vary.names(anyOf: hiddenFields),
            let variant = terms.vary.variant(of: forwarding.request, identity: response.identity)
        else { return nil }
        return CacheStoring(variant: variant, response: response, body: body, receivedCount: receivedCount)
    }

    /// Whether the response itself allows it to be kept (RFC 9111 §3, §5.2.2.3).
    private func mayStore(_ status: HTTPStatus, _ terms: ResponseTerms) -> Bool {
        let directives = terms.directives
        if directives.mustUnderstand {
            if !status.isUnderstood { return false }
        } else if directives.isNoStore {
            return false
        }
        return directives.isPublic || directives.isPrivate || terms.explicitLifetime != nil
            || status.isHeuristicallyCacheable
    }

    private func isUseful(_ terms: ResponseTerms, at now: Date) -> Bool {
        let isFresh = lifetime(of: terms) > terms.age(at: now) && !terms.directives.isNoCache
        if isFresh || terms.entityTag != nil || terms.lastModified != nil { return true }
        if terms.directives.isNoCache || terms.directives.mustRevalidate { return false }
        let windows = [
            terms.directives.staleIfError ?? staleIfError,
            terms.directives.staleWhileRevalidate ?? staleWhileRevalidate,
        ]
        return windows.contains { ($0 ?? 0) > 0 }
    }

    /// A stored response with the head of a newer one (RFC 9111 §4.3.4); what is to be kept is nil where the newer one forbids it.
    func updated(
        _ entry: CacheEntry,
        _ stored: StoredResponse,
        with head: HTTPResponse,
        for forwarding: CacheForwarding,
        _ times: Times
    ) -> (response: StoredResponse, storing: CacheStoring?) {
        let head = StoredHead.updated(stored.head, with: head, received: times.received)
        let storing = storing(head, for: forwarding, times, part: stored.part, body: .stored(entry))
        let response =
            storing?.response
            ?? StoredResponse(
                method: stored.method,
                url: stored.url,
                identity: stored.identity,
                head: head,
                requested: times.requested,
                received: times.received,
                part: stored.part
            )
        return (response, storing)
    }
}

extension HTTPStatus {
    /// Whether a response of the status may be kept at all, being final and no answer to the conditions or the range of one request.
    var isStorable: Bool {
        switch rawValue {
        case 206, 304, 412, 416: false
        default: (200..<600).contains(rawValue)
        }
    }

    /// Whether it is one whose meaning for caches is known: RFC 9110's, and 451's (RFC 7725).
    var isUnderstood: Bool {
        switch rawValue {
        case 200...206, 300...303, 307, 308, 400...417, 421, 422, 426, 451, 500...505: true
        default: false
        }
    }

    /// Whether another answer, kept from before, may be given in its place (RFC 5861 §4).
    var isServerFailure: Bool {
        switch rawValue {
        case 500, 502, 503, 504: true
        default: false
        }
    }
}

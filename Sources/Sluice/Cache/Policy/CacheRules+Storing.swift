import SluiceHTTP

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

extension CacheRules {
    /// The times at which a request was sent and its response received.
    struct Times {
        let requested: Date
        let received: Date
    }

    /// Returns the complete response to store, with the received body (RFC 9111 §3); nil if it must not be stored.
    func storing(_ head: HTTPResponse, for forwarding: CacheForwarding, _ times: Times) -> CacheStoring? {
        guard forwarding.request.method == .get, head.status.isStorable else { return nil }
        return storing(StoredHead.storable(head, received: times.received), for: forwarding, times, body: .received)
    }

    /// Returns the response to store with a head already in its stored form; nil if it must not be stored.
    ///
    /// A response that could never be reused is not stored: one without a freshness lifetime, a validator or permission
    /// to be served stale.
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

    /// True if the response allows itself to be stored (RFC 9111 §3, §5.2.2.3).
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

    /// Returns a stored response with its head updated from a newer one (RFC 9111 §4.3.4). `storing` is nil if the
    /// newer head forbids storing.
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
    /// True if a response with this status may be stored: it is final and does not depend on the conditions or range of
    /// one request.
    var isStorable: Bool {
        switch rawValue {
        case 206, 304, 412, 416: false
        default: (200..<600).contains(rawValue)
        }
    }

    /// True if the cache understands the status code (RFC 9110, and 451 of RFC 7725).
    var isUnderstood: Bool {
        switch rawValue {
        case 200...206, 300...303, 307, 308, 400...417, 421, 422, 426, 451, 500...505: true
        default: false
        }
    }

    /// True if a stale response may be served instead of a response with this status (RFC 5861 §4).
    var isServerFailure: Bool {
        switch rawValue {
        case 500, 502, 503, 504: true
        default: false
        }
    }
}

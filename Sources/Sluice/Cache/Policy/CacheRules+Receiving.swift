import SluiceHTTP

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

extension CacheRules {
    /// Returns the handling of a response.
    ///
    /// - Parameters:
    ///   - head: The response head.
    ///   - forwarding: The forwarded request.
    ///   - requested: The time at which the request was sent.
    ///   - received: The time at which the head was received.
    /// - Returns: The answer to the caller and the changes to the store.
    func reception(
        of head: HTTPResponse,
        to forwarding: CacheForwarding,
        requested: Date,
        received: Date
    ) -> CacheReception {
        var reception = reception(of: head, to: forwarding, Times(requested: requested, received: received))
        if RequestDirectives(forwarding.request.headers).isNoStore {
            // Stored responses remain unchanged (RFC 9111 §5.2.1.5).
            reception.storing = []
            reception.removing = []
        }
        return reception
    }

    private func reception(
        of head: HTTPResponse,
        to forwarding: CacheForwarding,
        _ times: Times
    ) -> CacheReception {
        guard forwarding.concernsCache else {
            var reception = CacheReception(answer: .response(marked(head, forwarding, isStored: false)))
            reception.invalidating = Self.invalidations(after: head, to: forwarding.sent)
            return reception
        }
        switch head.status {
        case .notModified: return confirmation(by: head, to: forwarding, times)
        case .partialContent: return partialReception(of: head, to: forwarding, times)
        case 412 where forwarding.purpose == .completion, 416 where forwarding.purpose == .completion:
            return CacheReception(answer: .again(unconditional(forwarding)))
        case let status where status.isServerFailure:
            if let serving = serving(insteadOf: status, for: forwarding, now: times.received) {
                return CacheReception(answer: .stored(serving))
            }
        default: break
        }
        if forwarding.request.method == .head { return freshening(by: head, to: forwarding, times) }
        return replacement(by: head, to: forwarding, times)
    }

    /// Returns the stored response to serve after a failure (RFC 9111 §4.2.4, RFC 5861 §4).
    ///
    /// - Parameters:
    ///   - status: The status of the failed response; nil if no response was received or the request could not be
    ///     sent.
    ///   - forwarding: The forwarded request.
    ///   - now: The current time.
    /// - Returns: The stored response; nil if the failure has to be reported.
    func serving(
        insteadOf status: HTTPStatus? = nil,
        for forwarding: CacheForwarding,
        now: Date
    ) -> CacheServing? {
        let question = CacheQuestion(forwarding.request)
        guard let entry = forwarding.selected, let terms = entry.response?.terms,
            let form = question.form(of: entry, terms)
        else {
            return nil
        }
        let age = terms.age(at: now)
        let lifetime = lifetime(of: terms)
        let wishes = question.directives
        if terms.directives.isNoCache { return nil }
        if wishes.staleIfError == nil,
            !wishes.accepts(age: age, lifetime: lifetime, isImmutable: terms.directives.isImmutable)
        {
            return nil
        }
        if lifetime <= age {
            let window = wishes.staleIfError ?? terms.directives.staleIfError ?? staleIfError
            guard let window, age - lifetime <= window, age < DeltaSeconds.limit, !terms.directives.mustRevalidate
            else {
                return nil
            }
        }
        let cacheStatus = CacheStatus(cache: cacheName, forward: forwarding.reason, forwardStatus: status)
        return serving(Candidate(entry: entry, stored: terms, form: form), age, lifetime, cacheStatus)
    }

    /// Handles a response that is neither a 304 nor a 206: stores it, or at least removes the stored responses that it
    /// replaces.
    private func replacement(
        by head: HTTPResponse,
        to forwarding: CacheForwarding,
        _ times: Times
    ) -> CacheReception {
        let storing = storing(head, for: forwarding, times)
        var reception = CacheReception(answer: .response(marked(head, forwarding, isStored: storing != nil)))
        if let storing { reception.storing = [storing] }
        if storing != nil || head.status.replacesStored {
            reception.removing = forwarding.matching.map(\.variant).filter { $0 != storing?.variant }
        }
        return reception
    }

    /// Handles a response to HEAD, which updates or invalidates the stored GET responses (RFC 9111 §4.3.5).
    private func freshening(
        by head: HTTPResponse,
        to forwarding: CacheForwarding,
        _ times: Times
    ) -> CacheReception {
        var reception = CacheReception(answer: .response(marked(head, forwarding, isStored: false)))
        if head.status.replacesStored, head.status != .ok {
            reception.removing = forwarding.matching.map(\.variant)
        }
        guard head.status == .ok else { return reception }
        for entry in forwarding.matching {
            guard let stored = entry.response, let isSame = stored.isSame(as: head, entry) else { continue }
            let storing = isSame ? updated(entry, stored, with: head, for: forwarding, times).storing : nil
            reception.add(storing, inPlaceOf: entry)
        }
        return reception
    }

    /// Returns the head with a `Cache-Status` field added.
    func marked(
        _ head: HTTPResponse,
        _ forwarding: CacheForwarding,
        isStored: Bool
    ) -> HTTPResponse {
        var marked = head
        var status = CacheStatus(cache: cacheName, forward: forwarding.reason, forwardStatus: head.status)
        status.isStored = isStored
        marked.headers.append(.cacheStatus, status.text)
        return marked
    }

    /// Returns the original request without the conditions that the cache added.
    func unconditional(_ forwarding: CacheForwarding) -> CacheForwarding {
        self.forwarding(forwarding.request, forwarding.identity, forwarding.reason, matching: forwarding.matching)
    }
}

extension CacheReception {
    /// Stores a response in the place of an entry; removes the entry if `storing` is nil.
    mutating func add(_ storing: CacheStoring?, inPlaceOf entry: CacheEntry) {
        if let storing, !self.storing.contains(where: { $0.variant == storing.variant }) {
            self.storing.append(storing)
            removing.removeAll { $0 == storing.variant }
        }
        let isKept = self.storing.contains { $0.variant == entry.variant }
        if !isKept, !removing.contains(entry.variant) { removing.append(entry.variant) }
    }
}

extension HTTPStatus {
    /// True if a GET response with this status shows that the previous representation no longer exists: success,
    /// redirection, 404 and 410. Server and gateway failures and errors of a single request do not.
    var replacesStored: Bool {
        switch rawValue {
        case 206, 304: false
        case 200..<400, 404, 410: true
        default: false
        }
    }
}

extension StoredResponse {
    /// Compares a HEAD response with the stored response (RFC 9111 §4.3.5). Returns true if every validator in the HEAD
    /// response and the length are the same; nil if the HEAD response has no validator.
    fileprivate func isSame(as newer: HTTPResponse, _ entry: CacheEntry) -> Bool? {
        guard head.status == .ok || head.status == .partialContent else { return false }
        var isSame: Bool?
        for name in [HTTPHeaderName.eTag, .lastModified] where newer.headers.contains(name) {
            if newer.headers.fieldValues(for: name) != head.headers.fieldValues(for: name) { return false }
            isSame = true
        }
        if let text = newer.headers[.contentLength], let length = Int64(text) {
            let own =
                part?.total ?? head.headers[.contentLength].flatMap { Int64($0) }
                ?? (terms.isEncoded ? nil : Int64(entry.body.count))
            if let own, own != length { return false }
        }
        return isSame
    }
}
